//! Machine code as numbers, for each processor: what a copy is entered by, what checks for room on
//! the stack, and how unwinders read both.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the szc runtime supports x86-64 only");
