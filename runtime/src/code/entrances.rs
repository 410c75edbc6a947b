//! Where calls come into a layout's slots, and where they go on: entrances that are opened, closed
//! and sent on, and the checks of frames with pads. All of it changes while threads run, by one
//! store of an aligned word each.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use super::slot::{Entrance, Slot, WORD_IN_FRONT};
use crate::arch::check::{
    self, CHECK_ENTRY_AT, CHECK_OPENING, FULL_CHECK_BYTES, FULL_CHECK_JUMP_AT,
};
use crate::arch::entry::{self, OPEN_HEAD, WORD_BYTES, Word};
use core::sync::atomic::{AtomicU64, Ordering};
use szc_abi::Movable;

/// Code whose first word changes to lead calls elsewhere.
#[derive(Clone, Copy)]
struct Opening {
    /// Its address.
    at: usize,
    /// Its first bytes while it is open.
    open: Word,
    /// How many of them stay in front of those that become a jump.
    kept: u32,
    /// Where in the detour the jump leads.
    target: usize,
}

impl Opening {
    /// The bytes that are kept, and those that change.
    fn mask(self) -> Word {
        entry::first_bytes(self.kept + Movable::DETOUR_JUMP_BYTES)
    }

    /// Its first bytes while calls go elsewhere.
    fn left(self) -> Word {
        entry::left(self.at, self.open, self.kept, self.target)
    }

    /// Makes its first bytes these.
    fn set(self, arena: &Arena, first: Word) {
        change_word(arena, self.at, first, self.mask());
    }

    /// Whether they are these.
    fn has(self, arena: &Arena, first: Word) -> bool {
        let word = word_at(arena, self.at).load(Ordering::Relaxed);
        (word ^ first) & self.mask() == 0
    }
}

impl Region {
    /// Opens the entrances of the functions copied since the first `from`. All cores must have been
    /// synchronized since their bytes were written.
    pub fn open_copies(&self, image: &Image, arena: &Arena, from: u32) {
        for index in from..self.copied_count() {
            self.open(image, arena, self.copied(index));
        }
    }

    /// Opens the entrances of a function that was copied; as [`Self::open_copies`].
    pub fn open(&self, image: &Image, arena: &Arena, function: u32) {
        let slot = image.slot(function);
        if slot.outer == Entrance::Head {
            return set_word(arena, self.word_in_front(arena, function), OPEN_HEAD);
        }
        // What the outer one goes on to comes first.
        for opening in self.openings(image, arena, function, slot).rev() {
            opening.set(arena, opening.open);
        }
    }

    /// Makes calls of a function's slot go to `target`, by whichever entrance.
    pub fn send_on(&self, image: &Image, arena: &Arena, function: u32, target: usize) {
        let (slot, in_front) = (image.slot(function), self.word_in_front(arena, function));
        // The way is there before anyone is sent there; an older one stays valid for who fetched
        // it.
        set_word(arena, in_front, self.way_on(image, arena, function, slot, target));
        for opening in self.openings(image, arena, function, slot) {
            opening.set(arena, opening.left());
        }
    }

    /// Makes the next call of a function's slot ask the resolver.
    pub fn close(&self, image: &Image, arena: &Arena, function: u32) {
        self.send_on(image, arena, function, self.stub(arena, function));
    }

    /// Whether calls of a function's slot ask the resolver.
    pub fn is_closed(&self, image: &Image, arena: &Arena, function: u32) -> bool {
        let (slot, stub) = (image.slot(function), self.stub(arena, function));
        let in_front = word_at(arena, self.word_in_front(arena, function));
        let is_left = |opening: Opening| opening.has(arena, opening.left());
        in_front.load(Ordering::Relaxed) == self.way_on(image, arena, function, slot, stub)
            && self.openings(image, arena, function, slot).next().is_none_or(is_left)
    }

    /// Address of the head or the detour of a function's slot.
    fn word_in_front(&self, arena: &Arena, function: u32) -> usize {
        self.body(arena, function).wrapping_add_signed(WORD_IN_FRONT as isize)
    }

    /// The head of a slot, or its detour, that leads to an address.
    fn way_on(
        &self,
        image: &Image,
        arena: &Arena,
        function: u32,
        slot: Slot,
        target: usize,
    ) -> Word {
        let at = self.word_in_front(arena, function);
        entry::detour(at, target, image.first_bytes(function), slot.detour().unwrap_or(0))
    }

