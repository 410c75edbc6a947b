//! Makes one copy of a function: its bytes, with every field that differs there, and its jump tables.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use szc_abi::{FieldKind, Movable, TableTarget};

impl Region {
    /// Writes the body of a function to its slot, whose head must be closed.
    pub(super) fn write_copy(&self, image: &Image, arena: &Arena, index: u32, function: &Movable) {
        let body = self.body(arena, index);
        let to = arena.writable(body);
        // SAFETY: the layout gave the slot `copy_bytes` from the body on, all inside the place; no
        // thread runs there, because the head is closed.
        unsafe { image.copy_body(index, function, to) };
        self.patch(image, arena, function, body);
        arena.mirror(body, function.copy_bytes() as usize);
    }

    /// Applies the function's fields and writes its jump tables. The table was validated at start,
    /// so the stream cannot end early.
    fn patch(&self, image: &Image, arena: &Arena, function: &Movable, body: usize) {
        let distance = body.wrapping_sub(image.original(function));
        let tables = body + function.size.next_multiple_of(8) as usize;
        let mut reader = image.table().fields(function);
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
                        let target = self.target(image, arena, function, offset);
                        place.cast::<u32>().write_unaligned(relative(target));
                    }
                    FieldKind::TableRelative32(table) => {
                        let target = tables + table_offset(image, function, table);
                        place.cast::<u32>().write_unaligned(relative(target));
                    }
                    FieldKind::TableAbsolute32(table) => {
                        let target = tables + table_offset(image, function, table);
                        place.cast::<u32>().write_unaligned(target as u32);
                    }
                    FieldKind::TableAbsolute64(table) => {
                        let target = tables + table_offset(image, function, table);
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
                    TableTarget::Function { function, offset } => {
                        self.target(image, arena, function, offset)
                    }
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

/// Offset of a jump table of a function in the tables of a copy.
fn table_offset(image: &Image, function: &Movable, table: u32) -> usize {
    let mut reader = image.table().fields(function);
    for _ in 0..reader.field_count().unwrap_or(0) {
        let _ = reader.next_field();
    }
    let _ = reader.table_count();
    let mut offset = 0;
    for _ in 0..table {
        offset += reader.next_table().ok().and_then(|table| table.slot_bytes()).unwrap_or(0);
    }
    offset as usize
}
