//! A function of a layout as unwinders see it that ask for objects: something with a range of addresses and a header
//! of unwind rules of its own.

use super::headers::Memory;
use super::origin::Locator;
use crate::arch::entry::STUB_BYTES;
use crate::arch::rules;
use crate::unwind::MAX_ENTRIES;
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
    /// All of its code, by address.
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
        let of_spare = self.image.spares().function_at(offset).map(|(function, _)| function);
        let function = of_stub.or(of_spare).or_else(|| region.function_at(&self.image, offset))?;
        let slot = self.image.slot(function);
        let slot_origin = region.body(&self.arena, function);
        let body = slot_origin + slot.body as usize;
        let spare = region.spare(&self.image, &self.arena, function);
        let stub = region.stub(&self.arena, function);
        let range = if of_stub.is_some() {
            stub..stub + STUB_BYTES
        } else if of_spare.is_some() {
            spare..spare + slot.spare_bytes() as usize
        } else {
            slot_origin - SLOT_HEAD_BYTES as usize..slot_origin + slot.bytes as usize
        };
        let patterns = self.image.rules_in_front();
        let part = |start, rules| Some(Part { start, rules });
        let in_front = |at: i32, rules: usize| {
            part(slot_origin.wrapping_add_signed(at as isize), Rules::At(patterns + rules))
        };
        let detour = slot.detour().and_then(|(at, pushes)| in_front(at, rules::detour_at(pushes)));
        let head = slot.head().and_then(|at| in_front(at, rules::FRONT_AT));
        let own =
            (slot.rules_bytes() > 0).then(|| region.rules(&self.image, &self.arena, function));
        let parts = [
            detour,
            head,
            part(body, own.map_or(Rules::OfOriginal, Rules::At)),
            slot.spare.and(part(spare, Rules::OfOriginal)),
            part(stub, Rules::At(patterns + rules::STUB_AT)),
        ];
        let (headers, memory) = (self.arena.headers(place), self.image.headers().of(function));
        let original = self.image.original(&self.image.function(function));
        Some(Object { original, range, headers, memory, epoch: region.epoch(), body, parts })
    }
}
