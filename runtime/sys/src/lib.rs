//! What the runtime is built on: the processor, the kernel, and the few functions of libc that it
//! stands in front of.
//!
//! No libc but where a file says so, no allocation, no thread-local storage: this runs inside any
//! call of the program, in handlers of signals, and on a task that libc does not know.
#![cfg_attr(not(test), no_std)]
// A system call's numbers and addresses are words; the runtime supports 64-bit targets only.
#![allow(clippy::cast_possible_truncation)]

pub mod arch;
pub mod at_fork;
pub mod errno;
pub mod next;
pub mod once;
pub mod os;
