//! System call filters of the program (seccomp(2)): what the runtime needs from the kernel might be
//! answered by a signal that nobody survives.
//!
//! So before a program installs a filter, everything is brought into a state in which nothing more
//! is needed: all functions are copied, no further layout follows, and the maintenance task goes.
//! The program runs on in its last layout. Filters that are installed by system calls of the
//! program's own, without libc, are not seen.
#![forbid(unsafe_code)]

use super::{announced, maintenance};
use crate::exports::own;
use crate::images::Images;
use crate::library;
use crate::next;
use crate::state::{self, CODE};
use core::sync::atomic::{AtomicBool, Ordering};

/// `SYS_seccomp`, its operations that install a filter (up to this number), and the older way,
/// `PR_SET_SECCOMP` (`linux/seccomp.h`, `linux/prctl.h`).
const SECCOMP: usize = 317;
const SECCOMP_LAST_SETTING: u32 = 1;
const PRCTL: usize = 157;
const PR_SET_SECCOMP: u32 = 22;

/// The maintenance task has gone as well.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Where syscall(2) goes on.
pub fn next_syscall() -> usize {
    next::SYSCALL.address().unwrap_or(own::own_syscall() as usize)
}

/// Before syscall(2). Where to go on.
pub extern "C" fn before_syscall(number: usize, first: usize, second: usize) -> usize {
    if announced::makes_child(number, first, second) {
        return announced::announced_syscall as *const () as usize;
    }
    // Both take 32 bits: what callers leave in the others means nothing.
    let first = first as u32;
    let installs = match number {
        SECCOMP => first <= SECCOMP_LAST_SETTING,
        PRCTL => first == PR_SET_SECCOMP,
        _ => false,
    };
    if installs {
        freeze();
    }
    next_syscall()
}

/// Before prctl(2). Where to go on.
pub extern "C" fn before_prctl(operation: u32) -> usize {
    if operation == PR_SET_SECCOMP {
        freeze();
    }
    next::PRCTL.address().unwrap_or_else(own::own_prctl)
}

/// Freezes code: it stays as it is, for good.
fn freeze() {
    // A second filter comes while the first one holds. Another thread's first one waits for the
    // task as well.
    if ALONE.load(Ordering::Acquire) {
        return;
    }
    // No epoch is being prepared meanwhile. Not again: a filter that holds already may kill for
    // what that asks of the kernel.
    if !state::is_frozen() {
        library::with_changes(|| {
            CODE.with(Images::freeze);
            state::set_frozen();
        });
    }
    // A filter for all threads (SECCOMP_FILTER_FLAG_TSYNC) holds for the task, too, and kills the
    // process with it.
    if maintenance::leave_for_good() {
        // Release: who sees this finds the task gone.
        ALONE.store(true, Ordering::Release);
    }
}
