//! Preloaded into programs by `szc causal`: samples where their threads are and delays them, as
//! szc's experiments ask for by memory that they share.
//!
//! It stands in front of libc's functions by which threads wait for each other and wake each
//! other. It makes no thread, allocates nothing, takes no lock, keeps no descriptor open, and
//! interrupts no system call. Without szc all its functions do is to call libc's.
#![cfg_attr(not(test), no_std)]
// A test program is not preloaded: only what computes is tested here.
#![cfg_attr(test, allow(dead_code))]
#![allow(clippy::cast_possible_truncation)]

mod arrival;
mod attach;
mod caller;
mod delay;
mod exports;
mod next;
mod process;
mod sample;
mod system;
mod task_clock;
mod thread;
mod trap;

/// Nothing here panics on purpose, and nothing could be repaired.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    system::abort()
}
