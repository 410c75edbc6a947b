//! Makes one copy of a function: its bytes, with every field that differs there, and its jump tables.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use crate::arch::{
    self,
    entry::{self, FRAME_CHECK_BYTES, HEAD_BYTES, INNER_REST},
};
use crate::unwind::{COMMON_AT, START_AT};
use szc_abi::{
    FieldKind, FrameReader, Movable, OFFSET_BYTES, Table, TableOffsets, TableTarget, put_offset,
};

impl Region {
    /// Writes the body of a function to its slot, whose head must be closed.
    pub(super) fn write_copy(&self, image: &Image, arena: &Arena, index: u32, function: &Movable) {
        let start = self.body(arena, index);
        let slot = image.slot(index);
        let body = start + slot.body as usize;
        self.write_body(image, arena, index, function, body);
        if let Some(spare) = slot.spare {
            let plain = self.spare(image, arena, index);
            self.write_body(image, arena, index, function, plain);
            let rules = spare.rules.map(|rules| plain + rules as usize);
            grow_frame(image, arena, function, (body, rules), self.pad(index));
            self.write_front(image, arena, index, plain);
        }
        arena.mirror(start, slot.bytes as usize);
    }

    /// Writes what a slot with a spare part has between its head and its body. (In a function of its own, it takes no
    /// stack while bodies are written.)
    #[inline(never)]
    fn write_front(&self, image: &Image, arena: &Arena, index: u32, plain: usize) {
        let start = self.body(arena, index);
        let check = entry::frame_check(start, plain, image.pad_state());
        // SAFETY: the layout gave the slot room for the check; its head is closed.
        unsafe { arena.writable(start).cast::<[u8; FRAME_CHECK_BYTES]>().write(check) };
        if let Some(inner) = image.slot(index).inner() {
            let rest = arena.writable(start + inner as usize + HEAD_BYTES);
            // SAFETY: as above, for the word of the inner head, which is closed, too.
            unsafe { rest.cast::<[u8; INNER_REST.len()]>().write(INNER_REST) };
        }
    }

    /// Writes a body of a function to an address that has room for it.
    #[inline(never)]
    fn write_body(
        &self,
        image: &Image,
        arena: &Arena,
        index: u32,
        function: &Movable,
        body: usize,
    ) {
        // SAFETY: the layout gave the body its bytes, all inside the place; no thread runs there, because the
        // head is closed.
        unsafe { image.copy_body(index, function, arena.writable(body)) };
        self.patch(image, arena, index, function, body);
    }

