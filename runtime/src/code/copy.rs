//! Makes one copy of a function: its bytes, with every field that differs there, and its jump tables.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use crate::arch::{
    self,
    entry::{self, FRAME_CHECK_BYTES},
};
use crate::unwind::{COMMON_AT, START_AT};
use szc_abi::{
    FieldKind, FieldReader, FrameReader, Malformed, Movable, OFFSET_BYTES, Table, TableOffsets,
    TableTarget, put_offset,
};

impl Region {
    /// Writes the body of a function to its slot, whose entrances must be closed, and what belongs to it.
    pub(super) fn write_copy(&self, image: &Image, arena: &Arena, index: u32, function: &Movable) {
        let start = self.body(arena, index);
        let slot = image.slot(index);
        let body = start + slot.body as usize;
        let mut reader = image.table().fields(function);
        let bodies = |starts| Bodies { region: self, image, arena, index, function, starts };
        if let Some(spare) = slot.spare {
            let plain = self.spare(image, arena, index);
            bodies(&[body, plain]).write(&mut reader);
            let rules = spare.rules.map(|rules| plain + rules as usize);
            grow_frame(image, arena, function, &mut reader, (body, rules), self.pad(index));
            self.write_check(image, arena, index, plain);
        } else {
            bodies(&[body]).write(&mut reader);
        }
        arena.mirror(start, slot.bytes as usize);
    }

    /// Writes the check of a slot with a spare part. (In a function of its own, it takes no stack while bodies are
    /// written.)
    #[inline(never)]
    fn write_check(&self, image: &Image, arena: &Arena, index: u32, plain: usize) {
        let start = self.body(arena, index);
        let check = entry::frame_check(start, plain, image.pad_state());
        // SAFETY: the layout gave the slot room for the check; its head is closed.
        unsafe { arena.writable(start).cast::<[u8; FRAME_CHECK_BYTES]>().write(check) };
    }
}

/// The bodies of a function that are being written: all at once, so that the table is read once.
struct Bodies<'a> {
    region: &'a Region,
    image: &'a Image,
    arena: &'a Arena,
    index: u32,
    function: &'a Movable,
    /// Their addresses. If there are two, the first takes a pad.
    starts: &'a [usize],
}

impl Bodies<'_> {
    /// Writes them to addresses that have room for them. The reader is then behind the jump tables.
    #[inline(never)]
    fn write(&self, reader: &mut FieldReader<'_>) {
        let opening = self.image.slot(self.index).opening_bytes();
        for (number, &body) in self.starts.iter().enumerate() {
            let to = self.arena.writable(body);
            // The first bytes are the entrance, which is closed. The spare body has none.
            let from = if number == 0 { opening } else { 0 };
            // SAFETY: the layout gave the body its bytes, all inside the place; no thread runs there, because the
            // entrances are closed.
            unsafe { self.image.copy_body(self.index, self.function, to, from) };
        }
        // The table was validated at start, so the stream cannot end early.
        let _ = self.write_fields(reader);
        let _ = self.write_tables(reader);
    }

    /// Where a body goes on that refers to `offset` in `function`.
    fn target(&self, body: usize, function: u32, offset: u32) -> usize {
        // The middle of the function itself is that of the same body.
        if function == self.index && offset != 0 {
            body + offset as usize
        } else {
            self.region.target(self.image, self.arena, function, offset)
        }
    }

    fn takes_pad(&self, number: usize) -> bool {
        number == 0 && self.starts.len() > 1
    }

    /// Applies the function's fields.
    fn write_fields(&self, reader: &mut FieldReader<'_>) -> Result<(), Malformed> {
        let original = self.image.original(self.function);
        let tables_at = tables_at(self.function);
        let mut offsets = TableOffsets::of(reader);
        for _ in 0..reader.field_count()? {
            let field = reader.next_field()?;
            let at = field.at as usize;
            for (number, &body) in self.starts.iter().enumerate() {
                // SAFETY: validated: the field lies inside the function, whose copies these are.
                let place = unsafe { self.arena.writable(body).add(at) };
                // The arena was placed within reach of the whole image.
                let relative = |target: usize| target.wrapping_sub(body + at + 4) as u32;
                let mut table = |table| body + tables_at + offsets.of_table(table) as usize;
                let value = match field.kind {
                    FieldKind::Fixed => {
                        // SAFETY: as above.
                        let old = unsafe { place.cast::<u32>().read_unaligned() };
                        old.wrapping_sub(body.wrapping_sub(original) as u32)
                    }
                    FieldKind::Function { function, offset } => {
                        relative(self.target(body, function, offset))
                    }
                    FieldKind::Inner(callee) if self.takes_pad(number) => {
                        relative(self.region.inner_target(self.image, self.arena, callee))
                    }
                    FieldKind::Inner(callee) => relative(self.target(body, callee, 0)),
                    FieldKind::TableRelative32(index) => relative(table(index)),
                    FieldKind::TableAbsolute32(index) => table(index) as u32,
                    FieldKind::TableAbsolute64(index) => {
                        // SAFETY: as above; this field has 8 bytes.
                        unsafe { place.cast::<u64>().write_unaligned(table(index) as u64) };
                        continue;
                    }
                };
                // SAFETY: as above.
                unsafe { place.cast::<u32>().write_unaligned(value) };
            }
        }
        Ok(())
    }

    /// Writes the function's jump tables.
    fn write_tables(&self, reader: &mut FieldReader<'_>) -> Result<(), Malformed> {
        let mut table_at = tables_at(self.function);
        for _ in 0..reader.table_count()? {
            let table = reader.next_table()?;
            let mut targets = table.targets();
            for entry in 0..table.count {
                let target = targets.next_target()?;
                for &body in self.starts {
                    let target = match target {
                        TableTarget::Image(offset) => self.image.address(offset),
                        TableTarget::Function { function, offset } => {
                            self.target(body, function, offset)
                        }
                    };
                    let start = body + table_at;
                    let place = self.arena.writable(start + (entry * table.entry_bytes()) as usize);
                    // SAFETY: validated: the tables take `tables_bytes`, which the slot has.
                    unsafe {
                        if table.absolute {
                            place.cast::<u64>().write(target as u64);
                        } else {
                            place.cast::<u32>().write(target.wrapping_sub(start) as u32);
                        }
                    }
                }
            }
            table_at += table.slot_bytes().unwrap_or(0) as usize;
        }
        Ok(())
    }
}

/// Where the jump tables of a copy lie, in bytes from its start.
fn tables_at(function: &Movable) -> usize {
    function.size.next_multiple_of(8) as usize
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
/// address. The reader is behind the jump tables.
#[inline(never)]
fn grow_frame(
    image: &Image,
    arena: &Arena,
    function: &Movable,
    reader: &mut FieldReader<'_>,
    (body, rules_at): (usize, Option<usize>),
    bytes: u32,
) {
    let Ok(frame) = reader.frame(function.rules_bytes) else { return };
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
