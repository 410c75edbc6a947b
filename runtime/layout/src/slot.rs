//! What lies in a function slot: the body, its patchable entries, and for a function whose frame
//! may have another size what gives it a pad.
//!
//! ```text
//! as built   undo trampoline, body; or no-op, body
//! padded     undo trampoline or no-op, stack-room check, body
//!            elsewhere: FDE, a full check, an unpadded clone
//! ```
//!
//! Where the link step allows it, a body is entered at its first byte, and one of its first
//! instructions is the hot-patch point: it becomes a jump to the *undo trampoline* when calls are
//! to go elsewhere ([`Movable::hot_patch_point`]). Otherwise a *no-op* in front of the body is
//! entered, which itself becomes the jump.
//!
//! A *padded* function has two bodies. That in the slot takes a pad with its frame: a constant,
//! drawn for this function and layout. The other, the unpadded clone, takes none; the stack-room
//! check leads there on stacks without a pad reserve, and when the reserve is used up. An
//! activation ends in the body that it began in. Few calls get there, so the clones of all
//! functions lie together behind the slots, and one is only written when a call gets there for the
//! first time in a layout: until then the check leads to the function's stub, and the resolver
//! looks where the stack is.
//!
//! The check in the slot is what the main thread needs: one comparison. Where that does not say
//! enough, it leads to the full one, which lies behind the slots, too. A check's hot-patch point is
//! its first instruction.
//!
//! A body with a pad may call another without the check, which its own frame has passed: at its
//! first byte, if it has an undo trampoline and the link step says that few such calls follow one
//! another ([`szc_abi::FieldKind::Inner`]). What then runs of a body that is unresolved, its
//! pushes, moves the stack as in the original, whose FDE holds there.

use crate::arch::injected::Injected;
use crate::arch::patch::WORD_BYTES;
use crate::arch::stack_check::{CHECK_BYTES, FULL_CHECK_BYTES};
use crate::held::{HeldFrame, HeldFunction, MAX_HELD};
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

/// Where copies are entered, and so what changes to lead calls elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patching {
    /// Their first bytes, where that is possible, which then change while the program runs.
    Bodies,
    /// No-ops in front of them alone, so that bodies never change: debuggers put breakpoints
    /// there, and FDEs are registered for them.
    NoOps,
}

/// What copies are to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyShape {
    /// Order of functions.
    pub order: Order,
    /// Their frames.
    pub frames: Frames,
    /// Where they are entered.
    pub patching: Patching,
    /// Functions that lie at one offset each in all random layouts.
    pub held: [Option<HeldFunction>; MAX_HELD],
    /// A function whose pad is held.
    pub held_frame: Option<HeldFrame>,
    /// Whether it is noted where the stack is at first calls.
    pub notes_calls: bool,
    /// A function in front of which something is computed.
    pub injected: Option<InjectedFunction>,
}

/// A function whose calls take longer, by a computation where its original was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectedFunction {
    /// Digest of its name.
    pub name: u64,
    /// What is computed at each call.
    pub code: Injected,
}

/// Grain of FDEs: words lie in them.
const FDE_GRAIN_BYTES: u32 = 8;

/// The word in front of the slot's origin, a no-op or an undo trampoline, as a distance from there.
pub const WORD_IN_FRONT: i32 = -(WORD_BYTES as i32);

/// Where calls come into a slot, and what is patched to lead them elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The word in front of the origin, which is one instruction.
    NoOp,
    /// The check at the origin. It goes on elsewhere by the undo trampoline's jump.
    Check,
    /// The body's first byte.
    Body,
}

/// Where the parts of a slot lie, in bytes from its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionSlot {
    /// The body. Everything in front of it belongs to the function's first instruction.
    pub body: u32,
    /// From the origin to the slot's end.
    pub bytes: u32,
    /// What lies elsewhere.
    pub padded: Option<PaddedParts>,
    /// Where it is called.
    pub outer: EntryKind,
    /// Whether callers that have checked already come in at the body's first byte.
    pub inner: bool,
    /// Pushes at the beginning of the body that its undo trampoline undoes, if it is entered there.
    pushes: u32,
}

/// What a function with two bodies has outside of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaddedParts {
    /// Bytes of the unpadded clone, a multiple of the grain.
    pub clone_bytes: u32,
    /// Bytes of the FDE of the body in the slot, a multiple of 8; 0 if that of the original holds.
    pub fde_bytes: u32,
}

