//! Where an address in a copy comes from: what unwinders need to know, also in the middle of a
//! program's signal handler.

use super::arena::Arena;
use super::guesses::{Guess, Guesses};
use super::image::Image;
use super::images::CAPACITY;
use super::object::Object;
use super::region::Region;
use crate::arch::entry;
use crate::os::PAGE_BYTES;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Finds where an address in a copy of one image comes from. Valid for as long as the image is
/// loaded, on any thread, without a lock: the layout of a region never changes once code runs in
/// it.
#[derive(Clone, Copy)]
pub struct Locator {
    pub(super) image: Image,
    pub(super) arena: Arena,
    regions: *const Region,
}

impl Locator {
    /// Of an image whose epochs are in `regions`, by place of the arena.
    pub fn new(image: Image, arena: Arena, regions: *const Region) -> Self {
        Self { image, arena, regions }
    }

    /// The layout at a place, if there is or was one.
    pub(super) fn region(&self, place: u32) -> Option<Region> {
        // SAFETY: below the number of places; a region is written before any address in it runs.
        let region = unsafe { self.regions.add(place as usize).read_volatile() };
        (region.bytes() != 0).then_some(region)
    }

    /// The origin of an address, if it lies in a copy or in a stub of this image, whose guesses are
    /// those of a slot.
    fn origin(&self, address: usize, slot_of_image: usize, guesses: &Guesses) -> Option<Origin> {
        let (place, offset) = self.arena.locate(address)?;
        let region = self.region(place)?;
        let original = |function| self.image.original(&self.image.function(function));
        let mut guess = guesses.get(slot_of_image, address);
        let rules_before = (guess.rules != 0).then(|| self.image.address(guess.rules));
        let origin = |original, rules| Some(Origin { original, rules, rules_before });
        if !region.is_slot_of(&self.image, guess.function, offset) {
            if let Some((_, stub)) = region.stub_at(&self.arena, offset) {
                return origin(entry::stub_pattern() + (address - stub), None);
            }
            if let Some((function, inside)) = self.image.spares().function_at(offset) {
                return origin(original(function) + inside as usize, None);
            }
            if let Some(function) = self.image.spares().checked_at(offset) {
                return origin(original(function), None);
            }
            guess.function = region.function_at(&self.image, offset)?;
            guesses.set(slot_of_image, address, guess);
        }
        let function = guess.function;
        let slot = self.image.slot(function);
        let slot_origin = region.body(&self.arena, function);
        // In front of the body nothing of the function has run yet, or its pushes, which are being
        // undone: what is about to run stands for the instruction behind those that are left.
        let Some(inside) = address.checked_sub(slot_origin + slot.body as usize) else {
            let place = address.wrapping_sub(slot_origin) as i32;
            return origin(original(function) + slot.pushes_at(place) as usize, None);
        };
        // At the entrance the stack is where it is in the original, and the copy's rules may not be
        // written yet.
        let has_rules = slot.rules_bytes() > 0 && inside >= slot.opening_bytes() as usize;
        let rules = has_rules.then(|| region.rules(&self.image, &self.arena, function));
        origin(original(function) + inside, rules)
    }
}

/// The locators of all images, found without a lock.
pub struct Locators {
    guesses: Guesses,
    /// Slots that were ever used.
    used: AtomicUsize,
    /// The addresses of each image's copies, as [`pack`] writes them; 0 for none.
    ranges: [AtomicU64; CAPACITY],
    locators: [UnsafeCell<MaybeUninit<Locator>>; CAPACITY],
}

// SAFETY: a locator is written before its range is, and read only by who looks for an address
// inside the range: such a copy is on that thread's stack, so that its image stays.
unsafe impl Sync for Locators {}

impl Locators {
    /// None.
    pub const fn new() -> Self {
        Self {
            guesses: Guesses::new(),
            used: AtomicUsize::new(0),
            ranges: [const { AtomicU64::new(0) }; CAPACITY],
            locators: [const { UnsafeCell::new(MaybeUninit::zeroed()) }; CAPACITY],
        }
    }

    /// Puts a locator into a free slot below [`CAPACITY`]. Only one thread at a time may change
    /// slots.
    pub fn set(&self, slot: usize, locator: Locator) {
        // SAFETY: the range is 0, so nobody reads the locator.
        unsafe { self.locators[slot].get().write(MaybeUninit::new(locator)) };
        let (start, bytes) = locator.arena.range();
        // Release: pairs with the acquire in `origin`, which then finds the locator.
        self.ranges[slot].store(pack(start, bytes), Ordering::Release);
        self.used.fetch_max(slot + 1, Ordering::Release);
    }

    /// Empties a slot, in whose copies no thread may be any more.
    pub fn clear(&self, slot: usize) {
        self.ranges[slot].store(0, Ordering::Relaxed);
        self.guesses.forget(slot);
    }

    /// The origin of an address, if it lies in a copy or in a stub of any image.
    pub fn origin(&self, address: usize) -> Option<Origin> {
        let (slot, locator) = self.of(address)?;
        locator.origin(address, slot, &self.guesses)
    }

    /// Remembers which unwind rules of its image hold for the original of an address in a copy.
    pub fn remember(&self, address: usize, rules: usize) {
        if let Some((slot, locator)) = self.of(address)
            && let Some(rules) = locator.image.offset(rules)
        {
            // Another thread may have put another function there in between: one that is wrong is
            // noticed.
            let function = self.guesses.get(slot, address).function;
            self.guesses.set(slot, address, Guess { function, rules });
        }
    }

    /// The object that an address in a copy or in a stub of any image belongs to.
    pub fn object(&self, address: usize) -> Option<Object> {
        self.of(address)?.1.object(address)
    }

    /// The slot and the locator of the image whose copies an address lies among.
    fn of(&self, address: usize) -> Option<(usize, &Locator)> {
        let used = self.used.load(Ordering::Acquire);
        // Acquire: pairs with the release in `set`.
        let mut ranges = self.ranges.iter().take(used);
        let slot = ranges.position(|range| contains(range.load(Ordering::Acquire), address))?;
        // SAFETY: see `Sync` above.
        Some((slot, unsafe { (*self.locators[slot].get()).assume_init_ref() }))
    }
}

/// Bits of a packed range that hold the number of pages.
const PAGES_BITS: u32 = 20;

/// First address and bytes of an arena, both whole pages, in one word: addresses have 47 bits, and
/// an arena has less than 4 GiB.
fn pack(start: usize, bytes: usize) -> u64 {
    ((start / PAGE_BYTES) as u64) << PAGES_BITS | (bytes / PAGE_BYTES) as u64
}

fn contains(range: u64, address: usize) -> bool {
    let (first, pages) = (range >> PAGES_BITS, range & ((1 << PAGES_BITS) - 1));
    ((address / PAGE_BYTES) as u64).wrapping_sub(first) < pages
}

/// Where an address in a copy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The corresponding address in the original function, or in the pattern of stubs.
    pub original: usize,
    /// Unwind rules that hold there, if not those of the original.
    pub rules: Option<usize>,
    /// Rules of the image that were found before, for this address or one like it: they may not
    /// hold for `original`.
    pub rules_before: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_range_contains_its_addresses_and_no_others() {
        for (start, bytes) in [(0x7fff_ffff_f000, 0x1000), (0x10_0000, 1 << 30)] {
            let range = pack(start, bytes);
            assert!(contains(range, start) && contains(range, start + bytes - 1));
            assert!(!contains(range, start - 1) && !contains(range, start + bytes));
        }
        assert!(!contains(0, 0));
    }
}
