//! How frames are laid out at an address in a copy: as in the original, as the copy's own FDE says,
//! or as where the function was called.
#![forbid(unsafe_code)]

use std::sync::Arc;

use szc_abi::copies::{RED_ZONE_BYTES, STUB_CALL_AT};

use super::{Image, Part, Rules, Spot};
use crate::memory::Memory;

/// The instruction `pop` of a register of the first eight (Intel SDM volume 2).
const POP: std::ops::RangeInclusive<u8> = 0x58..=0x5f;

/// Bytes of a body before the end of any instruction that takes a frame with a pad: one with a
/// constant of 4 bytes has 7 or more. Up to there the stack is as in the original, and the copy's
/// FDE may not be written yet: all that runs then is what the function begins with.
const ALIKE_BYTES: u64 = 7;

impl Image {
    /// The rules at an address, which belongs to `spot` of a place and there to an address of the
    /// original.
    pub(super) fn rules(
        &mut self,
        memory: &impl Memory,
        address: u64,
        place: u64,
        (spot, original): (Spot, u64),
    ) -> Option<Rules> {
        match spot.part {
            Part::Stub(inside) if inside >= STUB_CALL_AT => {
                Some(Rules::Called { bytes: RED_ZONE_BYTES })
            }
            Part::Stub(_) | Part::FullCheck => Some(Rules::Called { bytes: 0 }),
            Part::Clone => Some(Rules::Original(original)),
            Part::Front => {
                // Pushes of the function's may be undone there, in one word of 8 bytes.
                let mut code = [0; 8];
                memory.read(address, &mut code)?;
                let pops = code.iter().take_while(|byte| POP.contains(byte)).count();
                Some(Rules::Called { bytes: 8 * pops as u64 })
            }
            Part::Body => {
                let own = self.fde_at(spot.function).filter(|_| spot.inside >= ALIKE_BYTES);
                let Some((fde_at, room)) = own else { return Some(Rules::Original(original)) };
                let at = self.about.arena + place * self.about.place_bytes + fde_at;
                Some(match self.fde(memory, place, (spot.function, at, room))? {
                    fde if fde.is_empty() => Rules::Original(original),
                    fde => Rules::Own { fde, at, original },
                })
            }
        }
    }

    /// Where in a place the FDE of a body with a pad is, and how much room there is for it, if it
    /// has one of its own. Behind the last one there may be room for nothing.
    fn fde_at(&self, function: u32) -> Option<(u64, u64)> {
        let fdes = &self.clones.fdes;
        let start = u64::from(*fdes.get(function as usize)?);
        let next = fdes.get(function as usize + 1).map_or(self.about.checks_start, |&n| n.into());
        (start < next).then(|| (start, next - start))
    }

    /// The FDE of a function in the layout of a place, from memory or as it was read before; no
    /// bytes if there is none where there is room for one.
    fn fde(
        &mut self,
        memory: &impl Memory,
        place: u64,
        (function, at, room): (u32, u64, u64),
    ) -> Option<Arc<[u8]>> {
        let epoch_at = self.head(place) + self.about.layout_epoch_at;
        let layout = self.layouts.get_mut(&place)?;
        if let Some(known) = layout.fdes.get(&function) {
            return Some(known.clone());
        }
        let mut length = [0; 4];
        memory.read(at, &mut length)?;
        let bytes = match u32::from_le_bytes(length) {
            0 => 0,
            length => 4 + u64::from(length),
        };
        let mut fde = vec![0; if bytes <= room { usize::try_from(bytes).ok()? } else { 0 }];
        memory.read(at, &mut fde)?;
        // Another layout may be drawn there meanwhile.
        if memory.word(epoch_at)? != layout.epoch {
            return None;
        }
        let fde: Arc<[u8]> = fde.into();
        layout.fdes.insert(function, fde.clone());
        Some(fde)
    }
}
