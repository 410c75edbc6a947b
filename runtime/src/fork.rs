//! `fork`: the child gets copies of code of its own, and a maintenance task of its own.
//!
//! Copies lie in shared memory, because they are mapped twice; a child that went on sharing them
//! would see its parent's epochs. The handlers registered here run closest to the fork itself: libc
//! runs `prepare` handlers last registered first, the others first registered first, and these are
//! registered before any of the program's. In between all signals are blocked and the lock is held.

use crate::maintenance;
use crate::os;
use crate::report::{self, FACTS};
use crate::state::CODE;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

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

/// Registers the handlers.
pub fn register() {
    // SAFETY: the handlers live as long as the program; registration allocates nothing that early.
    unsafe { __register_atfork(prepare, parent, child, os::null()) };
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
    CODE.lock().reset();
    report::expect_log();
    let separate = CODE.with(|code| {
        code.reset_counts();
        // SAFETY: the child has one thread, and the parent begins no epoch until it is told.
        unsafe { code.unshare() }
    });
    if let Some(Ok(())) = separate {
        maintenance::child_is_separate();
        if FACTS.get().is_some_and(|facts| facts.interval_ms != 0) {
            let _ = maintenance::start();
        }
    }
    // Otherwise the two go on sharing. Neither begins another epoch: the parent waits for word from
    // here, and here is no task. Until then both write the same bytes to the same places.
    let _ = os::signal_mask(2, Some(before));
}