impl FunctionSlot {
    /// That of a function.
    #[must_use]
    pub fn of(function: &Movable, frames: Frames, patching: Patching) -> Self {
        let copy = function.copy_bytes();
        let pushes = function.hot_patch_point().filter(|_| patching == Patching::Bodies);
        if frames == Frames::AsBuilt || !function.has_frame() {
            let outer = if pushes.is_some() { EntryKind::Body } else { EntryKind::NoOp };
            let pushes = pushes.unwrap_or(0);
            return Self { body: 0, bytes: copy, padded: None, outer, inner: false, pushes };
        }
        let parts = PaddedParts {
            clone_bytes: copy.next_multiple_of(PLACEMENT_GRAIN_BYTES),
            fde_bytes: function.fde_bytes.next_multiple_of(FDE_GRAIN_BYTES),
        };
        let pushes = pushes.filter(|_| function.has_inner_entry());
        let body = CHECK_BYTES as u32;
        Self {
            body,
            bytes: body + copy,
            padded: Some(parts),
            outer: match patching {
                Patching::Bodies => EntryKind::Check,
                Patching::NoOps => EntryKind::NoOp,
            },
            inner: pushes.is_some(),
            pushes: pushes.unwrap_or(0),
        }
    }

    /// All entries, the outer one first.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = EntryKind> {
        [Some(self.outer), self.inner.then_some(EntryKind::Body)].into_iter().flatten()
    }

    /// Pushes that the undo trampoline undoes, if there is one.
    #[must_use]
    pub fn undone_pushes(self) -> Option<u32> {
        (self.outer != EntryKind::NoOp).then_some(self.pushes)
    }

    /// Where the code in front of the body begins that leaves the stack alone, if there is any.
    #[must_use]
    pub fn front(self) -> Option<i32> {
        match self.outer {
            EntryKind::NoOp => Some(WORD_IN_FRONT),
            EntryKind::Check => Some(0),
            EntryKind::Body => None,
        }
    }

    /// Bytes at the beginning of the body up to the end of its hot-patch point.
    #[must_use]
    pub fn hot_patch_bytes(self) -> u32 {
        let is_entered = self.inner || self.outer == EntryKind::Body;
        if is_entered { self.pushes + Movable::HOT_PATCH_BYTES } else { 0 }
    }

    /// Pushes of the function's that stand when the code at a place in front of the body is about
    /// to run.
    #[must_use]
    pub fn pushes_at(self, place: i32) -> u32 {
        let undone = self.undone_pushes().and_then(|pushes| {
            let undone = u32::try_from(place - WORD_IN_FRONT).ok()?;
            pushes.checked_sub(undone)
        });
        undone.unwrap_or(0)
    }

    /// Bytes of the function's unpadded clone.
    #[must_use]
    pub fn clone_bytes(self) -> u32 {
        self.padded.map_or(0, |parts| parts.clone_bytes)
    }

    /// Bytes of the function's full check.
    #[must_use]
    pub fn full_check_bytes(self) -> u32 {
        self.padded.map_or(0, |_| FULL_CHECK_BYTES as u32)
    }

    /// Bytes of the FDE of the body in the slot.
    #[must_use]
    pub fn fde_bytes(self) -> u32 {
        self.padded.map_or(0, |parts| parts.fde_bytes)
    }
}

/// The pad of the frame of a function of that name in a layout, in bytes.
#[must_use]
#[inline(never)]
pub fn pad(layout_seed: u64, name: u64) -> u32 {
    PAD_GRAIN_BYTES * Stream::of(Purpose::FramePads, layout_seed, name).below(PADS)
}

