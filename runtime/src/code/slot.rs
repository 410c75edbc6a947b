//! What lies in a slot behind its head: the body, and for a function whose frame may have another size what
//! gives it a pad.
//!
//! ```text
//! as built   body
//! padded     check, [inner head,] body        spare part: body, rules
//! ```
//!
//! A *padded* function has two bodies. That in the slot takes a pad with its frame: a constant, drawn for this
//! function and layout. The other takes none; the check leads there on stacks that the runtime has made no room
//! on, and when that room is used up. An activation ends in the body that it began in. Few calls get there, so
//! the spare parts of all functions lie together behind the slots: what runs is about as dense as without pads.
//!
//! A body with a pad may call another without the check, which its own frame has passed: by the *inner head*, if the
//! link step says that few such calls follow one another ([`szc_abi::FieldKind::Inner`]).

use crate::arch::entry::{CHECKING_HEAD, FRAME_CHECK_BYTES, Head, OPEN_HEAD, WORD_BYTES};
use crate::rng::{Purpose, Stream};
use szc_abi::stack::{PAD_GRAIN_BYTES, PADS};
use szc_abi::{Movable, PLACEMENT_GRAIN_BYTES};

/// What copies do to frames that may have another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// Nothing.
    AsBuilt,
    /// They take a pad with them.
    Padded,
}

/// In which order functions lie in layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In one that is drawn for each layout, with gaps.
    Random,
    /// In the linker's: they are copied for the sake of their frames alone.
    Linked,
}

/// What copies are to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Order of functions.
    pub order: Order,
    /// Their frames.
    pub frames: Frames,
}

const CHECK_BYTES: u32 = FRAME_CHECK_BYTES as u32;

/// Where the parts of a slot lie, in bytes from the end of its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The body. Everything in front of it belongs to the function's first instruction.
    pub body: u32,
    /// All of the slot.
    pub bytes: u32,
    /// What lies elsewhere.
    pub spare: Option<Spare>,
}

/// Where the parts of a spare part lie, in bytes from its start, at which the body without a pad is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The rules of the body in the slot; none if those of the original hold.
    pub rules: Option<u32>,
    /// All of it, a multiple of the grain.
    pub bytes: u32,
}

impl Slot {
    /// That of a function.
    #[must_use]
    pub fn of(function: &Movable, frames: Frames) -> Self {
        let copy = function.copy_bytes();
        if frames == Frames::AsBuilt || !function.has_frame() {
            return Self { body: 0, bytes: copy, spare: None };
        }
        let rules = copy.next_multiple_of(8);
        let spare = Spare {
            rules: (function.rules_bytes > 0).then_some(rules),
            bytes: (rules + function.rules_bytes).next_multiple_of(PLACEMENT_GRAIN_BYTES),
        };
        let body = CHECK_BYTES + if function.has_inner_entry() { WORD_BYTES as u32 } else { 0 };
        Self { body, bytes: body + copy, spare: Some(spare) }
    }

    /// The head of a copy that is entered.
    #[must_use]
    pub fn open_head(self) -> Head {
        if self.body == 0 { OPEN_HEAD } else { CHECKING_HEAD }
    }

    /// Where the inner head begins, if there is one.
    #[must_use]
    pub fn inner(self) -> Option<u32> {
        (self.body > CHECK_BYTES).then_some(CHECK_BYTES)
    }

    /// Bytes of the function's spare part.
    #[must_use]
    pub fn spare_bytes(self) -> u32 {
        self.spare.map_or(0, |spare| spare.bytes)
    }
}

/// The pad of a function's frame in a layout, in bytes.
#[must_use]
#[inline(never)]
pub fn pad(layout_seed: u64, function: u32) -> u32 {
    PAD_GRAIN_BYTES * Stream::of(Purpose::FramePads, layout_seed, u64::from(function)).below(PADS)
}

/// The seed of the pads of an epoch's layout.
#[must_use]
pub fn pad_seed(seed: u64, epoch: u64) -> u64 {
    Stream::of(Purpose::FramePads, seed, epoch).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(rules_bytes: u32) -> Movable {
        Movable { size: 40, rules_bytes, flags: Movable::FLAG_FRAME, ..Movable::default() }
    }

    #[test]
    fn a_frame_with_a_pad_takes_a_check_and_a_spare_part() {
        let plain = Movable { flags: 0, ..function(24) };
        let as_built = Slot { body: 0, bytes: 40, spare: None };
        assert_eq!(Slot::of(&plain, Frames::Padded), as_built);
        assert_eq!(Slot::of(&function(24), Frames::AsBuilt), as_built);
        let spare = Some(Spare { rules: Some(40), bytes: 64 });
        let padded = Slot { body: 24, bytes: 64, spare };
        assert_eq!(Slot::of(&function(24), Frames::Padded), padded);
        let spare = Some(Spare { rules: None, bytes: 48 });
        assert_eq!(Slot::of(&function(0), Frames::Padded), Slot { spare, ..padded });
        let mut inner = function(0);
        inner.flags |= Movable::FLAG_INNER_ENTRY;
        let two_heads = Slot { body: 32, bytes: 72, spare };
        assert_eq!((padded.inner(), two_heads.inner()), (None, Some(24)));
        assert_eq!(Slot::of(&inner, Frames::Padded), two_heads);
        assert_eq!(Slot::of(&inner, Frames::AsBuilt), as_built);
    }

    #[test]
    fn pads_are_uniform_and_independent_of_neighbours_in_function_and_epoch() {
        let mut counts = [0u32; 256];
        let mut pairs = [[0u32; 16]; 16];
        let mut epochs = [[0u32; 16]; 16];
        let trials = 25_600u32;
        for epoch in 0..u64::from(trials) {
            let (now, next) = (pad_seed(3, epoch), pad_seed(3, epoch + 1));
            let grains = |seed, function| (pad(seed, function) / 16) as usize;
            counts[grains(now, 7)] += 1;
            pairs[grains(now, 7) / 16][grains(now, 8) / 16] += 1;
            epochs[grains(now, 7) / 16][grains(next, 7) / 16] += 1;
        }
        let chi = |counts: &mut dyn Iterator<Item = u32>| -> f64 {
            let expected = f64::from(trials) / 256.0;
            counts.map(|n| (f64::from(n) - expected).powi(2) / expected).sum()
        };
        // 255 degrees of freedom: 330.5 is the 0.999 quantile.
        assert!(chi(&mut counts.into_iter()) < 330.5);
        assert!(chi(&mut pairs.into_iter().flatten()) < 330.5);
        assert!(chi(&mut epochs.into_iter().flatten()) < 330.5);
    }
}
