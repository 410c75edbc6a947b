//! Patchable entries: where calls come into a layout's slots, and where they go on. An entry is
//! *unresolved*, and leads to the resolver by way of the function's stub; *resolved*, and leads
//! into the body; or *forwarded* to a newer copy. So are the checks of frames with pads, which go
//! on in the unpadded clone or at the stub. All of it changes while threads run, by one store of an
//! aligned word each.
#![forbid(unsafe_code)]

use crate::layout_ref::LayoutRef;
use szc_abi::Movable;
use szc_layout::arch::patch::{self, RESOLVED_ENTRY, Word};
use szc_layout::arch::stack_check::{
    self, CHECK_ENTRY_AT, CHECK_HOT_PATCH_POINT, FULL_CHECK_BYTES, FULL_CHECK_JUMP_AT,
};
use szc_layout::slot::{EntryKind, FunctionSlot, WORD_IN_FRONT};

/// All entries of a function in a layout.
#[derive(Clone, Copy)]
pub struct PatchableEntry<'a> {
    layout: LayoutRef<'a>,
    function: u32,
    slot: FunctionSlot,
}

/// Code whose first word changes to lead calls elsewhere.
#[derive(Clone, Copy)]
struct HotPatchPoint {
    /// Its address.
    at: usize,
    /// Its first bytes while it is resolved.
    resolved: Word,
    /// How many of them stay in front of those that become a jump.
    kept: u32,
    /// Where in the undo trampoline the jump leads.
    target: usize,
}

impl HotPatchPoint {
    /// The bytes that are kept, and those that change.
    fn mask(self) -> Word {
        patch::first_bytes(self.kept + Movable::HOT_PATCH_BYTES)
    }

    /// Its first bytes while calls go elsewhere.
    fn patched(self) -> Word {
        patch::retargeted(self.at, self.resolved, self.kept, self.target)
    }
}

impl<'a> PatchableEntry<'a> {
    /// Those of a function.
    #[inline]
    pub fn of(layout: LayoutRef<'a>, function: u32) -> Self {
        Self { layout, function, slot: layout.image.slot(function) }
    }

    /// Makes calls go on in the body, whose bytes must have been there when all cores were
    /// synchronized last.
    pub fn resolve(self) {
        if self.slot.outer == EntryKind::NoOp {
            return self.layout.arena.set_word(self.word_in_front(), RESOLVED_ENTRY);
        }
        // What the outer one goes on to comes first.
        for point in self.points().rev() {
            self.layout.arena.change_word(point.at, point.resolved, point.mask());
        }
    }

    /// Makes calls go to `target`, by whichever entry.
    pub fn forward(self, target: usize) {
        // The way is there before anyone is sent there; an older one stays valid for who fetched
        // it.
        self.layout.arena.set_word(self.word_in_front(), self.way_on(target));
        for point in self.points() {
            self.layout.arena.change_word(point.at, point.patched(), point.mask());
        }
    }

    /// Makes the next call ask the resolver.
    pub fn unresolve(self) {
        self.forward(self.layout.stub(self.function));
    }

    /// Whether what changes here is seen by this process alone. Memory of its own may be refused.
    pub fn is_own(self) -> bool {
        let points = self.points().map(|point| point.at);
        let mut all = core::iter::once(self.word_in_front()).chain(points);
        all.all(|at| self.layout.arena.take_bytes(at, 1))
    }

    /// Whether calls ask the resolver.
    pub fn is_unresolved(self) -> bool {
        let word_at = |at| self.layout.arena.load(at);
        let is_patched =
            |point: HotPatchPoint| (word_at(point.at) ^ point.patched()) & point.mask() == 0;
        word_at(self.word_in_front()) == self.way_on(self.layout.stub(self.function))
            && self.points().next().is_none_or(is_patched)
    }

    /// Address of the no-op or the undo trampoline.
    fn word_in_front(self) -> usize {
        self.layout.origin(self.function).wrapping_add_signed(WORD_IN_FRONT as isize)
    }

    /// The no-op's jump, or the undo trampoline, that leads to an address.
    fn way_on(self, target: usize) -> Word {
        let pushes = self.slot.undone_pushes().unwrap_or(0);
        let first = self.layout.image.first_bytes(self.function);
        patch::undo_trampoline(self.word_in_front(), target, first, pushes)
    }

    /// The hot-patch points, the outer one first; nothing if that is a no-op.
    fn points(self) -> impl DoubleEndedIterator<Item = HotPatchPoint> {
        let (origin, trampoline) = (self.layout.origin(self.function), self.word_in_front());
        let pushes = self.slot.undone_pushes().unwrap_or(0);
        let first = self.layout.image.first_bytes(self.function);
        let body = origin + self.slot.body as usize;
        self.slot.entries().filter_map(move |entry| match entry {
            EntryKind::NoOp => None,
            // No push has been executed there.
            EntryKind::Check => Some(HotPatchPoint {
                at: origin,
                resolved: CHECK_HOT_PATCH_POINT,
                kept: CHECK_ENTRY_AT as u32,
                target: trampoline + pushes as usize,
            }),
            EntryKind::Body => {
                Some(HotPatchPoint { at: body, resolved: first, kept: pushes, target: trampoline })
            }
        })
    }

    /// Makes the checks of a function that was copied and has some go on in its unpadded clone,
    /// whose bytes must have been there when all cores were synchronized last.
    pub fn retarget_checks_to_clone(self) {
        self.retarget_checks(self.layout.unpadded(self.function));
    }

    /// Makes such checks ask the resolver.
    pub fn retarget_checks_to_stub(self) {
        self.retarget_checks(self.layout.stub(self.function));
    }

    fn retarget_checks(self, target: usize) {
        let (at, word) = self.checks_led_to(target);
        self.layout.arena.set_word(at, word);
    }

    /// Whether such checks go on in the unpadded clone.
    pub fn has_checks_to_clone(self) -> bool {
        let (at, word) = self.checks_led_to(self.layout.unpadded(self.function));
        self.layout.arena.load(at) == word
    }

    /// The word with the last jump of the full check, and what it is if it leads to an address.
    fn checks_led_to(self, target: usize) -> (usize, Word) {
        let full_check = self.layout.full_check(self.function);
        let at = full_check + FULL_CHECK_JUMP_AT;
        // Only the holder of the lock changes it, so it is the same until it is stored.
        let word = self.layout.arena.load(at);
        (at, stack_check::full_check_jump(full_check + FULL_CHECK_BYTES, target, word))
    }
}
