//! One epoch's layout and what has been copied into it.

use super::arena::Arena;
use super::image::Image;
use super::layout;
use crate::arch::{self, HEAD_NOP, JUMP, JUMP_BYTES};
use crate::os;
use crate::rng::Stream;
use core::sync::atomic::{AtomicU8, Ordering};
use szc_abi::{FieldKind, Movable, SLOT_HEAD_BYTES, TableTarget};

/// The layout of one epoch at one place of the arena.
#[derive(Clone, Copy)]
pub struct Region {
    place: u32,
    count: u32,
    bytes: u32,
    /// Functions by position.
    order: *mut u32,
    /// Offset of each function's body in the place.
    offsets: *mut u32,
    /// Functions copied, in the order of copying.
    copied: *mut u32,
    copied_count: u32,
    /// 1 for each function that is copied or being copied.
    state: *mut u8,
}

impl Region {
    /// Draws the layout of an epoch and fills its place with traps. Nothing is copied yet.
    pub fn draw(image: &Image, arena: &Arena, place: u32, seed: u64, epoch: u64) -> Option<Self> {
        let count = image.count();
        let n = count as usize;
        let words: *mut u32 = os::map_anonymous(n * 13).ok()?.cast();
        // SAFETY: the block has room for three arrays of words and one of bytes.
        let mut region = unsafe {
            Self {
                place,
                count,
                bytes: 0,
                order: words,
                offsets: words.add(n),
                copied: words.add(2 * n),
                copied_count: 0,
                state: words.add(3 * n).cast(),
            }
        };
        // SAFETY: the arrays are disjoint, zeroed, and have `n` elements.
        let (order, offsets) = unsafe {
            (
                core::slice::from_raw_parts_mut(region.order, n),
                core::slice::from_raw_parts_mut(region.offsets, n),
            )
        };
        let mut stream = Stream::new(seed, epoch);
        let size = |function| image.function(function).copy_bytes();
        region.bytes = layout::draw(&mut stream, size, order, offsets);
        arena.open(place, region.bytes as usize).ok()?;
        Some(region)
    }

    /// Bytes of the place that the layout uses.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The place of the arena.
    pub fn place(&self) -> u32 {
        self.place
    }

    fn offset(&self, function: u32) -> u32 {
        debug_assert!(function < self.count);
        // SAFETY: indices come from the validated table, whose count is the array's.
        unsafe { self.offsets.add(function as usize).read() }
    }

    /// Address of a function's body.
    pub fn body(&self, arena: &Arena, function: u32) -> usize {
        arena.address(self.place, self.offset(function))
    }

    /// Address at which a function is called.
    pub fn entry(&self, arena: &Arena, function: u32) -> usize {
        self.body(arena, function) - SLOT_HEAD_BYTES as usize
    }

    /// The function whose slot contains an offset of the place.
    pub fn function_at(&self, image: &Image, offset: u32) -> Option<u32> {
        let n = self.count as usize;
        // SAFETY: written when the layout was drawn and never since.
        let (order, offsets) = unsafe {
            (
                core::slice::from_raw_parts(self.order, n),
                core::slice::from_raw_parts(self.offsets, n),
            )
        };
        layout::function_at(
            offset,
            |function| image.function(function).copy_bytes(),
            order,
            offsets,
        )
    }

    /// Whether a function has been copied.
    pub fn is_copied(&self, function: u32) -> bool {
        // SAFETY: as `offset`.
        unsafe { self.state.add(function as usize).read() != 0 }
    }

    /// Number of functions copied.
    pub fn copied_count(&self) -> u32 {
        self.copied_count
    }

    /// The function copied as number `index`.
    pub fn copied(&self, index: u32) -> u32 {
        // SAFETY: callers stay below `copied_count`.
        unsafe { self.copied.add(index as usize).read() }
    }

