//! Where the loader enters the runtime.

use crate::start::start;
use core::ffi::{c_char, c_int};

/// The loader calls this before the constructors of the program.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static PREINIT: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) =
    szc_rt_start;

/// Starts the runtime.
///
/// # Safety
/// Called by the loader with the program's vectors, once, on the only thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_start(
    _count: c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) {
    // SAFETY: the caller's promise.
    unsafe { start(arguments, environment) };
}