    /// What changes at a slot's entrances, the outer one first; nothing if that is a head.
    fn openings(
        &self,
        image: &Image,
        arena: &Arena,
        function: u32,
        slot: Slot,
    ) -> impl DoubleEndedIterator<Item = Opening> {
        let (origin, detour) = (self.body(arena, function), self.word_in_front(arena, function));
        let (pushes, first) = (slot.detour().unwrap_or(0), image.first_bytes(function));
        slot.entrances().filter_map(move |entrance| match entrance {
            Entrance::Head => None,
            // No push has been executed there.
            Entrance::Check => Some(Opening {
                at: origin,
                open: CHECK_OPENING,
                kept: CHECK_ENTRY_AT as u32,
                target: detour + pushes as usize,
            }),
            Entrance::Body => Some(Opening {
                at: origin + slot.body as usize,
                open: first,
                kept: pushes,
                target: detour,
            }),
        })
    }

    pub(super) fn target(&self, image: &Image, arena: &Arena, function: u32, offset: u32) -> usize {
        if let Some(original) = image.staying(function) {
            original + offset as usize
        } else if offset == 0 {
            self.entry(image, arena, function)
        } else {
            self.body(arena, function) + offset as usize
        }
    }

    /// Where a body with a pad calls a function whose frame then needs no check.
    #[inline(never)]
    pub(super) fn inner_target(&self, image: &Image, arena: &Arena, function: u32) -> usize {
        let slot = image.slot(function);
        if slot.inner && image.staying(function).is_none() {
            self.entered_at(arena, function, slot, Entrance::Body)
        } else {
            self.target(image, arena, function, 0)
        }
    }

    /// Makes the checks of a function go on in its spare body. All cores must have been
    /// synchronized since that was written.
    pub fn lead_to_spare(&self, image: &Image, arena: &Arena, function: u32) {
        self.lead_checks(image, arena, function, self.spare(image, arena, function));
    }

    /// Makes the checks of a function that was copied and has some go on at an address.
    pub(super) fn lead_checks(&self, image: &Image, arena: &Arena, function: u32, target: usize) {
        let (at, word) = self.led_to(image, arena, function, target);
        set_word(arena, at, word);
    }

    /// Whether they do.
    pub fn leads_to_spare(&self, image: &Image, arena: &Arena, function: u32) -> bool {
        let spare = self.spare(image, arena, function);
        let (at, word) = self.led_to(image, arena, function, spare);
        word_at(arena, at).load(Ordering::Relaxed) == word
    }

    /// The word with the last jump of a function's full check, and what it is if it leads to an
    /// address.
    fn led_to(&self, image: &Image, arena: &Arena, function: u32, target: usize) -> (usize, Word) {
        let full_check = self.full_check(image, arena, function);
        let at = full_check + FULL_CHECK_JUMP_AT;
        // Only the holder of the lock changes it, so it is the same until it is stored.
        let word = word_at(arena, at).load(Ordering::Relaxed);
        (at, check::full_check_jump(full_check + FULL_CHECK_BYTES, target, word))
    }
}

/// The aligned word at an address of the arena, in the writable view.
pub(super) fn word_at(arena: &Arena, at: usize) -> &AtomicU64 {
    debug_assert!(at.is_multiple_of(WORD_BYTES));
    // SAFETY: the word lies in the arena, whose writable view stays mapped; both views begin on a
    // page, so it is aligned in both.
    unsafe { AtomicU64::from_ptr(arena.writable(at).cast()) }
}

/// Replaces the bytes of a word that a mask selects by those of another.
pub(super) fn change_word(arena: &Arena, at: usize, other: Word, mask: Word) {
    // The rest of the word is written by the holder of the lock alone, so it does not change
    // between the load and the store.
    let word = word_at(arena, at).load(Ordering::Relaxed);
    set_word(arena, at, entry::with_bytes(word, other, mask));
}

/// Replaces a head, a detour, or a word of a body.
pub(super) fn set_word(arena: &Arena, at: usize, word: Word) {
    // Release: pairs with the fetch of the word by any thread, which finds what was written before
    // it where the word leads.
    word_at(arena, at).store(word, Ordering::Release);
    arena.mirror(at, WORD_BYTES);
}
