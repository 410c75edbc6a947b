//! Makes one copy of a function in a layout: its body, unwind rules, and checks.

use super::arena::Arena;
use super::body::{self, Body, Out, Targets};
use super::entrances::word_at;
use super::image::Image;
use super::region::Region;
use super::slot::{Entrance, Slot};
use crate::arch::check::{self, CHECK_OPENING_BYTES, FULL_CHECK_BYTES};
use crate::arch::entry::{self, WORD_BYTES, Word};
use core::sync::atomic::Ordering;
use szc_abi::{FieldKind, Movable};

impl Region {
    /// Writes the body of a function to its slot, whose entrances must be closed, and what belongs
    /// to it.
    pub(super) fn write_copy(&self, image: &Image, arena: &Arena, index: u32, function: &Movable) {
        let (start, slot) = (self.body(arena, index), image.slot(index));
        let body = start + slot.body as usize;
        let pad = slot.spare.map(|_| self.pad(index));
        let calls = Calls { into: self, image, arena };
        calls.write(index, function, (body, pad), slot.opening_bytes());
        if let Some(pad) = pad {
            self.write_rules(image, arena, index, function, (body, pad));
            self.write_checks(image, arena, index, slot);
        }
        arena.mirror(start, slot.bytes as usize);
    }

    /// Writes the spare body of a function that has one, where nobody may be.
    pub(super) fn write_spare(&self, image: &Image, arena: &Arena, index: u32) {
        let start = self.spare(image, arena, index);
        let calls = Calls { into: self, image, arena };
        calls.write(index, &image.function(index), (start, None), 0);
    }

    /// Writes the unwind rules of a body whose frame has so large a pad, if it has rules of its
    /// own. (In a function of its own, it takes no stack while bodies are written.)
    #[inline(never)]
    fn write_rules(
        &self,
        image: &Image,
        arena: &Arena,
        index: u32,
        function: &Movable,
        (body, pad): (usize, u32),
    ) {
        if function.rules_bytes == 0 {
            return;
        }
        // The table was validated at start, so the stream cannot end early.
        let frame = body::frame_of(image.table(), function).ok();
        if let Some(rules) = frame.and_then(|frame| frame.rules) {
            let at = self.rules(image, arena, index);
            let out = Alias { arena, start: at };
            body::write_rules(&rules, (at, body), pad, |offset| image.address(offset), out);
        }
    }

    /// Writes the checks of a slot with a spare body, which lead to the stub.
    #[inline(never)]
    fn write_checks(&self, image: &Image, arena: &Arena, index: u32, slot: Slot) {
        let (start, full) = (self.body(arena, index), self.full_check(image, arena, index));
        let check = check::check(start, full, image.pad_state());
        // Where the check is an entrance, its first word changes as one, when it is opened.
        let closed = match slot.outer {
            Entrance::Check => CHECK_OPENING_BYTES as u32,
            Entrance::Head | Entrance::Body => 0,
        };
        let (body, stub) = (start + slot.body as usize, self.stub(arena, index));
        let full_check = check::full_check(full, body, stub, image.pad_state());
        put_code(&mut Alias { arena, start }, &check, closed);
        put_code(&mut Alias { arena, start: full }, &full_check, 0);
        arena.mirror(full, FULL_CHECK_BYTES);
    }
}

/// Words from an address of the arena on, where nobody runs, or all who do run what is written.
struct Alias<'a> {
    arena: &'a Arena,
    start: usize,
}

impl Out for Alias<'_> {
    fn put(&mut self, at: usize, word: Word) {
        // Relaxed: whoever opens the entrances, or makes a check lead here, does so by a release.
        word_at(self.arena, self.start + at).store(word, Ordering::Relaxed);
    }
}

/// Puts bytes of code, which fill words; so many at the beginning stay as they are.
fn put_code(out: &mut Alias<'_>, code: &[u8], without: u32) {
    let mut kept = entry::first_bytes(without);
    for (index, word) in code.as_chunks().0.iter().enumerate() {
        let at = index * WORD_BYTES;
        let before = word_at(out.arena, out.start + at).load(Ordering::Relaxed);
        out.put(at, entry::with_bytes(Word::from_le_bytes(*word), before, kept));
        kept = 0;
    }
}

/// Where copies of an image lead that call into a layout.
pub(super) struct Calls<'a> {
    pub into: &'a Region,
    pub image: &'a Image,
    pub arena: &'a Arena,
}

impl Targets for Calls<'_> {
    fn function(&self, function: u32, offset: u32) -> usize {
        self.into.target(self.image, self.arena, function, offset)
    }

    fn inner(&self, function: u32) -> usize {
        self.into.inner_target(self.image, self.arena, function)
    }

    fn image(&self, offset: u32) -> usize {
        self.image.address(offset)
    }
}

impl Calls<'_> {
    /// Writes a body of a function, but for so many bytes at its beginning, which are an entrance
    /// that is closed.
    #[inline(never)]
    fn write(
        &self,
        index: u32,
        function: &Movable,
        (start, pad): (usize, Option<u32>),
        closed_bytes: u32,
    ) {
        let closed = word_at(self.arena, start).load(Ordering::Relaxed);
        let body = Body {
            function,
            index,
            source: self.image.source(index, function),
            original: self.image.original(function),
            start,
            pad,
            opening: (closed, entry::first_bytes(closed_bytes)),
        };
        let out = Alias { arena: self.arena, start };
        // The table was validated at start, so the stream cannot end early.
        let _ = body::write_body(self.image.table(), &body, self, out);
    }

    /// Where a field of a function leads that calls or jumps to the beginning of another, if that
    /// is complete by itself: the other parts of this one work on its frame, which is that of its
    /// layout.
    pub fn callee(&self, index: u32, kind: FieldKind) -> Option<usize> {
        let (FieldKind::Function { function: callee, offset: 0 } | FieldKind::Inner(callee)) = kind
        else {
            return None;
        };
        let mut member = self.image.function(index).unit_next;
        while member != index {
            if member == callee {
                return None;
            }
            member = self.image.function(member).unit_next;
        }
        Some(match kind {
            FieldKind::Inner(_) if self.image.slot(index).spare.is_some() => self.inner(callee),
            _ => self.function(callee, 0),
        })
    }
}
