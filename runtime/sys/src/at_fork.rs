//! Handlers that libc calls around a fork.
//!
//! By libc: it alone knows when a call of `fork` begins and ends.

use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn __register_atfork(
        prepare: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
        image: *mut c_void,
    ) -> c_int;
}

/// Registers handlers that are called before a fork, and behind it in the parent and in the child.
///
/// # Safety
/// The handlers must stay as long as the program, and the caller must be where libc may allocate.
pub unsafe fn register(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // No image: they are never taken back.
    // SAFETY: the caller's promise.
    unsafe { __register_atfork(prepare, parent, child, core::ptr::null_mut()) };
}
