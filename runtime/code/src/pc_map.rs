//! The PC map: where an address in a copy comes from, and whose it is. Asked by unwinders, also in
//! the middle of a program's signal handler, on any thread, without a lock: a layout that runs does
//! not change.

use crate::layout_ref::{LayoutRef, Part};
use crate::pc_cache::{Hit, MAX_IMAGES, PcCache};
use crate::space::CodeSpace;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use szc_sys::os::{PAGE_BYTES, Shared};

/// What an address in a layout belongs to.
#[derive(Clone, Copy)]
pub struct Located<'a> {
    /// The image and its copies.
    pub space: &'a CodeSpace,
    /// The layout.
    pub layout: LayoutRef<'a>,
    /// The function.
    pub function: u32,
    /// The part of it.
    pub part: Part,
    /// Address of the original's FDE, if that was found for this address before. It may not hold.
    pub cached_fde: Option<usize>,
}

impl Located<'_> {
    /// Address of the function's original entry.
    pub fn entry(&self) -> usize {
        self.layout.image.original(self.layout.image.function(self.function))
    }

    /// The PC translation of the address: the corresponding one in the original function, or in the
    /// pattern of stubs.
    pub fn translate(&self, address: usize) -> usize {
        match self.part {
            Part::Stub => self.space.stub_pattern + (address - self.layout.stub(self.function)),
            // Nothing of the function has run yet.
            Part::FullCheck => self.entry(),
            Part::Clone => self.entry() + (address - self.layout.unpadded(self.function)),
            Part::Slot => {
                let (slot, origin) =
                    (self.layout.image.slot(self.function), self.layout.origin(self.function));
                // In front of the body nothing of the function has run yet, or its pushes, which
                // are being undone: what is about to run stands for the instruction behind those
                // that are left.
                let inside = address.checked_sub(origin + slot.body as usize);
                let in_front = || slot.pushes_at(address.wrapping_sub(origin) as i32) as usize;
                self.entry() + inside.unwrap_or_else(in_front)
            }
        }
    }
}

/// The copies of all images, by slot.
pub struct PcMap {
    cache: PcCache,
    /// Slots that were ever used.
    used: AtomicUsize,
    /// The addresses of each image's copies, as [`pack`] writes them; 0 for none.
    ranges: [AtomicU64; MAX_IMAGES],
    /// What is known of the image, as an address.
    spaces: [AtomicPtr<()>; MAX_IMAGES],
}

impl PcMap {
    /// None.
    pub const fn empty() -> Self {
        Self {
            cache: PcCache::new(),
            used: AtomicUsize::new(0),
            ranges: [const { AtomicU64::new(0) }; MAX_IMAGES],
            spaces: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_IMAGES],
        }
    }

    /// Addresses of the number of slots to look at, and of the images' spaces by slot.
    pub(crate) fn addresses(&'static self) -> (usize, usize) {
        (&raw const self.used as usize, self.spaces.as_ptr() as usize)
    }

    /// Puts an image into a free slot below [`MAX_IMAGES`]. Only one thread at a time may change
    /// slots.
    pub fn set(&self, slot: usize, space: Shared<CodeSpace>) {
        let (start, bytes) = space.arena.range();
        self.spaces[slot].store(space.into_raw(), Ordering::Relaxed);
        // Release: pairs with the acquire in `find`, which then finds the space.
        self.ranges[slot].store(pack(start, bytes), Ordering::Release);
        self.used.fetch_max(slot + 1, Ordering::Release);
    }

    /// Empties a slot. Only one thread at a time may change slots.
    ///
    /// # Safety
    /// No thread may be in the image's copies, or ask about an address in them.
    pub unsafe fn clear(&self, slot: usize) {
        self.ranges[slot].store(0, Ordering::Relaxed);
        self.cache.forget(slot);
        let space = self.spaces[slot].swap(core::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: of `set`, and taken out of the slot. The caller's promise for readers.
        drop(unsafe { Shared::<CodeSpace>::from_raw(space) });
    }

    /// What an address belongs to, if it lies in a copy or in a stub of any image.
    ///
    /// An address in the middle of nowhere may be asked about at any time; what is answered for one
    /// in the copies of an image has meaning while that is loaded.
    pub fn locate(&self, address: usize) -> Option<Located<'_>> {
        let (slot, space) = self.find(address)?;
        let (place, offset) = space.arena.locate(address)?;
        if !space.layouts.at(place).is_drawn() {
            return None;
        }
        let hit = self.cache.get(slot, address);
        let layout = space.layout(place);
        let (function, part) = layout.part_at(offset, hit.function)?;
        if part == Part::Slot && function != hit.function {
            self.cache.set(slot, address, Hit { function, ..hit });
        }
        let cached_fde = (hit.fde != 0).then(|| space.image.address(hit.fde));
        Some(Located { space, layout, function, part, cached_fde })
    }

    /// The PC translation of an address, if it lies in a copy or in a stub of any image.
    pub fn translate(&self, address: usize) -> Option<usize> {
        Some(self.locate(address)?.translate(address))
    }

    /// Remembers which FDE of its image holds for the original of an address in a copy.
    pub fn remember(&self, address: usize, fde: usize) {
        if let Some((slot, space)) = self.find(address)
            && let Some(fde) = space.image.offset(fde)
        {
            // Another thread may have put another function there in between: one that is wrong is
            // noticed.
            let function = self.cache.get(slot, address).function;
            self.cache.set(slot, address, Hit { function, fde });
        }
    }

    /// The slot of the image whose copies an address lies among.
    fn find(&self, address: usize) -> Option<(usize, &CodeSpace)> {
        let used = self.used.load(Ordering::Acquire);
        // Acquire: pairs with the release in `set`.
        let mut ranges = self.ranges.iter().take(used);
        let slot = ranges.position(|range| contains(range.load(Ordering::Acquire), address))?;
        // SAFETY: of `set`. Whoever asks about an address inside has such a copy on its stack, so
        // that the image stays, and does not ask once its slot is emptied.
        Some((slot, unsafe { Shared::value_at(self.spaces[slot].load(Ordering::Relaxed)) }?))
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
