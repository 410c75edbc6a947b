//! `fork`: the child gets copies of code of its own, and a maintenance task of its own.
//!
//! Copies lie in shared memory, because they are mapped twice; a child that went on sharing them
//! would see its parent's epochs. The handlers registered here run closest to the fork itself: libc
//! runs `prepare` handlers last registered first, the others first registered first, and these are
//! registered before any of the program's. In between all signals are blocked and the lock is held.

use crate::code::reclaim;
use crate::filters;
use crate::library;
use crate::maintenance;
use crate::os;
use crate::report;
use crate::stack;
use crate::state::CODE;
use crate::symbols;
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

unsafe extern "C" {
    fn __register_atfork(
        prepare: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
        image: *mut c_void,
    ) -> i32;
}

/// Signals that were blocked before the fork; only the forking thread uses it, under the lock.
static MASK_BEFORE: AtomicU64 = AtomicU64::new(0);

/// A word that is 0 in a child that has not been taken charge of.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new(os::null());

/// Registers the handlers.
pub fn register() {
    if let Ok(page) = os::map_wiped_on_fork(os::PAGE_BYTES) {
        MARK.store(page.cast(), Ordering::Relaxed);
        set_mark();
    }
    // SAFETY: the handlers live as long as the program; registration allocates nothing that early.
    unsafe { __register_atfork(prepare, parent, child, os::null()) };
}

fn mark() -> Option<&'static AtomicU32> {
    // SAFETY: null or a page that stays mapped.
    unsafe { MARK.load(Ordering::Relaxed).as_ref() }
}

fn set_mark() {
    if let Some(mark) = mark() {
        mark.store(1, Ordering::Relaxed);
    }
}

/// `SYS_clone` and `SYS_fork`, and the flag of a child that shares the memory (`linux/sched.h`).
const CLONE: usize = 56;
const FORK: usize = 57;
const CLONE_VM: usize = 0x100;

/// Whether a call of syscall(2) makes a child with memory of its own that goes on where the parent is.
pub fn makes_child(number: usize, first: usize, second: usize) -> bool {
    let forks = match number {
        FORK => true,
        CLONE => first & CLONE_VM == 0 && second == 0,
        _ => false,
    };
    // Otherwise there is nothing that the two would share.
    forks && mark().is_some()
}

/// Such a call, announced as those of libc's `fork` are.
pub extern "C" fn announced_syscall(
    number: usize,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
) -> isize {
    type Syscall = extern "C" fn(usize, usize, usize, usize, usize, usize) -> isize;
    // SAFETY: the address of libc's function, or of one like it; both calls take at most five arguments.
    let next: Syscall = unsafe { core::mem::transmute(filters::next_syscall()) };
    prepare();
    let result = next(number, first, second, third, fourth, fifth);
    if result == 0 {
        child();
    } else {
        parent();
    }
    result
}

/// Takes charge of a child that was made without libc's `fork`, when it first resolves a call. All
/// signals must be blocked.
///
/// Its parent may have begun epochs since. The child is safe unless it has already followed a jump
/// into one of them.
pub fn adopt_unannounced_child() {
    let unknown = mark().is_some_and(|mark| mark.load(Ordering::Relaxed) == 0);
    if unknown && become_separate() {
        maintenance::restart();
    }
}

extern "C" fn prepare() {
    let before = os::signal_mask(2, Some(u64::MAX)).unwrap_or(0);
    CODE.lock().acquire();
    MASK_BEFORE.store(before, Ordering::Relaxed);
    maintenance::expect_child();
}

extern "C" fn parent() {
    let before = MASK_BEFORE.load(Ordering::Relaxed);
    CODE.lock().release();
    let _ = os::signal_mask(2, Some(before));
}

extern "C" fn child() {
    let before = MASK_BEFORE.load(Ordering::Relaxed);
    if become_separate() {
        maintenance::child_is_separate();
        CODE.with(|images| images.announce_to_profilers());
        maintenance::restart();
    }
    // Otherwise the two go on sharing. Neither begins another epoch: the parent waits for word from
    // here, and here is no task. Until then both write the same bytes to the same places.
    let _ = os::signal_mask(2, Some(before));
}

/// Gives a child copies of code of its own, if code moves. The parent must still be told, if it knows of the child.
fn become_separate() -> bool {
    set_mark();
    CODE.lock().reset();
    symbols::become_child();
    reclaim::become_child();
    library::CHANGES.reset();
    report::expect_log();
    stack::become_child();
    // What nobody writes any more can be shared. A program whose code stays shares nothing with its child.
    // SAFETY: the child has one thread, and the parent begins no epoch until it is told.
    filters::may_be_there() || CODE.with(|images| unsafe { images.unshare() }).is_ok()
}
