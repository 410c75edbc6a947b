//! What lies in a slot behind its head: the body, and for a function whose frame may have another size what
//! gives it a pad.
//!
//! ```text
//! as built   body
//! padded     check, body, rules, body
//! ```
//!
//! A *padded* slot has two bodies. The first takes a pad with its frame: a constant, drawn for this function and
//! layout. The second takes none; the check in front of both leads there on stacks that the runtime has made no
//! room on, and when that room is used up. An activation ends in the body that it began in.

use crate::arch::entry::FRAME_CHECK_BYTES;
use crate::rng::{Purpose, Stream};
use szc_abi::stack::PAD_GRAIN_BYTES;
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

/// Values that a pad can have.
const PADS: u32 = 256;

/// Where the parts of a slot lie, in bytes from the end of its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The first body. Everything in front of it belongs to the function's first instruction.
    pub body: u32,
    /// The body without a pad, where there are two.
    pub plain_body: Option<u32>,
    /// The rules of the first body; none if those of the original hold.
    pub rules: Option<u32>,
    /// All of the slot.
    pub bytes: u32,
}

impl Slot {
    /// That of a function.
    #[must_use]
    pub fn of(function: &Movable, frames: Frames) -> Self {
        let copy = function.copy_bytes();
        if frames == Frames::AsBuilt || !function.has_frame() {
            return Self { body: 0, plain_body: None, rules: None, bytes: copy };
        }
        let body = FRAME_CHECK_BYTES as u32;
        let behind = (body + copy).next_multiple_of(8);
        let rules = (function.rules_bytes > 0).then_some(behind);
        let plain_body = (behind + function.rules_bytes).next_multiple_of(PLACEMENT_GRAIN_BYTES);
        Self { body, plain_body: Some(plain_body), rules, bytes: plain_body + copy }
    }

    /// Where an offset from the end of the head lies in the original function, and where the rules for it lie if
    /// not in the image. In front of the first body nothing of the function has run yet.
    #[must_use]
    pub fn origin(self, offset: u32) -> (u32, Option<u32>) {
        let start = match self.plain_body {
            Some(plain) if offset >= plain => plain,
            _ => self.body,
        };
        match offset.checked_sub(start) {
            Some(inside) => (inside, self.rules.filter(|_| start == self.body)),
            None => (0, None),
        }
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
    fn the_parts_of_a_slot_follow_one_another() {
        let plain = Movable { flags: 0, ..function(0) };
        for frames in [Frames::AsBuilt, Frames::Padded] {
            assert_eq!(Slot::of(&plain, frames).bytes, 40);
        }
        assert_eq!(Slot::of(&function(24), Frames::AsBuilt).bytes, 40);
        let padded = Slot::of(&function(24), Frames::Padded);
        let expected = Slot { body: 32, plain_body: Some(96), rules: Some(72), bytes: 136 };
        assert_eq!(padded, expected);
        assert_eq!(Slot::of(&function(0), Frames::Padded).plain_body, Some(80));
    }

    #[test]
    fn every_byte_of_both_bodies_leads_to_the_same_byte_of_the_original() {
        let slot = Slot::of(&function(24), Frames::Padded);
        assert_eq!(slot.origin(0), (0, None));
        assert_eq!(slot.origin(31), (0, None));
        assert_eq!(slot.origin(32), (0, Some(72)));
        assert_eq!(slot.origin(71), (39, Some(72)));
        assert_eq!(slot.origin(96 + 7), (7, None));
        let slot = Slot::of(&function(0), Frames::Padded);
        assert_eq!(slot.origin(40), (8, None));
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
