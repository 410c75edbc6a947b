//! Recent results of the PC map, by address. An exception goes through the same few calls each
//! time, and the search for one function among thousands, and for its FDE, costs more than all else
//! that is done for a frame.
//!
//! A hit is verified before it is used, for the question of who uses it. That needs no lock, and no
//! order between threads.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};
use szc_sys::os::PAGE_BYTES;

/// Most images at a time, the program included.
pub const MAX_IMAGES: usize = 256;

/// How many entries there are.
const ENTRIES: usize = 512;

/// Bits of a packed entry for the place of the FDE, and for the function.
const FDE_BITS: u32 = 32;
const FUNCTION_BITS: u32 = 24;
/// Where the image's slot begins in it.
const SLOT_AT: u32 = FDE_BITS + FUNCTION_BITS;
const _: () = assert!(MAX_IMAGES <= 1 << (u64::BITS - SLOT_AT));

/// What an address in a copy may belong to, of any layout of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// The function.
    pub function: u32,
    /// Where its original's FDE begins in the image, 0 if that was not asked. Where it is another
    /// number, there is an FDE.
    pub fde: u32,
}

/// Hits by address.
pub struct PcCache([AtomicU64; ENTRIES]);

impl PcCache {
    /// None.
    pub const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; ENTRIES])
    }

    /// The hit for an address in a copy of the image in a slot.
    pub fn get(&self, slot: usize, address: usize) -> Hit {
        // Relaxed: what is read is no more than a hint, and nothing else becomes visible by it.
        let packed = self.at(address).load(Ordering::Relaxed);
        if packed >> SLOT_AT != slot as u64 {
            return Hit::default();
        }
        let function = packed >> FDE_BITS & ((1 << FUNCTION_BITS) - 1);
        Hit { function: function as u32, fde: packed as u32 }
    }

    /// Remembers what holds for an address in a copy of the image in a slot.
    pub fn set(&self, slot: usize, address: usize, hit: Hit) {
        if hit.function >> FUNCTION_BITS == 0 {
            let function = u64::from(hit.function) << FDE_BITS;
            let packed = (slot as u64) << SLOT_AT | function | u64::from(hit.fde);
            self.at(address).store(packed, Ordering::Relaxed);
        }
    }

    /// Forgets what is known of the image in a slot, before another one comes there: its FDEs are
    /// somewhere else.
    pub fn forget(&self, slot: usize) {
        for entry in &self.0 {
            if entry.load(Ordering::Relaxed) >> SLOT_AT == slot as u64 {
                entry.store(0, Ordering::Relaxed);
            }
        }
    }

    fn at(&self, address: usize) -> &AtomicU64 {
        &self.0[(address ^ (address / PAGE_BYTES)) % ENTRIES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_is_of_one_image_until_that_is_forgotten() {
        let cache = PcCache::new();
        let last = Hit { function: (1 << FUNCTION_BITS) - 1, fde: u32::MAX };
        cache.set(MAX_IMAGES - 1, 0x1234, last);
        assert_eq!(cache.get(MAX_IMAGES - 1, 0x1234), last);
        assert_eq!(cache.get(MAX_IMAGES - 2, 0x1234), Hit::default());
        assert_eq!(cache.get(MAX_IMAGES - 1, 0x1235), Hit::default());
        cache.forget(MAX_IMAGES - 2);
        assert_eq!(cache.get(MAX_IMAGES - 1, 0x1234), last);
        cache.forget(MAX_IMAGES - 1);
        assert_eq!(cache.get(MAX_IMAGES - 1, 0x1234), Hit::default());
    }

    #[test]
    fn what_has_no_room_is_not_remembered() {
        let cache = PcCache::new();
        cache.set(1, 0x1234, Hit { function: 1 << FUNCTION_BITS, fde: 5 });
        assert_eq!(cache.get(1, 0x1234), Hit::default());
    }
}
