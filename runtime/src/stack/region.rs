//! The part of the calling thread's stack in which frames get pads.
//!
//! Its bounds are two words that padded code compares the stack pointer with. They are written by
//! the thread itself, and those of the main thread also by [`withdraw`]; each store is of one word
//! and relaxed, because every state between two stores gives pads in a part of the region or in
//! none of it.

use crate::arch::pads::{pad_state, stack_pointer};
use core::sync::atomic::{AtomicU64, Ordering};
use szc_abi::stack::{PadState, UNCHECKED_BYTES};

/// Addresses from `low` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Lowest address at which a frame may still get a pad.
    pub low: usize,
    /// First address above the region.
    pub end: usize,
}

impl Region {
    /// Whether a frame whose check finds the stack pointer here gets a pad.
    #[must_use]
    pub fn contains(self, pointer: usize) -> bool {
        pointer.wrapping_sub(self.low) < self.end - self.low
    }

    /// Where a check may give a pad, if the region is what pads may take: frames that follow a checked one
    /// may have pads without a check.
    #[must_use]
    pub fn for_checks(self) -> Region {
        Region { low: (self.low + UNCHECKED_BYTES as usize).min(self.end), end: self.end }
    }

    /// What is left of the region without `other`, for a thread whose stack pointer is `pointer`.
    ///
    /// Another stack inside a thread's own is a variable of a live frame, so that the thread's next
    /// frames lie below it; they keep their pads and the few frames above lose theirs. Only if the
    /// thread runs above the other stack it is the part below that loses them.
    #[must_use]
    pub fn without(self, other: Region, pointer: usize) -> Region {
        if other.end <= self.low || other.low >= self.end {
            self
        } else if pointer >= other.end && pointer < self.end {
            Region { low: other.end, end: self.end }.for_checks()
        } else {
            Region { low: self.low, end: other.low.max(self.low) }
        }
    }
}

/// The words of a state. (Code made by the compiler pass reads them without any ordering.)
struct Words {
    low: &'static AtomicU64,
    span: &'static AtomicU64,
}

/// # Safety
/// The state must be that of a thread that lives on.
unsafe fn words(state: *mut PadState) -> Words {
    // SAFETY: the caller's promise; both words are aligned.
    unsafe {
        Words {
            low: AtomicU64::from_ptr(&raw mut (*state).low),
            span: AtomicU64::from_ptr(&raw mut (*state).span),
        }
    }
}

fn set(state: &Words, region: Region) {
    state.span.store(0, Ordering::Relaxed);
    state.low.store(region.low as u64, Ordering::Relaxed);
    state.span.store((region.end - region.low) as u64, Ordering::Relaxed);
}

/// Gives the calling thread's frames pads in this region, starting at this entry of the table.
pub fn enter(region: Region, index: u8) {
    let state = pad_state();
    // SAFETY: the calling thread's own state, whose index nobody else uses.
    unsafe {
        (*state).index = index;
        set(&words(state), region);
    }
}

/// The calling thread's region; empty if its frames get no pads.
pub fn current() -> Region {
    // SAFETY: the calling thread's own state.
    let state = unsafe { words(pad_state()) };
    let low = state.low.load(Ordering::Relaxed) as usize;
    Region { low, end: low + state.span.load(Ordering::Relaxed) as usize }
}

/// Gives no pads in a part of the calling thread's stack that is a stack of its own.
pub fn exclude(other: Region) {
    let region = current();
    let left = region.without(other, stack_pointer());
    if left != region {
        // SAFETY: the calling thread's own state.
        set(&unsafe { words(pad_state()) }, left);
    }
}

/// Gives no further pads to a thread.
///
/// # Safety
/// The state must be that of a thread that lives on.
pub unsafe fn withdraw(state: *mut PadState) {
    // SAFETY: the caller's promise.
    unsafe { words(state) }.span.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: Region = Region { low: 1000, end: 9000 };

    fn without(low: usize, end: usize, pointer: usize) -> Region {
        REGION.without(Region { low, end }, pointer)
    }

    #[test]
    fn below_the_last_check_there_is_room_for_pads_without_one() {
        let region = Region { low: 1 << 20, end: 2 << 20 };
        assert_eq!(region.for_checks(), Region { low: (1 << 20) + 47 * 4080, end: 2 << 20 });
        assert_eq!(REGION.for_checks(), Region { low: 9000, end: 9000 });
    }

    #[test]
    fn stacks_elsewhere_change_nothing() {
        assert_eq!(without(0, 1000, 5000), REGION);
        assert_eq!(without(9000, 9999, 5000), REGION);
        let none = Region { low: 0, end: 0 };
        assert_eq!(none.without(Region { low: 5, end: 10 }, 7), none);
    }

    #[test]
    fn frames_below_an_inner_stack_keep_their_pads() {
        assert_eq!(without(6000, 7000, 5000), Region { low: 1000, end: 6000 });
        // Called from a context elsewhere: the thread's own frames may be anywhere.
        assert_eq!(without(6000, 7000, 50_000), Region { low: 1000, end: 6000 });
        assert_eq!(without(500, 7000, 50), Region { low: 1000, end: 1000 });
    }

    #[test]
    fn frames_above_an_inner_stack_keep_their_pads_if_the_thread_runs_there() {
        let (whole, other) =
            (Region { low: 1 << 20, end: 4 << 20 }, Region { low: 0, end: 2 << 20 });
        let above = Region { low: (2 << 20) + UNCHECKED_BYTES as usize, end: 4 << 20 };
        assert_eq!(whole.without(other, 3 << 20), above);
    }

    #[test]
    fn a_thread_enters_excludes_and_withdraws() {
        std::thread::spawn(|| {
            let here = stack_pointer();
            let region = Region { low: here - 5000, end: here + 5000 };
            enter(region, 7);
            exclude(Region { low: here + 2000, end: here + 2500 });
            // SAFETY: the test's own thread's state.
            let state = unsafe { pad_state().read() };
            assert_eq!((state.low, state.span), (region.low as u64, 7000));
            assert_eq!(state.index, 7);
            // SAFETY: as above.
            unsafe { withdraw(pad_state()) };
            // SAFETY: as above.
            assert_eq!(unsafe { pad_state().read() }.span, 0);
        })
        .join()
        .unwrap();
    }
}
