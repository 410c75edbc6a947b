//! Where an address in a copy comes from: what unwinders need to know, also in the middle of a
//! program's signal handler.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use crate::arch::entry;

/// Finds where an address in a copy comes from. Valid for as long as the program runs, on any
/// thread, without a lock: the layout of a region never changes once code runs in it.
#[derive(Clone, Copy)]
pub struct Locator {
    image: Image,
    arena: Arena,
    regions: *const Region,
}

impl Locator {
    /// Of an image whose epochs are in `regions`, by place of the arena.
    pub fn new(image: Image, arena: Arena, regions: *const Region) -> Self {
        Self { image, arena, regions }
    }

    /// The origin of an address, if it lies in a copy or in a stub.
    pub fn origin(&self, address: usize) -> Option<Origin> {
        let (place, offset) = self.arena.locate(address)?;
        // SAFETY: below the number of places; a region is written before any address in it runs.
        let region = unsafe { self.regions.add(place as usize).read_volatile() };
        if region.bytes() == 0 {
            return None;
        }
        if let Some((_, stub)) = region.stub_at(&self.arena, offset) {
            let original = entry::stub_pattern() + (address - stub);
            return Some(Origin { original, start: stub });
        }
        let function = region.function_at(&self.image, offset)?;
        let body = region.body(&self.arena, function);
        let original = self.image.original(&self.image.function(function));
        // In the head nothing of the function has run yet: that is its first instruction.
        Some(Origin { original: original + address.saturating_sub(body), start: body })
    }
}

/// Where an address in a copy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The corresponding address in the original function, or in the pattern of stubs.
    pub original: usize,
    /// Start of the copy.
    pub start: usize,
}
