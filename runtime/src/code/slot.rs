//! What lies in a slot: the body, what is changed to lead calls elsewhere, and for a function whose frame may have
//! another size what gives it a pad.
//!
//! ```text
//! as built   detour, body, or head, body
//! padded     head, check, [inner head,] body         elsewhere: a spare body, rules
//! ```
//!
//! Where the link step allows it, a body is entered at its first byte, and one of its first instructions becomes a jump
//! to its *detour* when calls are to go elsewhere ([`Movable::detour`]). Otherwise a *head* in front of it is entered, whose
//! `nop` becomes the jump. So is one with a pad: while it is closed nothing of its body may run, because its unwind rules
//! are only written with it.
//!
//! A *padded* function has two bodies. That in the slot takes a pad with its frame: a constant, drawn for this
//! function and layout. The other takes none; the check leads there on stacks that the runtime has made no room
//! on, and when that room is used up. An activation ends in the body that it began in. Few calls get there, so
//! the spare bodies of all functions lie together behind the slots, and one is only written when a call gets there for the
//! first time in a layout: until then the check leads to the function's stub, and the resolver looks where the stack is.
//!
//! A body with a pad may call another without the check, which its own frame has passed: by the *inner* head, if the
//! link step says that few such calls follow one another ([`szc_abi::FieldKind::Inner`]).

use crate::arch::entry::{CHECKING_HEAD, FRAME_CHECK_BYTES, OPEN_HEAD, WORD_BYTES, Word};
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

/// By what copies are entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrances {
    /// Their first bytes, where that is possible, which then change while the program runs.
    Openings,
    /// Heads alone, so that bodies never change: debuggers put breakpoints there, and are told of unwind rules.
    Heads,
}

/// What copies are to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Order of functions.
    pub order: Order,
    /// Their frames.
    pub frames: Frames,
    /// Where they are entered.
    pub entrances: Entrances,
}

/// Grain of rules: words lie in them.
const RULES_GRAIN_BYTES: u32 = 8;

const CHECK_BYTES: u32 = FRAME_CHECK_BYTES as u32;

/// A word at an end of the check, as a distance from the slot's origin.
const IN_FRONT: i32 = -(WORD_BYTES as i32);

/// Where calls come into a slot, and what changes to lead them elsewhere. Places are bytes from the slot's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// A word that is one instruction: this one, if calls go on behind it.
    Head {
        /// Its place.
        at: i32,
        /// The instruction.
        open: Word,
    },
    /// The body's first byte.
    Opening {
        /// The place of the word with the detour.
        detour: i32,
        /// Pushes that the detour undoes.
        pushes: u32,
    },
}

/// Where the parts of a slot lie, in bytes from its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The body. Everything in front of it belongs to the function's first instruction.
    pub body: u32,
    /// From the origin to the slot's end.
    pub bytes: u32,
    /// What lies elsewhere.
    pub spare: Option<Spare>,
    /// Where it is called.
    pub outer: Entrance,
    /// Where callers come in that have checked already.
    pub inner: Option<Entrance>,
}

/// What a function with two bodies has outside of its slot ([`Spares`](super::spares::Spares)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Bytes of the body without a pad, a multiple of the grain.
    pub bytes: u32,
    /// Bytes of the rules of the body in the slot, a multiple of 8; 0 if those of the original hold.
    pub rules_bytes: u32,
}

impl Slot {
    /// That of a function.
    #[must_use]
    pub fn of(function: &Movable, frames: Frames, entrances: Entrances) -> Self {
        let copy = function.copy_bytes();
        let pushes = function.detour().filter(|_| entrances == Entrances::Openings);
        let head = Entrance::Head { at: IN_FRONT, open: OPEN_HEAD };
        if frames == Frames::AsBuilt || !function.has_frame() {
            let opening = pushes.map(|pushes| Entrance::Opening { detour: IN_FRONT, pushes });
            let outer = opening.unwrap_or(head);
            return Self { body: 0, bytes: copy, spare: None, outer, inner: None };
        }
        let spare = Spare {
            bytes: copy.next_multiple_of(PLACEMENT_GRAIN_BYTES),
            rules_bytes: function.rules_bytes.next_multiple_of(RULES_GRAIN_BYTES),
        };
        let inner = function
            .has_inner_entry()
            .then_some(Entrance::Head { at: CHECK_BYTES as i32, open: OPEN_HEAD });
        let body = CHECK_BYTES + if inner.is_some() { WORD_BYTES as u32 } else { 0 };
        let outer = Entrance::Head { at: IN_FRONT, open: CHECKING_HEAD };
        Self { body, bytes: body + copy, spare: Some(spare), outer, inner }
    }

