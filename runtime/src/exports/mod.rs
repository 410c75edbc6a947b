//! Every symbol by which other code enters the runtime, one file for each family: names of libc's,
//! addresses that the kernel or stubs jump to, and the code that leads from there to Rust. No logic
//! beyond what the manual pages say.

mod children;
mod control;
mod credentials;
pub mod debugger;
pub mod entries;
mod fatal;
pub mod heap;
mod libraries;
pub mod own;
mod path_block;
mod resolver;
mod signals;
mod stacks;
mod start;
mod threads;
pub mod unwinding;
mod variadic;

use core::ffi::c_int;
use szc_sys::errno;
use szc_sys::os::Errno;

/// Sets `errno` and returns -1.
pub fn fail(error: Errno) -> c_int {
    errno::set(error.0);
    -1
}

/// What libc returns where the kernel answers `result` to a system call.
pub fn returned(result: isize) -> c_int {
    if result < 0 { fail(Errno(-result as i32)) } else { result as c_int }
}
