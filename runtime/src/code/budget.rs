//! How much memory copies of code may take, and when old ones are freed.

use super::arena::Arena;
use crate::epoch::FEWEST_PLACES;

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
    /// Most of it.
    pub bytes: usize,
    /// When old copies are freed.
    pub reclaim: Reclaim,
}

/// Bytes of copies that an image gets along with if old ones can be freed in time, and bounds of the
/// number of layouts in them.
const PREFERRED_BYTES: usize = 64 << 20;
const PREFERRED_PLACES: (usize, usize) = (16, 256);

impl Budget {
    /// A part of the budget.
    #[must_use]
    pub fn divided_by(self, parts: usize) -> Self {
        Self { bytes: self.bytes / parts, ..self }
    }

    /// Number of places of an arena that are to be used if old copies can be freed in time.
    pub fn preferred_places(self, arena: &Arena) -> u32 {
        let (least, most) = PREFERRED_PLACES;
        let few = (PREFERRED_BYTES / arena.place_bytes()).clamp(least, most) as u32;
        match self.reclaim {
            Reclaim::Off | Reclaim::Late => arena.places(),
            Reclaim::On => few.min(arena.places()),
            Reclaim::Stress => FEWEST_PLACES.min(arena.places()),
        }
    }
}
