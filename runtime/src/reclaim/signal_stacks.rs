//! Signal stacks of threads (sigaltstack(2)): other stacks on which a thread may be seen.
//!
//! An entry is a thread's by its number in the kernel, until the thread gives the stack up or has
//! ended: what was its stack may be anything by then.

use super::blocked::{Blocked, block};
use super::stacks::end_of_thread;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use szc_sys::arch::pads::{stack_pointer, thread_pointer};
use szc_sys::os::tasks;

/// A signal stack; free if the task is 0.
struct SignalStack {
    /// The thread's number in the kernel.
    task: AtomicU32,
    /// The thread's pointer, by which a forked child knows its own.
    thread: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
}

/// Most threads whose signal stacks are known.
const MAX_KNOWN: usize = 256;

// Relaxed everywhere: whoever looks for a thread on its signal stack has seen the thread wait in
// the kernel, behind the call that set it.
static KNOWN: [SignalStack; MAX_KNOWN] = [const {
    SignalStack {
        task: AtomicU32::new(0),
        thread: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
    }
}; MAX_KNOWN];

/// Whether one was ever known: most programs have none.
static ANY: AtomicBool = AtomicBool::new(false);

/// Remembers that the calling thread has set or, with an empty range, given up its signal stack.
///
/// A thread's entry is written by the thread alone, as long as it lives. A stack for which there is
/// no entry is not known when a thread is seen on it: then reclaiming ends.
pub fn set(start: usize, end: usize) {
    let (thread, pointer) = (thread_pointer(), stack_pointer());
    if start < end && start > pointer && start < end_of_thread(thread) {
        block(Blocked::InnerStack);
    }
    let task = tasks::thread_id();
    let own = KNOWN.iter().find(|known| known.task.load(Ordering::Relaxed) == task);
    if start >= end {
        if let Some(own) = own {
            own.forget(task);
        }
        return;
    }
    ANY.store(true, Ordering::Relaxed);
    let own = own.or_else(|| free(task)).or_else(|| {
        forget_ended(&[]);
        free(task)
    });
    if let Some(own) = own {
        own.thread.store(thread, Ordering::Relaxed);
        own.start.store(start, Ordering::Relaxed);
        own.end.store(end, Ordering::Relaxed);
    }
}

/// A free entry, which is the task's now.
fn free(task: u32) -> Option<&'static SignalStack> {
    let take = |known: &&SignalStack| {
        known.task.compare_exchange(0, task, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    KNOWN.iter().find(take)
}

/// Whether an address lies in a signal stack.
pub fn contain(pointer: usize) -> bool {
    KNOWN.iter().any(|known| {
        let (start, end) = (known.start.load(Ordering::Relaxed), known.end.load(Ordering::Relaxed));
        (start..end).contains(&pointer)
    })
}

/// Forgets the stacks of threads that have ended. Nothing has to be asked about those in `living`.
pub fn forget_ended(living: &[u32]) {
    for known in &KNOWN {
        let task = known.task.load(Ordering::Relaxed);
        if task != 0 && !living.contains(&task) && !tasks::exists(task) {
            known.forget(task);
        }
    }
}

/// In a forked child: its one thread has another number, and the others are not there.
pub fn become_child() {
    if !ANY.load(Ordering::Relaxed) {
        return;
    }
    let (task, thread) = (tasks::thread_id(), thread_pointer());
    for known in &KNOWN {
        let of = known.task.load(Ordering::Relaxed);
        if of != 0 && known.thread.load(Ordering::Relaxed) == thread {
            known.task.store(task, Ordering::Relaxed);
        } else if of != 0 {
            known.forget(of);
        }
    }
}

impl SignalStack {
    fn forget(&self, task: u32) {
        self.end.store(0, Ordering::Relaxed);
        // If a younger thread with this number has the entry by now, its stack is not known.
        let _ = self.task.compare_exchange(task, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_signal_stack_is_known_until_it_is_given_up_or_its_thread_has_ended() {
        set(0x1000, 0x2000);
        let (sender, receiver) = channel::<()>();
        let (is_set_sender, is_set) = channel();
        let thread = std::thread::spawn(move || {
            set(0x3000, 0x4000);
            is_set_sender.send(()).unwrap();
            let _ = receiver.recv();
        });
        is_set.recv().unwrap();
        forget_ended(&[]);
        assert!(contain(0x1800) && contain(0x3000), "both threads live");
        set(0x5000, 0x6000);
        assert!(!contain(0x1800) && contain(0x5fff));
        sender.send(()).unwrap();
        thread.join().unwrap();
        // The thread's number may stay for a moment.
        while contain(0x3fff) {
            forget_ended(&[]);
            std::thread::yield_now();
        }
        // However many threads have come and gone, there is room for the next one.
        for number in 1..=2 * MAX_KNOWN {
            let start = number << 20;
            std::thread::spawn(move || {
                set(start, start + 0x1000);
                assert!(contain(start), "{number}");
            })
            .join()
            .unwrap();
        }
        set(0, 0);
        assert!(!contain(0x5fff));
    }
}
