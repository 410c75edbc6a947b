//! Threads with pads: larger stacks, and a state of their own that is set before their first frame.
//!
//! A thread's stack is larger than the program asked for: the pad reserve on top, and more for
//! frames without pads, which may be larger than plain ones. How much more depends on how much
//! larger: glibc keeps 40 MiB of stacks of ended threads for new ones, five of the default size of
//! 8 MiB, three with what is added here if frames grow by half at most. (**Measured**: with twice
//! the size, of which two fit, a program that creates and joins three threads over and over takes
//! twice its time.)
//!
//! The program's start routine reaches the new thread through one of a few handovers, which the
//! thread gives back at once. If anything is missing (a free handover, memory, a definition of
//! libc's) the thread is made as the program said, without pads.

use super::first_pad::first_pad;
use super::growth::growth;
use super::pad_range::{self, Above, PadRange};
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use szc_abi::stack::{Growth, UNCHECKED_BYTES};
use szc_sys::arch::pads::stack_pointer;
use szc_sys::os::{self, PAGE_BYTES, null};
// libc's functions, looked for by name: a program without threads must not get them.
use szc_sys::next::{
    Attributes, PTHREAD_ATTR_DESTROY, PTHREAD_ATTR_GETSTACK, PTHREAD_ATTR_GETSTACKSIZE,
    PTHREAD_ATTR_SETSTACKSIZE, PTHREAD_CREATE, PTHREAD_GETATTR_DEFAULT_NP, StartRoutine, Thread,
};

/// What one pad, the resolver and a signal handler need below the deepest frame.
const MARGIN_BYTES: usize = 64 << 10;

/// A stack of up to this many bytes is at least doubled; a larger one grows by half, and at least
/// by this.
const DOUBLED_BYTES: usize = 2 << 20;

/// Threads that are being created at the same time and get pads.
const HANDOVERS: usize = 512;

/// The program's frames have pads. Set at start.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Bytes of a thread's stack in which frames get pads, those that follow a check among them. Set at
/// start.
static RESERVE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Threads created so far; the main one is number 0.
static CREATED: AtomicU64 = AtomicU64::new(0);

/// Handovers in use, one bit each.
static USED: [AtomicU64; HANDOVERS.div_ceil(WORD)] =
    [const { AtomicU64::new(0) }; HANDOVERS.div_ceil(WORD)];

/// Bits of a word of [`USED`].
const WORD: usize = u64::BITS as usize;

const _: () = assert!(HANDOVERS.is_multiple_of(WORD));

/// What a new thread is to do.
struct Handover {
    start: AtomicUsize,
    argument: AtomicUsize,
    number: AtomicU64,
}

impl Handover {
    const fn new() -> Self {
        Self {
            start: AtomicUsize::new(0),
            argument: AtomicUsize::new(0),
            number: AtomicU64::new(0),
        }
    }
}

static POOL: [Handover; HANDOVERS] = [const { Handover::new() }; HANDOVERS];

/// From now on new threads get pads, in so many bytes of their stacks.
pub fn start(reserve_bytes: usize) {
    RESERVE_BYTES.store(reserve_bytes + UNCHECKED_BYTES as usize, Ordering::Relaxed);
    WANTED.store(true, Ordering::Relaxed);
}

/// From now on new threads are as the program makes them.
pub fn stop() {
    WANTED.store(false, Ordering::Relaxed);
}

/// Takes a free handover.
fn take() -> Option<usize> {
    for (number, word) in USED.iter().enumerate() {
        let mut bits = word.load(Ordering::Relaxed);
        while bits != u64::MAX {
            let bit = bits.trailing_ones();
            // Acquire: pairs with the release in `give_back`; the last user has read what it
            // needed.
            bits = word.fetch_or(1 << bit, Ordering::Acquire);
            if bits & 1 << bit == 0 {
                return Some(number * WORD + bit as usize);
            }
        }
    }
    None
}

fn give_back(index: usize) {
    // Release: pairs with the acquire in `take`.
    USED[index / WORD].fetch_and(!(1 << (index % WORD)), Ordering::Release);
}