/// The seed of the pads of an epoch's layout.
#[must_use]
pub fn pad_seed(seed: u64, epoch: u64) -> u64 {
    Stream::of(Purpose::FramePads, seed, epoch).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(fde_bytes: u32) -> Movable {
        Movable { size: 40, fde_bytes, flags: Movable::FLAG_FRAME, ..Movable::default() }
    }

    fn slot(function: &Movable, frames: Frames) -> FunctionSlot {
        FunctionSlot::of(function, frames, Patching::Bodies)
    }

    #[test]
    fn a_frame_with_a_pad_takes_a_check_and_an_unpadded_clone() {
        let plain = Movable { flags: 0, ..function(24) };
        let outer = EntryKind::NoOp;
        let as_built =
            FunctionSlot { body: 0, bytes: 40, padded: None, outer, inner: false, pushes: 0 };
        assert_eq!(slot(&plain, Frames::Padded), as_built);
        assert_eq!(slot(&function(24), Frames::AsBuilt), as_built);
        let parts = Some(PaddedParts { clone_bytes: 48, fde_bytes: 24 });
        let outer = EntryKind::Check;
        let padded = FunctionSlot { body: 16, bytes: 56, padded: parts, outer, ..as_built };
        assert_eq!(slot(&function(24), Frames::Padded), padded);
        let parts = Some(PaddedParts { clone_bytes: 48, fde_bytes: 0 });
        assert_eq!(slot(&function(0), Frames::Padded), FunctionSlot { padded: parts, ..padded });
        let exported = FunctionSlot::of(&function(24), Frames::Padded, Patching::NoOps);
        assert_eq!(exported, FunctionSlot { outer: EntryKind::NoOp, ..padded });
        assert_eq!((exported.front(), exported.undone_pushes()), (Some(-8), None));
    }

    #[test]
    fn a_body_with_a_hot_patch_point_is_entered_without_a_no_op() {
        let mut simple = Movable { flags: Movable::hot_patch_flags(0), ..function(0) };
        let patched = slot(&simple, Frames::Padded);
        assert_eq!((patched.outer, patched.undone_pushes()), (EntryKind::Body, Some(0)));
        assert_eq!((patched.body, patched.front(), patched.hot_patch_bytes()), (0, None, 2));
        let exported = FunctionSlot::of(&simple, Frames::Padded, Patching::NoOps);
        assert_eq!(
            (exported.outer, exported.undone_pushes(), exported.hot_patch_bytes()),
            (EntryKind::NoOp, None, 0)
        );
        // The pop, and the jump behind it.
        simple.flags = Movable::hot_patch_flags(1);
        let pushed = slot(&simple, Frames::Padded);
        assert_eq!(pushed.hot_patch_bytes(), 3);
        assert_eq!([-8, -7, -3].map(|place| pushed.pushes_at(place)), [1, 0, 0]);
    }

    #[test]
    fn inner_calls_enter_behind_the_check_if_the_body_has_a_hot_patch_point() {
        let entries = |slot: FunctionSlot| slot.entries().collect::<Vec<_>>();
        let mut padded = function(24);
        padded.flags |= Movable::FLAG_INNER_ENTRY;
        let without = slot(&padded, Frames::Padded);
        assert_eq!(entries(without), [EntryKind::Check]);
        assert_eq!((without.undone_pushes(), without.hot_patch_bytes()), (Some(0), 0));
        padded.flags |= Movable::hot_patch_flags(1);
        let both = slot(&padded, Frames::Padded);
        assert_eq!(entries(both), [EntryKind::Check, EntryKind::Body]);
        assert_eq!(
            (both.undone_pushes(), both.hot_patch_bytes(), both.front()),
            (Some(1), 3, Some(0))
        );
        // In the undo trampoline a push stands, in the check none does.
        assert_eq!([-8, -7, 0, 15].map(|place| both.pushes_at(place)), [1, 0, 0, 0]);
        // Nobody comes in there otherwise, so nothing is to be undone.
        padded.flags &= !Movable::FLAG_INNER_ENTRY;
        let outer = slot(&padded, Frames::Padded);
        assert_eq!((outer.undone_pushes(), outer.hot_patch_bytes()), (Some(0), 0));
        assert_eq!(entries(slot(&padded, Frames::AsBuilt)), [EntryKind::Body]);
    }

    #[test]
    fn pads_are_uniform_and_independent_of_neighbours_in_name_and_epoch() {
        let mut counts = [0u32; 256];
        let mut pairs = [[0u32; 16]; 16];
        let mut epochs = [[0u32; 16]; 16];
        let trials = 25_600u32;
        for epoch in 0..u64::from(trials) {
            let (now, next) = (pad_seed(3, epoch), pad_seed(3, epoch + 1));
            let grains = |seed, name| (pad(seed, name) / 16) as usize;
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
