//! What lies in a slot: the body, what is changed to lead calls elsewhere, and for a function whose
//! frame may have another size what gives it a pad.
//!
//! ```text
//! as built   detour, body, or head, body
//! padded     detour or head, check, body         elsewhere: rules, a full check, a spare body
//! ```
//!
//! Where the link step allows it, a body is entered at its first byte, and one of its first
//! instructions becomes a jump to its *detour* when calls are to go elsewhere
//! ([`Movable::detour`]). Otherwise a *head* in front of it is entered, whose `nop` becomes the
//! jump.
//!
//! A *padded* function has two bodies. That in the slot takes a pad with its frame: a constant,
//! drawn for this function and layout. The other takes none; the check leads there on stacks that
//! the runtime has made no room on, and when that room is used up. An activation ends in the body
//! that it began in. Few calls get there, so the spare bodies of all functions lie together behind
//! the slots, and one is only written when a call gets there for the first time in a layout: until
//! then the check leads to the function's stub, and the resolver looks where the stack is.
//!
//! The *check* in the slot is what the main thread needs: one comparison. Where that does not say
//! enough, it leads to the full one, which lies behind the slots, too. A check is left at its first
//! instruction, by the slot's detour.
//!
//! A body with a pad may call another without the check, which its own frame has passed: at its
//! first byte, if it has a detour and the link step says that few such calls follow one another
//! ([`szc_abi::FieldKind::Inner`]). What then runs of a body that is closed, its pushes, moves the
//! stack as in the original, whose unwind rules hold there.

use crate::arch::check::{CHECK_BYTES, FULL_CHECK_BYTES};
use crate::arch::entry::WORD_BYTES;
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
    /// Heads alone, so that bodies never change: debuggers put breakpoints there, and are told of
    /// unwind rules.
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

/// The word in front of the slot's origin, a head or a detour, as a distance from there.
pub const WORD_IN_FRONT: i32 = -(WORD_BYTES as i32);

/// Where calls come into a slot, and what changes to lead them elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// The word in front of the origin, which is one instruction.
    Head,
    /// The check at the origin. It goes on elsewhere by the detour's jump.
    Check,
    /// The body's first byte.
    Body,
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
    /// Whether callers that have checked already come in at the body's first byte.
    pub inner: bool,
    /// Pushes at the beginning of the body that its detour undoes, if it is entered there.
    pushes: u32,
}

/// What a function with two bodies has outside of its slot ([`Spares`](super::spares::Spares)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Bytes of the body without a pad, a multiple of the grain.
    pub bytes: u32,
    /// Bytes of the rules of the body in the slot, a multiple of 8; 0 if those of the original
    /// hold.
    pub rules_bytes: u32,
}

impl Slot {
    /// That of a function.
    #[must_use]
    pub fn of(function: &Movable, frames: Frames, entrances: Entrances) -> Self {
        let copy = function.copy_bytes();
        let pushes = function.detour().filter(|_| entrances == Entrances::Openings);
        if frames == Frames::AsBuilt || !function.has_frame() {
            let outer = if pushes.is_some() { Entrance::Body } else { Entrance::Head };
            let pushes = pushes.unwrap_or(0);
            return Self { body: 0, bytes: copy, spare: None, outer, inner: false, pushes };
        }
        let spare = Spare {
            bytes: copy.next_multiple_of(PLACEMENT_GRAIN_BYTES),
            rules_bytes: function.rules_bytes.next_multiple_of(RULES_GRAIN_BYTES),
        };
        let pushes = pushes.filter(|_| function.has_inner_entry());
        let body = CHECK_BYTES as u32;
        Self {
            body,
            bytes: body + copy,
            spare: Some(spare),
            outer: match entrances {
                Entrances::Openings => Entrance::Check,
                Entrances::Heads => Entrance::Head,
            },
            inner: pushes.is_some(),
            pushes: pushes.unwrap_or(0),
        }
    }

    /// All entrances, the outer one first.
    pub fn entrances(self) -> impl DoubleEndedIterator<Item = Entrance> {
        [Some(self.outer), self.inner.then_some(Entrance::Body)].into_iter().flatten()
    }

    /// Pushes that the detour undoes, if there is one.
    #[must_use]
    pub fn detour(self) -> Option<u32> {
        (self.outer != Entrance::Head).then_some(self.pushes)
    }

    /// Where the code in front of the body begins that leaves the stack alone, if there is any.
    #[must_use]
    pub fn front(self) -> Option<i32> {
        match self.outer {
            Entrance::Head => Some(WORD_IN_FRONT),
            Entrance::Check => Some(0),
            Entrance::Body => None,
        }
    }

