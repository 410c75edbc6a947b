//! A function of a layout as unwinders see it that ask for objects: something with a range of
//! addresses and a header of unwind rules of its own.

use super::headers::Memory;
use super::origin::Locator;
use super::slot::WORD_IN_FRONT;
use crate::arch::check::FULL_CHECK_BYTES;
use crate::arch::entry::STUB_BYTES;
use crate::arch::rules;
use crate::unwind::{MAX_ENTRIES, OPENING};
use core::ops::Range;
use szc_abi::SLOT_HEAD_BYTES;

/// What is known of it.
pub struct Object {
    /// The original entry.
    pub original: usize,
    /// Addresses that lie together with the one that was asked for.
    pub range: Range<usize>,
    /// The memory of all headers at its place, and what of it is this function's.
    pub headers: *mut u8,
    pub memory: Memory,
    /// The epoch whose layout the place has.
    pub epoch: u64,
    /// Where the body begins that is entered first.
    pub body: usize,
    /// All of its code, by address, or the beginning of the body alone ([`OPENING`]) if that was
    /// asked for.
    pub parts: [Option<Part>; MAX_ENTRIES],
}

/// Code that has rules.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its first address.
    pub start: usize,
    /// Its rules.
    pub rules: Rules,
}

/// Unwind rules (an FDE) of a part.
#[derive(Clone, Copy)]
pub enum Rules {
    /// The original function's, whose entry the part begins with.
    OfOriginal,
    /// Those at this address.
    At(usize),
}

impl Locator {
    /// The object that an address belongs to, if it lies in a copy or in a stub.
    pub fn object(&self, address: usize) -> Option<Object> {
        let (place, offset) = self.arena.locate(address)?;
        let region = self.region(place)?;
        let of_stub = region.stub_at(&self.arena, offset).map(|(function, _)| function);
        let spares = self.image.spares();
        let of_spare = spares.function_at(offset).map(|(function, _)| function);
        let of_check = spares.checked_at(offset);
        let of_slot = || region.function_at(&self.image, offset);
        let function = of_stub.or(of_spare).or(of_check).or_else(of_slot)?;
        let slot = self.image.slot(function);
        let slot_origin = region.body(&self.arena, function);
        let body = slot_origin + slot.body as usize;
        let spare = region.spare(&self.image, &self.arena, function);
        let full_check = region.full_check(&self.image, &self.arena, function);
        let stub = region.stub(&self.arena, function);
        let own =
            (slot.rules_bytes() > 0).then(|| region.rules(&self.image, &self.arena, function));
        let opening = body..body + slot.opening_bytes() as usize;
        // What is told of a layout is always the same, so it cannot depend on whether the copy's
        // rules are written already.
        let of_opening = own.is_some() && opening.contains(&address);
        let range = if of_opening {
            opening
        } else if of_stub.is_some() {
            stub..stub + STUB_BYTES
        } else if of_spare.is_some() {
            spare..spare + slot.spare_bytes() as usize
        } else if of_check.is_some() {
            full_check..full_check + FULL_CHECK_BYTES
        } else {
            slot_origin - SLOT_HEAD_BYTES as usize..slot_origin + slot.bytes as usize
        };
        let patterns = self.image.rules_in_front();
        let part = |start, rules| Some(Part { start, rules });
        let in_front = |at: i32, rules: usize| {
            part(slot_origin.wrapping_add_signed(at as isize), Rules::At(patterns + rules))
        };
        let parts = if of_opening {
            let mut parts = [None; MAX_ENTRIES];
            parts[OPENING] = part(body, Rules::OfOriginal);
            parts
        } else {
            let detour = |pushes| in_front(WORD_IN_FRONT, rules::detour_at(pushes));
            [
                slot.detour().and_then(detour),
                slot.front().and_then(|at| in_front(at, rules::FRONT_AT)),
                part(body, own.map_or(Rules::OfOriginal, Rules::At)),
                slot.spare.and(part(full_check, Rules::At(patterns + rules::FRONT_AT))),
                slot.spare.and(part(spare, Rules::OfOriginal)),
                part(stub, Rules::At(patterns + rules::STUB_AT)),
                None,
            ]
        };
        let (headers, memory) = (self.arena.headers(place), self.image.headers().of(function));
        let original = self.image.original(&self.image.function(function));
        Some(Object { original, range, headers, memory, epoch: region.epoch(), body, parts })
    }
}