    /// Place and pushes of the detour, if there is one.
    #[must_use]
    pub fn detour(self) -> Option<(i32, u32)> {
        match self.outer {
            Entrance::Opening { detour, pushes } => Some((detour, pushes)),
            Entrance::Head { .. } => None,
        }
    }

    /// Where the code in front of the body begins that every call passes, if there is any.
    #[must_use]
    pub fn head(self) -> Option<i32> {
        match self.outer {
            Entrance::Head { at, .. } => Some(at),
            Entrance::Opening { .. } => None,
        }
    }

    /// Bytes at the beginning of the body that belong to its entrance.
    #[must_use]
    pub fn opening_bytes(self) -> u32 {
        self.detour().map_or(0, |(_, pushes)| pushes + Movable::DETOUR_JUMP_BYTES)
    }

    /// Pushes of the function's that stand when the code at a place in front of the body is about to run.
    #[must_use]
    pub fn pushes_at(self, place: i32) -> u32 {
        let undone = self.detour().and_then(|(detour, pushes)| {
            let undone = u32::try_from(place - detour).ok()?;
            pushes.checked_sub(undone)
        });
        undone.unwrap_or(0)
    }

    /// Bytes of the function's spare body.
    #[must_use]
    pub fn spare_bytes(self) -> u32 {
        self.spare.map_or(0, |spare| spare.bytes)
    }

    /// Bytes of the rules of the body in the slot.
    #[must_use]
    pub fn rules_bytes(self) -> u32 {
        self.spare.map_or(0, |spare| spare.rules_bytes)
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

    fn slot(function: &Movable, frames: Frames) -> Slot {
        Slot::of(function, frames, Entrances::Openings)
    }

    #[test]
    fn a_frame_with_a_pad_takes_a_check_and_a_spare_part() {
        let plain = Movable { flags: 0, ..function(24) };
        let outer = Entrance::Head { at: -8, open: OPEN_HEAD };
        let as_built = Slot { body: 0, bytes: 40, spare: None, outer, inner: None };
        assert_eq!(slot(&plain, Frames::Padded), as_built);
        assert_eq!(slot(&function(24), Frames::AsBuilt), as_built);
        let spare = Some(Spare { bytes: 48, rules_bytes: 24 });
        let outer = Entrance::Head { at: -8, open: CHECKING_HEAD };
        let padded = Slot { body: 24, bytes: 64, spare, outer, ..as_built };
        assert_eq!(slot(&function(24), Frames::Padded), padded);
        let spare = Some(Spare { bytes: 48, rules_bytes: 0 });
        assert_eq!(slot(&function(0), Frames::Padded), Slot { spare, ..padded });
        let mut called = function(0);
        called.flags |= Movable::FLAG_INNER_ENTRY;
        let inner = Some(Entrance::Head { at: 24, open: OPEN_HEAD });
        let two_heads = Slot { body: 32, bytes: 72, spare, inner, ..padded };
        assert_eq!(slot(&called, Frames::Padded), two_heads);
        assert_eq!(slot(&called, Frames::AsBuilt), as_built);
        assert_eq!(two_heads.opening_bytes(), 0);
    }

    #[test]
    fn a_body_with_a_detour_is_entered_without_a_head() {
        let mut simple = Movable { flags: Movable::detour_flags(0), ..function(0) };
        let opened = slot(&simple, Frames::Padded);
        assert_eq!(opened.outer, Entrance::Opening { detour: -8, pushes: 0 });
        assert_eq!((opened.body, opened.head(), opened.opening_bytes()), (0, None, 2));
        let told = Slot::of(&simple, Frames::Padded, Entrances::Heads);
        assert_eq!(told.outer, Entrance::Head { at: -8, open: OPEN_HEAD });
        // The pop, and the jump behind it.
        simple.flags = Movable::detour_flags(1);
        let pushed = slot(&simple, Frames::Padded);
        assert_eq!(pushed.opening_bytes(), 3);
        assert_eq!([-8, -7, -3].map(|place| pushed.pushes_at(place)), [1, 0, 0]);
    }

    #[test]
    fn nothing_of_a_body_with_a_pad_runs_while_it_is_closed() {
        let mut padded = function(24);
        padded.flags |= Movable::detour_flags(1) | Movable::FLAG_INNER_ENTRY;
        let slot = slot(&padded, Frames::Padded);
        assert_eq!((slot.detour(), slot.opening_bytes()), (None, 0));
        assert_eq!(slot.pushes_at(-8), 0);
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
