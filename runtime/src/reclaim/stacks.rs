//! Which stack belongs to a thread.
//!
//! A thread of glibc has its descriptor above its stack, in the same piece of memory, and tells the
//! kernel an address inside the descriptor (`get_robust_list(2)`). So a thread runs on its own
//! stack if everything from its stack pointer up to there is readable: between one stack and the
//! next lies a guard. Where there is none, more is read than the stack, which does no harm. The
//! main thread's stack ends below the environment.
//!
//! A thread that is seen on a stack that is neither its own nor a signal stack
//! ([`super::signal_stacks`]) ends reclaiming.

use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::arch::pads::thread_pointer;
use szc_sys::os::tasks;

/// Where the main thread's stack ends, its descriptor and its thread pointer. Written at start.
static MAIN_END: AtomicUsize = AtomicUsize::new(0);
static MAIN_DESCRIPTOR: AtomicUsize = AtomicUsize::new(0);
static MAIN_THREAD: AtomicUsize = AtomicUsize::new(0);

/// Remembers the main thread, which must be the calling one. `end`: an address above all its
/// frames.
pub fn remember_main(end: usize) {
    MAIN_END.store(end, Ordering::Relaxed);
    MAIN_DESCRIPTOR.store(tasks::robust_list(0).unwrap_or(0), Ordering::Relaxed);
    MAIN_THREAD.store(thread_pointer(), Ordering::Relaxed);
}

/// Where the stack of the thread with this descriptor ends.
pub fn end_of_stack(descriptor: usize) -> usize {
    if descriptor == MAIN_DESCRIPTOR.load(Ordering::Relaxed) {
        MAIN_END.load(Ordering::Relaxed)
    } else {
        descriptor
    }
}

/// Where the stack of the thread with this thread pointer ends.
pub fn end_of_thread(thread: usize) -> usize {
    if thread == MAIN_THREAD.load(Ordering::Relaxed) {
        MAIN_END.load(Ordering::Relaxed)
    } else {
        thread
    }
}