/// Creates a thread with pads, or does nothing and says no. The thread begins at `entry`, which is
/// given a number for [`enter`].
///
/// # Safety
/// The arguments must be good for `pthread_create`, and `entry` a start routine that calls
/// [`enter`] before it touches its stack.
pub unsafe fn create(
    thread: *mut Thread,
    attributes: *const Attributes,
    start: StartRoutine,
    argument: *mut c_void,
    entry: usize,
) -> bool {
    if !WANTED.load(Ordering::Relaxed) || os::memory_is_limited() {
        return false;
    }
    let Some(create) = PTHREAD_CREATE.get() else { return false };
    // SAFETY: the caller's promise.
    let Some(larger) = (unsafe { Larger::than(attributes) }) else { return false };
    let Some(index) = take() else { return false };
    let handover = &POOL[index];
    // Relaxed: the new thread sees what its creator has written before.
    handover.start.store(start, Ordering::Relaxed);
    handover.argument.store(argument as usize, Ordering::Relaxed);
    handover.number.store(CREATED.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    // SAFETY: the caller's promise; the start routine takes a handover.
    let result =
        unsafe { create(thread, &raw const larger.attributes, entry, index as *mut c_void) };
    if result != 0 {
        give_back(index);
    }
    result == 0
}

/// Attributes with a larger stack.
struct Larger {
    attributes: Attributes,
    /// They are a copy of libc's own rather than of the program's.
    owned: bool,
}

impl Larger {
    /// Nothing if the program brings the stack.
    ///
    /// # Safety
    /// `attributes` must be null or initialized.
    unsafe fn than(attributes: *const Attributes) -> Option<Self> {
        let (default, get_stack) =
            (PTHREAD_GETATTR_DEFAULT_NP.get()?, PTHREAD_ATTR_GETSTACK.get()?);
        let (get_size, set_size) =
            (PTHREAD_ATTR_GETSTACKSIZE.get()?, PTHREAD_ATTR_SETSTACKSIZE.get()?);
        PTHREAD_ATTR_DESTROY.get()?;
        // SAFETY: the functions of these names have these types; the caller's promise.
        unsafe {
            let mut larger = Self { attributes: [0; 7], owned: attributes.is_null() };
            if let Some(given) = attributes.as_ref() {
                larger.attributes = *given;
            } else if default(&raw mut larger.attributes) != 0 {
                larger.owned = false;
                return None;
            }
            let (mut address, mut bytes) = (0usize, 0usize);
            let known = get_stack(&raw const larger.attributes, &raw mut address, &raw mut bytes);
            // glibc keeps the end of a stack, which is 0 if none was given.
            if known != 0 || address.wrapping_add(bytes) != 0 {
                return None;
            }
            if get_size(&raw const larger.attributes, &raw mut bytes) != 0 {
                return None;
            }
            let wanted = larger_bytes(bytes, growth(), RESERVE_BYTES.load(Ordering::Relaxed))?;
            (set_size(&raw mut larger.attributes, wanted) == 0).then_some(larger)
        }
    }
}

impl Drop for Larger {
    fn drop(&mut self) {
        if let (true, Some(destroy)) = (self.owned, PTHREAD_ATTR_DESTROY.get()) {
            // SAFETY: libc filled in the attributes.
            unsafe { destroy(&raw mut self.attributes) };
        }
    }
}

/// Bytes of the stack of a thread that asked for this many, if frames may grow so much and have
/// this reserve for pads.
fn larger_bytes(own: usize, growth: Growth, pad_reserve: usize) -> Option<usize> {
    let growth_reserve = match growth {
        Growth::Half => (own / 2).max(own.min(DOUBLED_BYTES)),
        Growth::Twice => own,
        Growth::Tenfold => own.checked_mul(9)?,
    };
    let added = growth_reserve.checked_add(pad_reserve + MARGIN_BYTES)?;
    own.checked_add(added)?.checked_next_multiple_of(PAGE_BYTES)
}

/// Start routine and argument, as they come back in two registers.
#[repr(C)]
pub struct Begin {
    /// The program's start routine.
    pub start: StartRoutine,
    /// What it takes.
    pub argument: *mut c_void,
}

/// The new thread takes what its handover holds, and gets pads.
pub fn enter(index: usize) -> Begin {
    let Some(handover) = POOL.get(index) else { return Begin { start: 0, argument: null() } };
    let begin = Begin {
        start: handover.start.load(Ordering::Relaxed),
        argument: handover.argument.load(Ordering::Relaxed) as *mut c_void,
    };
    let number = handover.number.load(Ordering::Relaxed);
    give_back(index);
    let here = stack_pointer();
    let reserve_bytes = RESERVE_BYTES.load(Ordering::Relaxed);
    let range = PadRange { low: here - reserve_bytes, end: here + PAGE_BYTES };
    pad_range::enter(range.for_checks(), Above::Anything, first_pad(number));
    begin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_stack_has_both_reserves_and_three_of_the_default_size_fit_into_40_mib() {
        const RESERVE: usize = 128 << 10;
        const MORE: usize = RESERVE + MARGIN_BYTES;
        let by_half = |own| larger_bytes(own, Growth::Half, RESERVE);
        assert_eq!(by_half(16_384), Some(MORE + 32_768));
        assert_eq!(by_half(16_385), Some(MORE + 36_864));
        assert_eq!(by_half(3 << 20), Some(MORE + (5 << 20)));
        assert_eq!(by_half(8 << 20), Some(MORE + (12 << 20)));
        assert!(3 * by_half(8 << 20).unwrap() <= 40 << 20);
        assert_eq!(larger_bytes(8 << 20, Growth::Twice, RESERVE), Some(MORE + (16 << 20)));
        assert_eq!(larger_bytes(8 << 20, Growth::Tenfold, RESERVE), Some(MORE + (80 << 20)));
        assert_eq!(larger_bytes(usize::MAX / 5, Growth::Tenfold, RESERVE), None);
        assert_eq!(by_half(usize::MAX - 4096), None);
    }

    #[test]
    fn each_handover_is_given_once_until_it_comes_back() {
        let mut taken: Vec<_> = core::iter::from_fn(take).collect();
        assert_eq!(taken.len(), HANDOVERS);
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), HANDOVERS);
        give_back(17);
        assert_eq!((take(), take()), (Some(17), None));
        (0..HANDOVERS).for_each(give_back);
    }
}
