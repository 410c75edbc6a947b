//! Waiting in the kernel, and a lock on top of it.

use crate::arch::{self, nr, syscall};
use core::sync::atomic::{AtomicU32, Ordering};

/// Waits while `*word == expected`, at most about `timeout_ns`. May return early.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout_ns: u64, shared: bool) {
    let time = [timeout_ns / 1_000_000_000, timeout_ns % 1_000_000_000];
    let operation = if shared { 0 } else { 128 };
    let arguments =
        [word.as_ptr() as usize, operation, expected as usize, time.as_ptr() as usize, 0, 0];
    // SAFETY: the word outlives the call; the timeout is a struct timespec.
    unsafe { syscall(nr::FUTEX, arguments) };
}

/// Waits while `*word == expected`, until the monotonic clock shows `deadline_ns`. Whether it does;
/// may return early.
pub fn futex_wait_until(word: &AtomicU32, expected: u32, deadline_ns: u64) -> bool {
    const INTERRUPTED: isize = -4;
    const IS_OTHER: isize = -11;
    const TIMED_OUT: isize = -110;
    let time = [deadline_ns / 1_000_000_000, deadline_ns % 1_000_000_000];
    let wait_for_any_bit = 128 | 9; // with an absolute time
    let arguments = [
        word.as_ptr() as usize,
        wait_for_any_bit,
        expected as usize,
        time.as_ptr() as usize,
        0,
        u32::MAX as usize,
    ];
    // SAFETY: the word outlives the call; the time is a struct timespec.
    match unsafe { syscall(nr::FUTEX, arguments) } {
        0 | INTERRUPTED | IS_OTHER => false,
        TIMED_OUT => true,
        _ => {
            // A kernel that does not know this form: nobody wakes, but time passes.
            super::clock::sleep_until(deadline_ns);
            true
        }
    }
}

/// Wakes up to `count` waiters.
pub fn futex_wake(word: &AtomicU32, count: u32, shared: bool) {
    let operation = if shared { 1 } else { 129 };
    // SAFETY: the kernel only uses the address.
    unsafe { syscall(nr::FUTEX, [word.as_ptr() as usize, operation, count as usize, 0, 0, 0]) };
}

/// A lock for handlers and the maintenance task. Waiters sleep in the kernel.
///
/// The states are free, held, held with waiters (Drepper, "Futexes are tricky", mutex 2).
pub struct Lock(AtomicU32);

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

impl Lock {
    /// A lock that nobody holds.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Runs `action` while holding the lock.
    pub fn with<T>(&self, action: impl FnOnce() -> T) -> T {
        self.acquire();
        let result = action();
        self.release();
        result
    }

    /// Takes the lock; every acquire must meet a release.
    pub fn acquire(&self) {
        for _ in 0..100 {
            // Acquire: pairs with the release store below; what the last holder wrote is visible.
            if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
            arch::relax();
        }
        while self.0.swap(2, Ordering::Acquire) != 0 {
            futex_wait(&self.0, 2, 1_000_000_000, false);
        }
    }

    /// Gives the lock back.
    pub fn release(&self) {
        // Release: pairs with the acquire above.
        if self.0.swap(0, Ordering::Release) == 2 {
            futex_wake(&self.0, 1, false);
        }
    }

    /// Frees the lock in a forked child, where its holder does not exist.
    pub fn reset(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}
