//! What is kept for each thread.
//!
//! In memory that the loader sets up with the thread and that is found without a call (the
//! initial-exec model): handlers of signals use it.

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};

/// A thread. Only it uses this, and handlers of signals on it: orders among threads do not matter.
#[repr(C)]
pub struct Thread {
    /// What it was delayed in this experiment, or was ahead by, from the experiment's base on.
    pub paid_ns: AtomicU64,
    /// The experiment that it counts in.
    pub experiment: AtomicU64,
    /// By what pauses were too long.
    pub excess_ns: AtomicU64,
    /// Until when at most it pays, 0 if it does not: samples of that time are not the program's.
    pub paying_until_ns: AtomicU64,
    /// The page that keeps its clock, 0 if there is none.
    pub clock: AtomicUsize,
    /// Samples until its clock gets another interval.
    pub samples_left: AtomicU32,
    /// The page that keeps its breakpoint at arrivals, 0 if there is none.
    pub breakpoint: AtomicUsize,
    /// When something last arrived on it, or it began.
    pub arrived_ns: AtomicU64,
    /// For how long it has paused, and had then.
    pub paused_ns: AtomicU64,
    pub arrived_paused_ns: AtomicU64,
    /// Whether anything has arrived on it.
    pub has_arrived: AtomicBool,
    /// Whether it has got something from outside since then, and how long it has waited for that.
    pub has_outside: AtomicBool,
    pub waited_ns: AtomicU64,
    /// By what arrivals from outside were to be sped up and could not be, or less than nothing.
    pub due_ns: AtomicI64,
    /// What its intervals are drawn by.
    pub random: AtomicU64,
}

const BYTES: usize = size_of::<Thread>();

global_asm!(
    ".section .tbss.szc_preload_thread, \"awT\", @nobits",
    ".p2align 4",
    ".globl szc_preload_thread",
    ".hidden szc_preload_thread",
    ".type szc_preload_thread, @object",
    ".size szc_preload_thread, {bytes}",
    "szc_preload_thread:",
    ".zero {bytes}",
    ".text",
    bytes = const BYTES,
);

// What core refers to where it could unwind, which nothing here does. Hidden, so that the program's
// own one stays in use.
#[cfg(not(test))]
global_asm!(
    ".section .text.szc_preload_personality, \"ax\", @progbits",
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality, @function",
    "rust_eh_personality:",
    "ud2",
    ".text",
);

/// The calling thread.
pub fn current() -> &'static Thread {
    let address: usize;
    // SAFETY: the loader puts the offset of the thread's block behind this entry; the first word
    // there is the block's own address. The block begins as zeros, which are a `Thread`, and lives
    // as long as the thread, which is the only one that gets this reference.
    unsafe {
        asm!(
            "mov {address}, qword ptr fs:[0]",
            "add {address}, qword ptr [rip + szc_preload_thread@GOTTPOFF]",
            address = out(reg) address,
            options(nostack, readonly),
        );
        &*(address as *const Thread)
    }
}
