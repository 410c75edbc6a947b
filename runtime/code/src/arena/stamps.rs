//! Stamps of an arena's memory: since when it is this process's alone.

use crate::alias::Form;
use crate::sharing;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use szc_sys::os::{Array, Errno, PAGE_BYTES};

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// Stamps of memory: 0 is none, and one from [`sharing::own_since`] on says that the memory is this
/// process's alone.
pub(super) struct OwnPages {
    /// The generation before the arena was made.
    born: u32,
    /// By page: the stamp of when it was written first or taken; 0 if nothing was ever written
    /// there. Empty if children copy everything at once.
    pub(super) pages: Array<AtomicU32>,
    /// By place, when all its memory was fresh, as a stamp less one.
    pub(super) places: Array<AtomicU32>,
    /// By place, the stamp since which pages were taken by themselves, and behind all those their
    /// numbers.
    single: Array<AtomicU32>,
    /// The place that is being prepared.
    pub(super) prepared: AtomicU32,
    /// Memory of its own was refused once: this process and others may write to the same.
    pub(super) refused: AtomicU32,
}

impl OwnPages {
    /// Those of an arena with so many places of so many bytes.
    pub fn new(places: usize, place_bytes: usize, form: Form) -> Result<Self, Errno> {
        let lazily = matches!(form, Form::Plain | Form::Perf);
        let (pages, places) =
            if lazily { (places * (place_bytes / PAGE_BYTES), places) } else { (0, 0) };
        // SAFETY: numbers.
        unsafe {
            Ok(Self {
                born: sharing::generation(),
                pages: Array::zeroed(pages)?,
                places: Array::zeroed(places)?,
                single: Array::zeroed(2 * places)?,
                prepared: AtomicU32::new(NONE),
                refused: AtomicU32::new(0),
            })
        }
    }

    /// The stamp of memory that is taken now.
    #[inline]
    pub fn own(&self) -> u32 {
        self.stamp_of(sharing::generation())
    }

    #[inline]
    fn stamp_of(&self, generation: u32) -> u32 {
        generation.wrapping_sub(self.born).wrapping_add(1)
    }

    /// Whether a stamp says so.
    #[inline]
    fn says_own(&self, stamp: u32) -> bool {
        let since = self.stamp_of(sharing::own_since());
        stamp.wrapping_sub(since).cast_signed() >= 0
    }

    /// Whether a page is known to be this process's alone.
    #[inline]
    pub fn is_own(&self, page: usize) -> bool {
        let stamp = self.pages.get(page).map(|stamp| stamp.load(Ordering::Relaxed));
        stamp.is_none_or(|stamp| stamp != 0 && self.says_own(stamp))
    }

    pub fn is_own_place(&self, place: u32) -> bool {
        let stamp = self.places.get(place as usize).map(|stamp| stamp.load(Ordering::Relaxed));
        stamp.is_none_or(|stamp| self.says_own(stamp.wrapping_add(1)))
    }

    /// Notes that a page of a place is to be taken by itself; false if there were enough of them
    /// since the place was whole, or since this process began.
    pub fn counts_single(&self, place: u32, max: usize) -> bool {
        let (stamps, counts) = self.single.split_at(self.places.len());
        let (stamp, count) = (&stamps[place as usize], &counts[place as usize]);
        let last = stamp.swap(self.own(), Ordering::Relaxed);
        if last.wrapping_sub(self.stamp_of(sharing::base())).cast_signed() < 0 {
            count.store(0, Ordering::Relaxed);
        }
        (count.fetch_add(1, Ordering::Relaxed) as usize) < max
    }

    /// All of a place is one piece of memory, this process's alone since that stamp.
    pub fn note_whole(&self, place: u32, stamp: u32) {
        self.places[place as usize].store(stamp.wrapping_sub(1), Ordering::Relaxed);
        self.single[self.places.len() + place as usize].store(0, Ordering::Relaxed);
    }

    /// All pages of these that were written are this process's alone.
    pub fn stamp_written(&self, pages: Range<usize>) {
        for stamp in &self.pages[pages] {
            if stamp.load(Ordering::Relaxed) != 0 {
                stamp.store(self.own(), Ordering::Relaxed);
            }
        }
    }
}
