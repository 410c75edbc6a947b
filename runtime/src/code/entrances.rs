//! Where calls come into a layout's slots, and where they go on: entrances that are opened, closed and sent on, and the
//! checks of frames with pads. All of it changes while threads run, by one store of an aligned word each.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use super::slot::{Entrance, Slot};
use crate::arch::entry::{self, CHECK_BRANCH_AT, FRAME_CHECK_BYTES, WORD_BYTES, Word};
use core::sync::atomic::{AtomicU64, Ordering};

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
        // What the outer one goes on to comes first.
        for entrance in [slot.inner, Some(slot.outer)].into_iter().flatten() {
            self.lead(image, arena, function, slot, entrance, None);
        }
    }

    /// Makes calls of a function's slot go to `target`, by whichever entrance.
    pub fn send_on(&self, image: &Image, arena: &Arena, function: u32, target: usize) {
        let slot = image.slot(function);
        for entrance in [Some(slot.outer), slot.inner].into_iter().flatten() {
            self.lead(image, arena, function, slot, entrance, Some(target));
        }
    }

    /// Makes the next call of a function's slot ask the resolver.
    pub fn close(&self, image: &Image, arena: &Arena, function: u32) {
        self.send_on(image, arena, function, self.stub(arena, function));
    }

    /// Makes calls by an entrance go on in the slot, or to a target elsewhere.
    fn lead(
        &self,
        image: &Image,
        arena: &Arena,
        function: u32,
        slot: Slot,
        entrance: Entrance,
        target: Option<usize>,
    ) {
        let origin = self.body(arena, function);
        match entrance {
            Entrance::Head { at, open } => {
                let at = origin.wrapping_add_signed(at as isize);
                let word = target.map_or(open, |target| entry::jumping_head(at, target));
                set_word(arena, at, word);
            }
            Entrance::Opening { detour, pushes } => {
                let (detour, body) =
                    (origin.wrapping_add_signed(detour as isize), origin + slot.body as usize);
                let mut first = image.first_bytes(function);
                if let Some(target) = target {
                    // The way is there before anyone is sent there; an older one stays valid for who fetched it.
                    set_word(arena, detour, entry::detour(detour, target, first, pushes));
                    first = entry::left(body, first, pushes, detour);
                }
                // The rest of the word is written by the holder of the lock alone, so it does not change between the load
                // and the store.
                let mask = entry::first_bytes(slot.opening_bytes());
                let word = word_at(arena, body).load(Ordering::Relaxed);
                set_word(arena, body, entry::with_bytes(word, first, mask));
            }
        }
    }

    /// Whether calls of a function's slot ask the resolver.
    pub fn is_closed(&self, image: &Image, arena: &Arena, function: u32) -> bool {
        let (slot, stub) = (image.slot(function), self.stub(arena, function));
        let origin = self.body(arena, function);
        let load = |at| word_at(arena, at).load(Ordering::Relaxed);
        match slot.outer {
            Entrance::Head { at, .. } => {
                let at = origin.wrapping_add_signed(at as isize);
                load(at) == entry::jumping_head(at, stub)
            }
            Entrance::Opening { detour, pushes } => {
                let (detour, body) =
                    (origin.wrapping_add_signed(detour as isize), origin + slot.body as usize);
                let first = image.first_bytes(function);
                let changed = load(body) ^ entry::left(body, first, pushes, detour);
                changed & entry::first_bytes(slot.opening_bytes()) == 0
                    && load(detour) == entry::detour(detour, stub, first, pushes)
            }
        }
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
        match slot.inner.filter(|_| image.staying(function).is_none()) {
            Some(inner) => self.entered_at(arena, function, slot, inner),
            None => self.target(image, arena, function, 0),
        }
    }

    /// Makes the check of a function go on in its spare body. All cores must have been synchronized since that was
    /// written.
    pub fn lead_to_spare(&self, image: &Image, arena: &Arena, function: u32) {
        self.lead_check(arena, function, self.spare(image, arena, function));
    }

    /// Makes the check of a function that was copied and has one go on at an address.
    pub(super) fn lead_check(&self, arena: &Arena, function: u32, target: usize) {
        let (at, word) = self.led_to(arena, function, target);
        set_word(arena, at, word);
    }

    /// Whether it does.
    pub fn leads_to_spare(&self, image: &Image, arena: &Arena, function: u32) -> bool {
        let (at, word) = self.led_to(arena, function, self.spare(image, arena, function));
        word_at(arena, at).load(Ordering::Relaxed) == word
    }

    /// The word with the branch of a function's check, and what it is if it leads to an address.
    fn led_to(&self, arena: &Arena, function: u32, target: usize) -> (usize, Word) {
        let check = self.body(arena, function);
        let at = check + CHECK_BRANCH_AT;
        // Only the holder of the lock changes it, so it is the same until it is stored.
        let word = word_at(arena, at).load(Ordering::Relaxed);
        (at, entry::check_branch(check + FRAME_CHECK_BYTES, target, word))
    }
}

/// The aligned word at an address of the arena, in the writable view.
fn word_at(arena: &Arena, at: usize) -> &AtomicU64 {
    debug_assert!(at.is_multiple_of(WORD_BYTES));
    // SAFETY: the word lies in the arena, whose writable view stays mapped; both views begin on a page, so
    // it is aligned in both.
    unsafe { AtomicU64::from_ptr(arena.writable(at).cast()) }
}

/// Replaces a head, a detour, or the beginning of a body.
fn set_word(arena: &Arena, at: usize, word: Word) {
    // Release: pairs with the fetch of the word by any thread, which finds what was written before it
    // where the word leads.
    word_at(arena, at).store(word, Ordering::Release);
    arena.mirror(at, WORD_BYTES);
}
