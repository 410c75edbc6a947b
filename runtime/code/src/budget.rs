//! How much memory copies of code may take, and when old ones are freed.
#![forbid(unsafe_code)]

use crate::arena::Arena;
use szc_layout::epoch::MIN_PLACES;
use szc_sys::os::PAGE_BYTES;

/// When old copies are freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reclaim {
    /// Never.
    Off,
    /// When they take some memory.
    On,
    /// Only when there is no room for another layout.
    Late,
    /// At once, and their places are used again first.
    Stress,
}

/// Memory for copies of an image's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What is wanted of it.
    pub bytes: usize,
    /// Layouts for which there must be room even if they are larger than that.
    pub min_places: u32,
    /// Most of it.
    pub max_bytes: usize,
    /// When old copies are freed.
    pub reclaim: Reclaim,
}

/// Bytes of copies that an image gets along with if old ones can be freed in time, and bounds of
/// the number of layouts in them.
const PREFERRED_BYTES: usize = 64 << 20;
const PREFERRED_PLACES: (usize, usize) = (16, 256);

impl Budget {
    /// So many bytes, whatever a layout takes.
    pub const fn of(bytes: usize, reclaim: Reclaim) -> Self {
        Self { bytes, min_places: 1, max_bytes: bytes, reclaim }
    }

    /// Bytes for layouts of so many bytes each.
    pub fn bytes_for(self, place_bytes: usize) -> usize {
        let place_bytes = place_bytes.next_multiple_of(PAGE_BYTES);
        let min = place_bytes.saturating_mul(self.min_places as usize);
        self.bytes.max(min).min(self.max_bytes)
    }

    /// Number of places of an arena that are to be used if old copies can be freed in time.
    pub fn preferred_places(self, arena: &Arena) -> u32 {
        let (min, max) = PREFERRED_PLACES;
        let few = (PREFERRED_BYTES / arena.place_bytes()).clamp(min, max) as u32;
        match self.reclaim {
            Reclaim::Off | Reclaim::Late => arena.places(),
            Reclaim::On => few.min(arena.places()),
            Reclaim::Stress => MIN_PLACES.min(arena.places()),
        }
    }
}
