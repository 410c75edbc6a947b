//! What does not follow from the seed alone: functions held at one offset in a line or page, and
//! the pad of one function's frame, held at one value, or so that the frame lies at one offset.

use szc_abi::stack::PAD_GRAIN_BYTES;

/// Functions that can lie at one offset each.
pub const MAX_HELD: usize = 2;

/// A function whose place in a line or page does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldFunction {
    /// Digest of its name.
    pub name: u64,
    /// Where.
    pub at: Held,
}

/// The offset of a body in what it is held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// A multiple of the grain, less than `modulus`.
    pub offset: u32,
    /// Bytes of a cache line, or of a page.
    pub modulus: u32,
}

impl Held {
    /// By how much a layout may be larger with a function that is held.
    #[must_use]
    pub const fn room_bytes(self) -> u32 {
        2 * self.modulus
    }
}

/// A function whose frame's pad does not follow from the seed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldFrame {
    /// Digest of its name.
    pub name: u64,
    /// Its pad.
    pub pad: HeldPad,
}

/// What a pad is held at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldPad {
    /// Bytes, a multiple of the grain.
    Bytes(u32),
    /// What brings the end of the frame's pad to an offset in a line or page, where the first call
    /// of the function is.
    At(Held),
}

impl HeldPad {
    /// The pad in a layout in which it would be `drawn`. The function's first call found the stack
    /// at `call`, if there was one.
    #[must_use]
    pub fn bytes(self, drawn: u32, call: Option<usize>) -> u32 {
        match (self, call) {
            (Self::Bytes(bytes), _) => bytes,
            (Self::At(held), Some(call)) => {
                let wanted = (call as u32).wrapping_sub(held.offset) % held.modulus;
                // As large as it was, but for what a line is.
                drawn - drawn % held.modulus + wanted - wanted % PAD_GRAIN_BYTES
            }
            (Self::At(_), None) => drawn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_abi::stack::PADS;

    #[test]
    fn a_frame_comes_to_its_offset_by_a_pad_that_could_have_been_drawn() {
        for modulus in [64, 4096] {
            for offset in (0..modulus).step_by(48) {
                for (drawn, call) in [(0, 0x7fff_ffff_e0b0), (4080, 16), (1040, 0x7f00_0000_0ff0)] {
                    let held = HeldPad::At(Held { offset, modulus });
                    let pad = held.bytes(drawn, Some(call));
                    let end = call.wrapping_sub(pad as usize);
                    assert_eq!(end % modulus as usize, offset as usize, "{held:?}: {pad}");
                    assert!(pad.is_multiple_of(PAD_GRAIN_BYTES) && pad < PADS * PAD_GRAIN_BYTES);
                    assert!(modulus == 4096 || pad / 64 == drawn / 64, "{pad}, {drawn}");
                    assert_eq!(held.bytes(drawn, None), drawn);
                }
            }
        }
        // A stack that no compiler leaves so.
        let odd = HeldPad::At(Held { offset: 16, modulus: 64 }).bytes(640, Some(0x1008));
        assert!(odd.is_multiple_of(PAD_GRAIN_BYTES));
        assert_eq!(HeldPad::Bytes(48).bytes(640, None), 48);
    }
}
