//! The part of the calling thread's stack in which frames get pads.
//!
//! Its bounds are two words that padded code compares the stack pointer with, and a third that
//! holds the lower one if that is all there is to compare with. They are written by the thread
//! itself, and those of the main thread also by [`unregister`]; each store is of one word and
//! relaxed, because every state between two stores gives pads in a part of the range or in none of
//! it.

use core::sync::atomic::{AtomicU64, Ordering};
use szc_abi::stack::{PadState, UNCHECKED_BYTES};
use szc_sys::arch::pads::{pad_state, stack_pointer};

/// Addresses from `low` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PadRange {
    /// Lowest address at which a frame may still get a pad.
    pub low: usize,
    /// First address above the range.
    pub end: usize,
}

impl PadRange {
    /// Whether a frame whose check finds the stack pointer here gets a pad.
    #[must_use]
    pub fn contains(self, pointer: usize) -> bool {
        pointer.wrapping_sub(self.low) < self.end - self.low
    }

    /// Where a check may give a pad, if the range is what pads may take: frames that follow a
    /// checked one may have pads without a check.
    #[must_use]
    pub fn for_checks(self) -> PadRange {
        PadRange { low: (self.low + UNCHECKED_BYTES as usize).min(self.end), end: self.end }
    }

    /// What is left of the range without `other`, for a thread whose stack pointer is `pointer`.
    ///
    /// Another stack inside a thread's own is a variable of a live frame, so that the thread's next
    /// frames lie below it; they keep their pads and the few frames above lose theirs. Only if the
    /// thread runs above the other stack it is the part below that loses them.
    #[must_use]
    pub fn without(self, other: PadRange, pointer: usize) -> PadRange {
        if other.end <= self.low || other.low >= self.end {
            self
        } else if pointer >= other.end && pointer < self.end {
            PadRange { low: other.end, end: self.end }.for_checks()
        } else {
            PadRange { low: self.low, end: other.low.max(self.low) }
        }
    }
}

/// The words of a state. (Code made by the compiler pass reads them without any ordering.)
struct Words {
    low: &'static AtomicU64,
    span: &'static AtomicU64,
    floor: &'static AtomicU64,
}

/// What lies above a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// The thread's own stack alone, and no other memory that could be one: it is the main
    /// thread's.
    Nothing,
    /// Maybe other stacks.
    Anything,
}

/// # Safety
/// The state must be that of a thread that lives on.
unsafe fn words(state: *mut PadState) -> Words {
    // SAFETY: the caller's promise; both words are aligned.
    unsafe {
        Words {
            low: AtomicU64::from_ptr(&raw mut (*state).low),
            span: AtomicU64::from_ptr(&raw mut (*state).span),
            floor: AtomicU64::from_ptr(&raw mut (*state).floor),
        }
    }
}

fn set(state: &Words, range: PadRange, above: Above) {
    state.floor.store(PadState::NO_FLOOR, Ordering::Relaxed);
    state.span.store(0, Ordering::Relaxed);
    state.low.store(range.low as u64, Ordering::Relaxed);
    state.span.store((range.end - range.low) as u64, Ordering::Relaxed);
    if above == Above::Nothing {
        state.floor.store(range.low as u64, Ordering::Relaxed);
    }
}

/// Gives the calling thread's frames pads in this range, starting at this entry of the table.
pub fn enter(range: PadRange, above: Above, index: u8) {
    let state = pad_state();
    // SAFETY: the calling thread's own state, whose index nobody else uses.
    unsafe {
        (*state).index = index;
        set(&words(state), range, above);
    }
}

/// The calling thread's range; empty if its frames get no pads.
pub fn current() -> PadRange {
    // SAFETY: the calling thread's own state.
    let state = unsafe { words(pad_state()) };
    let low = state.low.load(Ordering::Relaxed) as usize;
    PadRange { low, end: low + state.span.load(Ordering::Relaxed) as usize }
}

/// Gives no pads in a part of the calling thread's stack that is a stack of its own.
pub fn exclude(other: PadRange) {
    let range = current();
    let left = range.without(other, stack_pointer());
    if left != range {
        // SAFETY: the calling thread's own state.
        let state = unsafe { words(pad_state()) };
        let had_floor = state.floor.load(Ordering::Relaxed) != PadState::NO_FLOOR;
        let keeps_it = had_floor && left.end == range.end;
        set(&state, left, if keeps_it { Above::Nothing } else { Above::Anything });
    }
}

