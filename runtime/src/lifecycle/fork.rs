//! `fork`: the child gets copies of code of its own, and a maintenance task of its own.
//!
//! Copies lie in shared memory, because they are mapped twice. From the announcement of a fork on
//! neither process writes to what both have ([`szc_code::sharing`]), so the child goes on with it.
//! What follows is for the case that a thread of the parent has written nevertheless, while the
//! fork was under way, and for arenas that children do not share: then the child makes copies of
//! its own before anything else. The handlers registered here run closest to the fork itself: libc
//! runs `prepare` handlers last registered first, the others first registered first, and these are
//! registered before any of the program's. In between all signals are blocked.
//!
//! No lock is held in between. Behind the last `prepare` handler libc takes locks of its own (all
//! arenas of malloc, the list of streams), and a thread that has one of them may be making a first
//! call: it would wait for the lock of the copies, and the fork for that thread. So other threads
//! may be in the middle of anything when the memory is copied, and what they were doing is never
//! finished in the child. What it finds there:
//!
//! - *Private memory* as if each of the other threads had stopped at some instruction, with
//!   everything stored that it had stored before, and all that it had seen of others: a page is
//!   copied by making it read-only, and whoever has failed to write to one goes no further until
//!   the fork is over. So the order of stores decides.
//! - *Copies*, which are shared until the child has its own, as they are at that later moment. No
//!   epoch begins, and nothing is freed, between the announcement of a child under the lock and its
//!   word that it has its own copies. So the places in use, their layouts and the pointers of
//!   entries are what they were at the announcement. Bodies are written in the current place alone,
//!   and only of functions that are not marked as copied, or were not when the memory was copied:
//!   such bodies are written again. A function is marked behind its last byte. Entries may
//!   be anything, and the child unresolves them all.
//! - *What is copied* (`szc_code::copy`): the last function on the list may not be marked yet;
//!   the child takes it off.
//! - *Uses of places* (`Epochs`): each is one byte, and either form of one that is changing is
//!   right in the child, where all that are not in use become the same. Numbers of places and bytes
//!   are counted anew.
//! - *Libraries* are put into slots and taken out in many stores; a word says which slot is being
//!   changed (`Images::become_child`). That library is half loaded, or gone.
//! - *Forwarded entries*: the child forgets which they are. *Stack bounds of threads*: what would
//!   be mixed up belongs to no thread (`reclaim/stack_bounds.rs`). *The PC map*: its readers hold
//!   no lock anyway. *The safepoint* is opened.
//! - *`filters::freeze`* marks its end behind all else; before that it is copying like any other.
//! - *Locks* are made free, whoever held them.

use super::{children, maintenance, suspension};
use crate::arch;
use crate::errno;
use crate::facts;
use crate::images::Images;
use crate::os;
use crate::reclaim;
use crate::stack;
use crate::state::{self, CHANGES, CODE};
use crate::symbols;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use szc_code::code::Code;
use szc_code::sharing;
use szc_sys::at_fork;

/// A word that is 0 in a child that has not been taken charge of.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new(os::null());

/// Registers the handlers.
pub fn register() {
    if let Ok(page) = os::map_wiped_on_fork(os::PAGE_BYTES) {
        MARK.store(page.cast(), Ordering::Relaxed);
        set_mark();
    }
    // SAFETY: the handlers live as long as the program; registration allocates nothing that early.
    unsafe { at_fork::register(prepare, parent, child) };
}

pub(super) fn mark() -> Option<&'static AtomicU32> {
    // SAFETY: null or a page that stays mapped.
    unsafe { MARK.load(Ordering::Relaxed).as_ref() }
}

fn set_mark() {
    if let Some(mark) = mark() {
        mark.store(1, Ordering::Relaxed);
    }
}

/// Takes charge of a child that was made without libc's `fork`, when it first resolves a call. All
/// signals must be blocked.
///
/// Its parent may have begun epochs since. The child is safe unless it has already followed a jump
/// into one of them.
pub fn take_over_unannounced_child() {
    let unknown = mark().is_some_and(|mark| mark.load(Ordering::Relaxed) == 0);
    if unknown {
        sharing::note_unannounced();
        if become_separate() {
            maintenance::restart();
        }
    }
}

extern "C" fn prepare() {
    // Several threads may fork at a time.
    arch::set_mask_before_fork(announce(false) as usize);
    arch::set_errno_before_fork(errno::get() as usize);
    errno::set(0);
}

/// libc runs this also if there is no child, and only `errno` tells: nothing changes it in between
/// but a fork that fails.
extern "C" fn parent() {
    let has_child = errno::get() == 0;
    if has_child {
        errno::set(arch::errno_before_fork() as i32);
    }
    go_on_in_parent(arch::mask_before_fork() as u64, has_child);
}

extern "C" fn child() {
    errno::set(arch::errno_before_fork() as i32);
    go_on_in_child(arch::mask_before_fork() as u64);
}

/// Blocks all signals, and lets no epoch begin before the child has its own copies. Returns the
/// signals that were blocked.
///
/// `is_sibling`: the child will not be this process's, but its parent's (`CLONE_PARENT`).
pub(super) fn announce(is_sibling: bool) -> u64 {
    let before = os::signal_mask(2, Some(u64::MAX)).unwrap_or(0);
    if state::is_frozen() {
        // Nothing is written any more, and a system call filter may kill for what is asked.
        CODE.with(|_| children::expect_any());
        return before;
    }
    // Who shares the memory with its parent (vfork), or was not announced, does not know what of it
    // others have.
    let is_own = suspension::is_own_process();
    maintenance::look_whether_due();
    // Under the lock: whoever is beginning an epoch has done so, and others look whether they may.
    CODE.with(|images| {
        if is_own {
            children::look();
        }
        if !images.are_frozen() {
            images.all_mut().for_each(Code::expect_child);
        }
        children::expect_fork(is_own && !is_sibling);
    });
    before
}

pub(super) fn go_on_in_parent(before: u64, has_child: bool) {
    if !has_child {
        children::expect_one_less();
    }
    CODE.with(|_| sharing::fork_returned());
    let _ = os::signal_mask(2, Some(before));
}

pub(super) fn go_on_in_child(before: u64) {
    if become_separate() {
        children::child_is_separate();
        // Not in the resolver, whose stack is small.
        if symbols::are_for_profilers() {
            CODE.with(|images| images.layouts().for_each(symbols::register_for_profilers));
        }
        maintenance::restart();
    }
    // Otherwise the two go on sharing. Neither begins another epoch: the parent expects word from
    // here as long as this child lives, and here is no task. Both write the same bytes to the same
    // places.
    let _ = os::signal_mask(2, Some(before));
}

/// Gives a child copies of code of its own, if code moves. The parent must still be told, if it
/// knows of the child.
fn become_separate() -> bool {
    set_mark();
    sharing::become_child();
    CODE.lock().reset();
    CODE.with(Images::become_child);
    symbols::become_child();
    reclaim::become_child();
    CHANGES.reset();
    facts::expect_log();
    stack::become_child();
    // What nobody writes any more can be shared. A program whose code stays shares nothing with its
    // child. SAFETY: the child has one thread, and the parent begins no epoch until it is told.
    let separate = state::is_frozen() || CODE.with(|images| unsafe { images.unshare() }).is_ok();
    sharing::forget_written();
    separate
}
