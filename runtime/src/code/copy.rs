//! Makes one copy of a function: its bytes, with every field that differs there, and its jump
//! tables.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use super::slot::{Entrance, Slot};
use crate::arch::{
    self,
    check::{self, CHECK_BYTES, CHECK_OPENING_BYTES, FULL_CHECK_BYTES},
};
use crate::unwind::{COMMON_AT, START_AT};
use szc_abi::{
    FieldKind, FieldReader, FrameReader, Malformed, Movable, OFFSET_BYTES, Table, TableOffsets,
    TableTarget, put_offset,
};

impl Region {
    /// Writes the body of a function to its slot, whose entrances must be closed, and what belongs
    /// to it.
    pub(super) fn write_copy(&self, image: &Image, arena: &Arena, index: u32, function: &Movable) {
        let start = self.body(arena, index);
        let slot = image.slot(index);
        let body = start + slot.body as usize;
        let mut reader = image.table().fields(function);
        let written = Body::in_slot(self, image, arena, index, function);
        written.write(&mut reader, slot.opening_bytes());
        if written.takes_pad {
            let rules = (slot.rules_bytes() > 0).then(|| self.rules(image, arena, index));
            grow_frame(image, arena, function, &mut reader, (body, rules), self.pad(index));
            self.write_checks(image, arena, index, slot);
        }
        arena.mirror(start, slot.bytes as usize);
    }

    /// Writes the spare body of a function that has one, where nobody may be.
    pub(super) fn write_spare(&self, image: &Image, arena: &Arena, index: u32) {
        let function = &image.function(index);
        let start = self.spare(image, arena, index);
        let mut reader = image.table().fields(function);
        Body { start, takes_pad: false, ..Body::in_slot(self, image, arena, index, function) }
            .write(&mut reader, 0);
    }

    /// Writes the checks of a slot with a spare body, which lead to the stub. (In a function of its
    /// own, it takes no stack while bodies are written.)
    #[inline(never)]
    fn write_checks(&self, image: &Image, arena: &Arena, index: u32, slot: Slot) {
        let (start, full) = (self.body(arena, index), self.full_check(image, arena, index));
        let check = check::check(start, full, image.pad_state());
        // Where the check is an entrance, its first word changes as one, when it is opened.
        let closed = match slot.outer {
            Entrance::Check => CHECK_OPENING_BYTES,
            Entrance::Head | Entrance::Body => 0,
        };
        let (body, stub) = (start + slot.body as usize, self.stub(arena, index));
        let full_check = check::full_check(full, body, stub, image.pad_state());
        // SAFETY: the layout gave the slot room for the check, whose entrance is closed, and the
        // function for the full one, where nobody comes meanwhile.
        unsafe {
            let to = arena.writable(start).add(closed);
            arch::copy_bytes(to, check[closed..].as_ptr(), CHECK_BYTES - closed);
            arena.writable(full).cast::<[u8; FULL_CHECK_BYTES]>().write(full_check);
        }
        arena.mirror(full, FULL_CHECK_BYTES);
    }
}

/// A body of a function that is being written.
pub(super) struct Body<'a> {
    /// The layout that its calls lead into.
    region: &'a Region,
    pub(super) image: &'a Image,
    pub(super) arena: &'a Arena,
    index: u32,
    pub(super) function: &'a Movable,
    /// Its address.
    pub(super) start: usize,
    /// Whether its frame is larger by a pad.
    takes_pad: bool,
}

impl<'a> Body<'a> {
    /// That in a function's slot.
    pub(super) fn in_slot(
        region: &'a Region,
        image: &'a Image,
        arena: &'a Arena,
        index: u32,
        function: &'a Movable,
    ) -> Self {
        let slot = image.slot(index);
        let start = region.body(arena, index) + slot.body as usize;
        Self { region, image, arena, index, function, start, takes_pad: slot.spare.is_some() }
    }

