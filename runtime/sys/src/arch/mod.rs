//! What differs between processors: system calls, machine code, how copies are entered.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the szc runtime supports x86-64 only");