    /// Bytes at the beginning of the body that belong to an entrance.
    #[must_use]
    pub fn opening_bytes(self) -> u32 {
        let is_entered = self.inner || self.outer == Entrance::Body;
        if is_entered { self.pushes + Movable::DETOUR_JUMP_BYTES } else { 0 }
    }

    /// Pushes of the function's that stand when the code at a place in front of the body is about
    /// to run.
    #[must_use]
    pub fn pushes_at(self, place: i32) -> u32 {
        let undone = self.detour().and_then(|pushes| {
            let undone = u32::try_from(place - WORD_IN_FRONT).ok()?;
            pushes.checked_sub(undone)
        });
        undone.unwrap_or(0)
    }

    /// Bytes of the function's spare body.
    #[must_use]
    pub fn spare_bytes(self) -> u32 {
        self.spare.map_or(0, |spare| spare.bytes)
    }

    /// Bytes of the function's full check.
    #[must_use]
    pub fn full_check_bytes(self) -> u32 {
        self.spare.map_or(0, |_| FULL_CHECK_BYTES as u32)
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
        let outer = Entrance::Head;
        let as_built = Slot { body: 0, bytes: 40, spare: None, outer, inner: false, pushes: 0 };
        assert_eq!(slot(&plain, Frames::Padded), as_built);
        assert_eq!(slot(&function(24), Frames::AsBuilt), as_built);
        let spare = Some(Spare { bytes: 48, rules_bytes: 24 });
        let outer = Entrance::Check;
        let padded = Slot { body: 16, bytes: 56, spare, outer, ..as_built };
        assert_eq!(slot(&function(24), Frames::Padded), padded);
        let spare = Some(Spare { bytes: 48, rules_bytes: 0 });
        assert_eq!(slot(&function(0), Frames::Padded), Slot { spare, ..padded });
        let told = Slot::of(&function(24), Frames::Padded, Entrances::Heads);
        assert_eq!(told, Slot { outer: Entrance::Head, ..padded });
        assert_eq!((told.front(), told.detour()), (Some(-8), None));
    }

    #[test]
    fn a_body_with_a_detour_is_entered_without_a_head() {
        let mut simple = Movable { flags: Movable::detour_flags(0), ..function(0) };
        let opened = slot(&simple, Frames::Padded);
        assert_eq!((opened.outer, opened.detour()), (Entrance::Body, Some(0)));
        assert_eq!((opened.body, opened.front(), opened.opening_bytes()), (0, None, 2));
        let told = Slot::of(&simple, Frames::Padded, Entrances::Heads);
        assert_eq!((told.outer, told.detour(), told.opening_bytes()), (Entrance::Head, None, 0));
        // The pop, and the jump behind it.
        simple.flags = Movable::detour_flags(1);
        let pushed = slot(&simple, Frames::Padded);
        assert_eq!(pushed.opening_bytes(), 3);
        assert_eq!([-8, -7, -3].map(|place| pushed.pushes_at(place)), [1, 0, 0]);
    }

    #[test]
    fn who_has_checked_already_comes_in_behind_the_check_if_there_is_a_detour() {
        let entrances = |slot: Slot| slot.entrances().collect::<Vec<_>>();
        let mut padded = function(24);
        padded.flags |= Movable::FLAG_INNER_ENTRY;
        let without = slot(&padded, Frames::Padded);
        assert_eq!(entrances(without), [Entrance::Check]);
        assert_eq!((without.detour(), without.opening_bytes()), (Some(0), 0));
        padded.flags |= Movable::detour_flags(1);
        let both = slot(&padded, Frames::Padded);
        assert_eq!(entrances(both), [Entrance::Check, Entrance::Body]);
        assert_eq!((both.detour(), both.opening_bytes(), both.front()), (Some(1), 3, Some(0)));
        // In the detour a push stands, in the check none does.
        assert_eq!([-8, -7, 0, 15].map(|place| both.pushes_at(place)), [1, 0, 0, 0]);
        // Nobody comes in there otherwise, so nothing is to be undone.
        padded.flags &= !Movable::FLAG_INNER_ENTRY;
        let outer = slot(&padded, Frames::Padded);
        assert_eq!((outer.detour(), outer.opening_bytes()), (Some(0), 0));
        assert_eq!(entrances(slot(&padded, Frames::AsBuilt)), [Entrance::Body]);
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