    /// Copies a function and whatever shares its unit, and opens their entries. Returns the number
    /// of functions copied and their bytes.
    ///
    /// Until the last step each entry is a trap; before it all threads are made to see the bytes.
    pub fn copy_unit(&mut self, image: &Image, arena: &Arena, function: u32) -> (u32, u64) {
        let mut bytes = 0;
        let first = self.copied_count;
        let mut member = function;
        loop {
            let record = image.function(member);
            if !self.is_copied(member) {
                self.write_copy(image, arena, member, &record);
                bytes += u64::from(record.copy_bytes());
                // SAFETY: each function is pushed once, so the array has room; as `offset`.
                unsafe {
                    self.copied.add(self.copied_count as usize).write(member);
                    self.state.add(member as usize).write(1);
                }
                self.copied_count += 1;
            }
            member = record.unit_next;
            if member == function {
                break;
            }
        }
        (self.copied_count - first, bytes)
    }

    /// Opens the entries of the functions copied since the first `from`. All cores must have been
    /// synchronized since their bytes were written.
    pub fn open_entries(&self, arena: &Arena, from: u32) {
        for index in from..self.copied_count {
            open_head(arena, self.entry(arena, self.copied(index)));
        }
    }

    fn write_copy(&self, image: &Image, arena: &Arena, index: u32, function: &Movable) {
        let body = self.body(arena, index);
        let to = arena.writable(body);
        set_head_tail(arena, body - SLOT_HEAD_BYTES as usize);
        // SAFETY: the layout gave the slot `copy_bytes` from the body on, all inside the place; no
        // thread runs there, because the entry is a trap.
        unsafe { image.copy_body(index, function, to) };
        self.patch(image, arena, function, body);
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
                        let target = self.target(arena, function, offset);
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
                        self.target(arena, function, offset)
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

    fn target(&self, arena: &Arena, function: u32, offset: u32) -> usize {
        if offset == 0 {
            self.entry(arena, function)
        } else {
            self.body(arena, function) + offset as usize
        }
    }
}

/// Changes the byte that decides what happens at an entry.
pub fn set_entry_byte(arena: &Arena, entry: usize, byte: u8) {
    // SAFETY: entries lie in the arena, whose writable view stays mapped; a byte is always aligned.
    let place = unsafe { AtomicU8::from_ptr(arena.writable(entry)) };
    // Release: a thread that fetches the new byte finds the bytes written before it.
    place.store(byte, Ordering::Release);
}

/// The byte at an entry.
pub fn entry_byte(arena: &Arena, entry: usize) -> u8 {
    // SAFETY: as `set_entry_byte`.
    unsafe { AtomicU8::from_ptr(arena.writable(entry)) }.load(Ordering::Acquire)
}

/// Writes the tail of the head's `nop` behind an entry whose first byte is a trap.
pub fn set_head_tail(arena: &Arena, entry: usize) {
    let tail = &HEAD_NOP[1..];
    // SAFETY: each slot has a head from its entry on.
    unsafe { arch::copy_bytes(arena.writable(entry + 1), tail.as_ptr(), tail.len()) };
}

/// Turns a trap whose head was written into the `nop`.
pub fn open_head(arena: &Arena, entry: usize) {
    set_entry_byte(arena, entry, HEAD_NOP[0]);
}

/// Writes the tail of `jmp rel32` behind an entry whose first byte is a trap.
///
/// No thread can stand between the first byte and the last: the head is one instruction.
pub fn set_jump_tail(arena: &Arena, entry: usize, target: usize) {
    let tail = (target.wrapping_sub(entry + JUMP_BYTES) as u32).to_le_bytes();
    // SAFETY: each slot has a head from its entry on, as long as a jump.
    unsafe { arch::copy_bytes(arena.writable(entry + 1), tail.as_ptr(), tail.len()) };
}

/// Turns a trap whose tail was written into the jump.
pub fn open_jump(arena: &Arena, entry: usize) {
    set_entry_byte(arena, entry, JUMP);
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
