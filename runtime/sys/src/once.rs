//! A value that is set once and then only read.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, Ordering};

const EMPTY: u8 = 0;
const WRITING: u8 = 1;
const READY: u8 = 2;

/// A cell that is written at most once, by whichever thread sets it first.
pub struct Once<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by the one thread that took the state from EMPTY, and read only
// behind READY. Other threads get references to it (`T: Sync`), and it was made by another thread
// than the one that drops it, if anybody does (`T: Send`).
unsafe impl<T: Send + Sync> Sync for Once<T> {}

impl<T> Once<T> {
    /// An empty cell.
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }

    /// Sets the value, if nobody has.
    pub fn set(&self, value: T) {
        // Relaxed: the winner reads nothing of the others.
        let first =
            self.state.compare_exchange(EMPTY, WRITING, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_ok() {
            // SAFETY: no other thread gets here, and none reads before READY.
            unsafe { *self.value.get() = Some(value) };
            // Release: pairs with the acquire in `get`.
            self.state.store(READY, Ordering::Release);
        }
    }

    /// The value, if it was set.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // Acquire: pairs with the release in `set`.
        if self.state.load(Ordering::Acquire) != READY {
            return None;
        }
        // SAFETY: not written any more.
        unsafe { (*self.value.get()).as_ref() }
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays() {
        static CELL: Once<u32> = Once::new();
        assert_eq!(CELL.get(), None);
        let threads = [1, 2, 3].map(|value| std::thread::spawn(move || CELL.set(value)));
        for thread in threads {
            thread.join().unwrap();
        }
        let first = *CELL.get().unwrap();
        CELL.set(first + 10);
        assert_eq!(CELL.get(), Some(&first));
    }
}
