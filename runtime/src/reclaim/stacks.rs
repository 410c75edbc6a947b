//! Which stack belongs to a thread.
//!
//! A thread of glibc has its descriptor above its stack, in the same piece of memory, and tells the
//! kernel an address inside the descriptor (`get_robust_list(2)`). So a thread runs on its own
//! stack if everything from its stack pointer up to there is readable: between one stack and the
//! next lies a guard. Where there is none, more is read than the stack, which does no harm. The
//! main thread's stack ends below the environment.
//!
//! Functions of libc that make other stacks say so here. A thread that is seen on a stack that is
//! neither its own nor a signal stack ends reclaiming, too.

use super::blocked::{Blocked, block};
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::arch::pads::{stack_pointer, thread_pointer};
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

/// A signal stack of a thread; free if the thread is 0.
struct SignalStack {
    thread: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
}

/// Most threads whose signal stacks are known.
const SIGNAL_STACKS: usize = 256;

static KNOWN: [SignalStack; SIGNAL_STACKS] = [const {
    SignalStack {
        thread: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
    }
}; SIGNAL_STACKS];

/// Remembers that the calling thread has set or, with an empty range, given up its signal stack.
///
/// A thread's entry is written by the thread alone. A stack that is not remembered is one that is
/// not known when a thread is seen on it: then reclaiming ends.
pub fn set_signal_stack(start: usize, end: usize) {
    let (thread, pointer) = (thread_pointer(), stack_pointer());
    if start < end && start > pointer && start < end_of_thread(thread) {
        block(Blocked::InnerStack);
    }
    let own = KNOWN.iter().find(|known| known.thread.load(Ordering::Relaxed) == thread);
    let take = |known: &&SignalStack| {
        known.thread.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    if start >= end {
        if let Some(own) = own {
            own.end.store(0, Ordering::Relaxed);
            own.thread.store(0, Ordering::Relaxed);
        }
    } else if let Some(own) = own.or_else(|| KNOWN.iter().find(take)) {
        own.start.store(start, Ordering::Relaxed);
        own.end.store(end, Ordering::Relaxed);
    }
}

/// Whether an address lies in a signal stack.
pub fn is_on_signal_stack(pointer: usize) -> bool {
    KNOWN.iter().any(|known| {
        let (start, end) = (known.start.load(Ordering::Relaxed), known.end.load(Ordering::Relaxed));
        (start..end).contains(&pointer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_stack_is_known_from_when_it_is_set_until_it_is_given_up() {
        set_signal_stack(0x1000, 0x2000);
        std::thread::spawn(|| set_signal_stack(0x3000, 0x4000)).join().unwrap();
        assert!(is_on_signal_stack(0x1800) && is_on_signal_stack(0x3000));
        set_signal_stack(0x5000, 0x6000);
        assert!(!is_on_signal_stack(0x1800) && is_on_signal_stack(0x5fff));
        set_signal_stack(0, 0);
        assert!(!is_on_signal_stack(0x5fff) && is_on_signal_stack(0x3fff));
    }
}
