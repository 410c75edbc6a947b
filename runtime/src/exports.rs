//! Functions of libc that the runtime stands in for. No logic beyond what the manual pages say.
//!
//! They exist so that SIGTRAP stays open (a blocked trap is fatal) and stays the runtime's, and so
//! that a program that ends by `_exit` still writes its log.

use crate::handlers::{self, PROGRAM_TRAP};
use crate::os::{self, EINVAL, Errno, SIGTRAP, SignalAction};
use crate::{arch, report};
use core::ffi::c_int;

/// `struct sigaction` of glibc; the kernel's has the same fields in another order.
#[repr(C)]
pub struct LibcAction {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

/// Signals that glibc keeps for itself (SIGCANCEL, SIGSETXID).
const LIBC_SIGNALS: core::ops::RangeInclusive<i32> = 32..=33;

fn fail(error: Errno) -> c_int {
    // SAFETY: libc gives every thread of the program its errno; the maintenance task never gets here.
    unsafe { *__errno_location() = error.0 };
    -1
}

fn open_to_traps(mask: u64) -> u64 {
    let reserved = os::signal_bit(32) | os::signal_bit(33);
    let trap = if handlers::owns_trap() { os::signal_bit(SIGTRAP) } else { 0 };
    mask & !(reserved | trap)
}

/// Installs an action and returns the one before, as the program sees them.
fn change_action(signal: c_int, new: Option<SignalAction>) -> Result<SignalAction, Errno> {
    if !(1..=64).contains(&signal) || LIBC_SIGNALS.contains(&signal) {
        return Err(EINVAL);
    }
    if signal == SIGTRAP && handlers::owns_trap() {
        let old = PROGRAM_TRAP.get();
        if let Some(new) = new {
            PROGRAM_TRAP.set(&new);
        }
        return Ok(old);
    }
    let new = new.map(|action| SignalAction {
        flags: action.flags | os::SA_RESTORER,
        restorer: arch::restorer(),
        mask: if handlers::owns_trap() {
            action.mask & !os::signal_bit(SIGTRAP)
        } else {
            action.mask
        },
        ..action
    });
    // SAFETY: the handler is the program's promise to sigaction(2).
    let old = unsafe { os::signal_action(signal, new.as_ref())? };
    Ok(handlers::visible_action(signal, old))
}

/// sigaction(2).
///
/// # Safety
/// The pointers must be null or valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const LibcAction,
    old: *mut LibcAction,
) -> c_int {
    // SAFETY: the caller's promise.
    let new = unsafe { new.as_ref() }.map(|new| SignalAction {
        handler: new.handler,
        flags: u64::from(new.flags.cast_unsigned()),
        restorer: 0,
        mask: new.mask[0],
    });
    match change_action(signal, new) {
        Ok(before) => {
            // SAFETY: the caller's promise.
            if let Some(old) = unsafe { old.as_mut() } {
                old.handler = before.handler;
                old.mask = [0; 16];
                old.mask[0] = before.mask;
                old.flags = (before.flags & !os::SA_RESTORER) as c_int;
                old.restorer = before.restorer;
            }
            0
        }
        Err(error) => fail(error),
    }
}

/// signal(2) with BSD semantics, as glibc's.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    let mask = if (1..=64).contains(&signal) { os::signal_bit(signal) } else { 0 };
    let new = SignalAction { handler, flags: os::SA_RESTART, restorer: 0, mask };
    match change_action(signal, Some(new)) {
        Ok(old) => old.handler,
        Err(error) => fail(error) as isize as usize,
    }
}

fn change_mask(how: c_int, new: *const u64, old: *mut u64) -> Result<(), Errno> {
    // SAFETY: the callers below were promised valid pointers.
    let new =
        unsafe { new.as_ref() }.map(|&mask| if how == 1 { mask } else { open_to_traps(mask) });
    let before = os::signal_mask(how, new)?;
    // SAFETY: as above. Only the first word of glibc's sigset_t has meaning.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = before;
    }
    Ok(())
}

/// sigprocmask(2).
///
/// # Safety
/// The pointers must be null or valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sigprocmask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    match change_mask(how, new, old) {
        Ok(()) => 0,
        Err(error) => fail(error),
    }
}

/// pthread_sigmask(3).
///
/// # Safety
/// The pointers must be null or valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn pthread_sigmask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    match change_mask(how, new, old) {
        Ok(()) => 0,
        Err(error) => error.0,
    }
}

/// _exit(2).
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn _exit(status: c_int) -> ! {
    report::write_log();
    os::exit_group(status)
}

/// _Exit(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_snake_case, reason = "the name of the C function")]
extern "C" fn _Exit(status: c_int) -> ! {
    _exit(status)
}