/// Gives no pads in the lowest bytes of the calling thread's range.
pub fn narrow(bytes: usize) {
    let range = current();
    // SAFETY: the calling thread's own state.
    let state = unsafe { words(pad_state()) };
    let had_floor = state.floor.load(Ordering::Relaxed) != PadState::NO_FLOOR;
    let left = PadRange { low: (range.low + bytes).min(range.end), end: range.end };
    set(&state, left, if had_floor { Above::Nothing } else { Above::Anything });
}

/// Gives no further pads to a thread.
///
/// # Safety
/// The state must be that of a thread that lives on.
pub unsafe fn unregister(state: *mut PadState) {
    // SAFETY: the caller's promise.
    let state = unsafe { words(state) };
    state.floor.store(PadState::NO_FLOOR, Ordering::Relaxed);
    state.span.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: PadRange = PadRange { low: 1000, end: 9000 };

    fn without(low: usize, end: usize, pointer: usize) -> PadRange {
        RANGE.without(PadRange { low, end }, pointer)
    }

    #[test]
    fn below_the_last_check_pads_without_one_fit() {
        let range = PadRange { low: 1 << 20, end: 2 << 20 };
        assert_eq!(range.for_checks(), PadRange { low: (1 << 20) + 15 * 4080, end: 2 << 20 });
        assert_eq!(RANGE.for_checks(), PadRange { low: 9000, end: 9000 });
    }

    #[test]
    fn stacks_elsewhere_change_nothing() {
        assert_eq!(without(0, 1000, 5000), RANGE);
        assert_eq!(without(9000, 9999, 5000), RANGE);
        let none = PadRange { low: 0, end: 0 };
        assert_eq!(none.without(PadRange { low: 5, end: 10 }, 7), none);
    }

    #[test]
    fn frames_below_an_inner_stack_keep_their_pads() {
        assert_eq!(without(6000, 7000, 5000), PadRange { low: 1000, end: 6000 });
        // Called from a context elsewhere: the thread's own frames may be anywhere.
        assert_eq!(without(6000, 7000, 50_000), PadRange { low: 1000, end: 6000 });
        assert_eq!(without(500, 7000, 50), PadRange { low: 1000, end: 1000 });
    }

    #[test]
    fn frames_above_an_inner_stack_keep_their_pads_if_the_thread_runs_there() {
        let (whole, other) =
            (PadRange { low: 1 << 20, end: 4 << 20 }, PadRange { low: 0, end: 2 << 20 });
        let above = PadRange { low: (2 << 20) + UNCHECKED_BYTES as usize, end: 4 << 20 };
        assert_eq!(whole.without(other, 3 << 20), above);
    }

    /// What the calling thread's state is.
    fn state() -> PadState {
        // SAFETY: the test's own thread's state.
        unsafe { pad_state().read() }
    }

    #[test]
    fn a_thread_enters_excludes_and_unregisters() {
        std::thread::spawn(|| {
            let here = stack_pointer();
            let range = PadRange { low: here - 5000, end: here + 5000 };
            enter(range, Above::Anything, 7);
            exclude(PadRange { low: here + 2000, end: here + 2500 });
            assert_eq!((state().low, state().span), (range.low as u64, 7000));
            assert_eq!((state().index, state().floor), (7, PadState::NO_FLOOR));
            // SAFETY: as above.
            unsafe { unregister(pad_state()) };
            assert_eq!(state().span, 0);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_floor_is_the_lower_bound_as_long_as_all_above_it_is_the_range() {
        std::thread::spawn(|| {
            let here = stack_pointer();
            let (low, end) = (here - (1 << 20), here + 5000);
            let floor_after = |exclude_from, to| {
                enter(PadRange { low, end }, Above::Nothing, 0);
                assert_eq!(state().floor, low as u64);
                exclude(PadRange { low: exclude_from, end: to });
                (state().floor, state().low)
            };
            // Below this frame: what is left lies above the other stack.
            let above = (here - (512 << 10) + UNCHECKED_BYTES as usize) as u64;
            assert_eq!(floor_after(here - (600 << 10), here - (512 << 10)), (above, above));
            // Above it: the other stack lies above what is left.
            assert_eq!(floor_after(here + 2000, here + 3000), (PadState::NO_FLOOR, low as u64));
            assert_eq!(floor_after(end, end + 1000), (low as u64, low as u64));
            // SAFETY: the test's own thread's state.
            unsafe { unregister(pad_state()) };
            assert_eq!((state().floor, state().span), (PadState::NO_FLOOR, 0));
        })
        .join()
        .unwrap();
    }
}