    /// Applies the function's fields and writes its jump tables. The table was validated at start,
    /// so the stream cannot end early.
    fn patch(&self, image: &Image, arena: &Arena, index: u32, function: &Movable, body: usize) {
        let slot = image.slot(index);
        let in_slot = body == self.body(arena, index) + slot.body as usize;
        let padded = in_slot && slot.spare.is_some();
        // The middle of the function itself is that of the same body.
        let target_of = |function: u32, offset: u32| {
            if function == index && offset != 0 {
                body + offset as usize
            } else {
                self.target(image, arena, function, offset)
            }
        };
        let distance = body.wrapping_sub(image.original(function));
        let tables = body + function.size.next_multiple_of(8) as usize;
        let mut reader = image.table().fields(function);
        let mut offsets = TableOffsets::of(&reader);
        let to = arena.writable(body);
        for _ in 0..reader.field_count().unwrap_or(0) {
            let Ok(field) = reader.next_field() else { return };
            let at = field.at as usize;
            // SAFETY: validated: the field lies inside the function, whose copy `to` points at.
            unsafe {
                let place = to.add(at);
                let relative = |target: usize| {
                    // The arena was placed within reach of the whole image.
                    target.wrapping_sub(body + at + 4) as u32
                };
                match field.kind {
                    FieldKind::Fixed => {
                        let old = place.cast::<u32>().read_unaligned();
                        place.cast::<u32>().write_unaligned(old.wrapping_sub(distance as u32));
                    }
                    FieldKind::Function { function, offset } => {
                        let target = target_of(function, offset);
                        place.cast::<u32>().write_unaligned(relative(target));
                    }
                    FieldKind::Inner(callee) => {
                        let target = if padded {
                            self.inner_target(image, arena, callee)
                        } else {
                            self.target(image, arena, callee, 0)
                        };
                        place.cast::<u32>().write_unaligned(relative(target));
                    }
                    FieldKind::TableRelative32(table) => {
                        let target = tables + offsets.of_table(table) as usize;
                        place.cast::<u32>().write_unaligned(relative(target));
                    }
                    FieldKind::TableAbsolute32(table) => {
                        let target = tables + offsets.of_table(table) as usize;
                        place.cast::<u32>().write_unaligned(target as u32);
                    }
                    FieldKind::TableAbsolute64(table) => {
                        let target = tables + offsets.of_table(table) as usize;
                        place.cast::<u64>().write_unaligned(target as u64);
                    }
                }
            }
        }
        let mut table_at = tables;
        for _ in 0..reader.table_count().unwrap_or(0) {
            let Ok(table) = reader.next_table() else { return };
            let mut targets = table.targets();
            for index in 0..table.count {
                let Ok(target) = targets.next_target() else { return };
                let target = match target {
                    TableTarget::Image(offset) => image.address(offset),
                    TableTarget::Function { function, offset } => target_of(function, offset),
                };
                let place = arena.writable(table_at + (index * table.entry_bytes()) as usize);
                // SAFETY: validated: the tables take `tables_bytes`, which the slot has.
                unsafe {
                    if table.absolute {
                        place.cast::<u64>().write(target as u64);
                    } else {
                        place.cast::<u32>().write(target.wrapping_sub(table_at) as u32);
                    }
                }
            }
            table_at += table.slot_bytes().unwrap_or(0) as usize;
        }
    }
}

/// The description of a function's frame.
pub fn frame_of<'a>(table: &Table<'a>, function: &Movable) -> Option<FrameReader<'a>> {
    let mut reader = table.fields(function);
    for _ in 0..reader.skip_fields().ok()? {
        reader.next_table().ok()?;
    }
    reader.frame(function.rules_bytes).ok()
}

/// Makes the frame of the copy at `body` larger by so many bytes, and writes its unwind rules to the other
/// address.
#[inline(never)]
fn grow_frame(
    image: &Image,
    arena: &Arena,
    function: &Movable,
    (body, rules_at): (usize, Option<usize>),
    bytes: u32,
) {
    let Some(frame) = frame_of(image.table(), function) else { return };
    for site in frame.sites {
        let place = arena.writable(body + site as usize).cast::<u32>();
        // SAFETY: validated: the site lies inside the function, whose copy this is.
        unsafe { place.write_unaligned(place.read_unaligned().wrapping_add(bytes)) };
    }
    let (Some(rules), Some(at)) = (frame.rules, rules_at) else { return };
    let to = arena.writable(at);
    // SAFETY: the slot has room for the rules.
    unsafe { arch::copy_bytes(to, rules.bytes.as_ptr(), rules.bytes.len()) };
    // Each counts from its own place, within reach as all of the image is.
    let put = |inside: usize, value: usize| {
        // SAFETY: validated: inside the rules.
        unsafe { to.add(inside).cast::<u32>().write_unaligned(value as u32) };
    };
    put(COMMON_AT, (at + COMMON_AT).wrapping_sub(image.address(rules.common)));
    put(START_AT, body.wrapping_sub(at + START_AT));
    if let Some((inside, address)) = rules.handlers {
        let inside = inside as usize;
        put(inside, image.address(address).wrapping_sub(at + inside));
    }
    for inside in rules.offsets.clone() {
        let offset = rules.offset(inside).unwrap_or(0) + bytes;
        // SAFETY: validated: inside the rules.
        unsafe { to.add(inside as usize).cast::<[u8; OFFSET_BYTES]>().write(put_offset(offset)) };
    }
}