    /// The same, as one whose calls lead into another layout.
    pub(super) fn calling_into(self, region: &'a Region) -> Self {
        Self { region, ..self }
    }

    /// Where a field leads that calls or jumps to the beginning of a function, if that is complete
    /// by itself: the other parts of this one work on its frame, which is that of its layout.
    pub(super) fn callee(&self, kind: FieldKind) -> Option<usize> {
        let (FieldKind::Function { function: callee, offset: 0 } | FieldKind::Inner(callee)) = kind
        else {
            return None;
        };
        let mut member = self.function.unit_next;
        while member != self.index {
            if member == callee {
                return None;
            }
            member = self.image.function(member).unit_next;
        }
        Some(match kind {
            FieldKind::Inner(_) => self.inner_target(callee),
            _ => self.target(callee, 0),
        })
    }

    /// The displacement at an address that leads to another.
    pub(super) fn displacement(&self, at: usize, target: usize) -> u32 {
        // The arena was placed within reach of the whole image.
        target.wrapping_sub(at + 4) as u32
    }

    fn inner_target(&self, callee: u32) -> usize {
        if self.takes_pad {
            self.region.inner_target(self.image, self.arena, callee)
        } else {
            self.target(callee, 0)
        }
    }

    /// Writes it, but for so many bytes at its beginning, which are an entrance that is closed. The
    /// reader is then behind the jump tables.
    #[inline(never)]
    fn write(&self, reader: &mut FieldReader<'_>, without: u32) {
        let to = self.arena.writable(self.start);
        // SAFETY: the layout gave the body its bytes, all inside the place; no thread runs there,
        // because the entrances are closed.
        unsafe { self.image.copy_body(self.index, self.function, to, without) };
        // The table was validated at start, so the stream cannot end early.
        let _ = self.write_fields(reader);
        let _ = self.write_tables(reader);
    }

    /// Where the body goes on that refers to `offset` in `function`.
    fn target(&self, function: u32, offset: u32) -> usize {
        // The middle of the function itself is that of the same body.
        if function == self.index && offset != 0 {
            self.start + offset as usize
        } else {
            self.region.target(self.image, self.arena, function, offset)
        }
    }

    /// Applies the function's fields.
    fn write_fields(&self, reader: &mut FieldReader<'_>) -> Result<(), Malformed> {
        let original = self.image.original(self.function);
        let tables_at = tables_at(self.function);
        let mut offsets = TableOffsets::of(reader);
        for _ in 0..reader.field_count()? {
            let field = reader.next_field()?;
            let at = field.at as usize;
            // SAFETY: validated: the field lies inside the function, whose copy this is.
            let place = unsafe { self.arena.writable(self.start).add(at) };
            let relative = |target: usize| self.displacement(self.start + at, target);
            let mut table = |table| self.start + tables_at + offsets.of_table(table) as usize;
            let value = match field.kind {
                FieldKind::Fixed => {
                    // SAFETY: as above.
                    let old = unsafe { place.cast::<u32>().read_unaligned() };
                    old.wrapping_sub(self.start.wrapping_sub(original) as u32)
                }
                FieldKind::Function { function, offset } => relative(self.target(function, offset)),
                FieldKind::Inner(callee) => relative(self.inner_target(callee)),
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
        Ok(())
    }

    /// Writes the function's jump tables.
    fn write_tables(&self, reader: &mut FieldReader<'_>) -> Result<(), Malformed> {
        let mut table_at = tables_at(self.function);
        for _ in 0..reader.table_count()? {
            let table = reader.next_table()?;
            let mut targets = table.targets();
            let start = self.start + table_at;
            for entry in 0..table.count {
                let target = match targets.next_target()? {
                    TableTarget::Image(offset) => self.image.address(offset),
                    TableTarget::Function { function, offset } => self.target(function, offset),
                };
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

/// Makes the frame of the copy at `body` larger by so many bytes, and writes its unwind rules to
/// the other address. The reader is behind the jump tables.
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
