//! libc's `errno`, for the functions of libc that the runtime stands in for.

use core::ffi::c_int;

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

/// `errno`.
pub fn get() -> c_int {
    // SAFETY: as in `set`.
    unsafe { *__errno_location() }
}

/// Sets `errno`.
pub fn set(error: c_int) {
    // SAFETY: libc gives every thread of the program its errno; the maintenance task never gets
    // here.
    unsafe { *__errno_location() = error };
}
