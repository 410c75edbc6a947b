//! What the file says of one layout: a symbol for each part of a function, and the unwind rules
//! that hold there.
//!
//! Every layout of an image takes the same bytes for that, so that each has its place in the file.
//! Rules are those of the image's own file, told to start elsewhere; where a frame has a pad, those
//! of the relocation table, with the pad in them.
//!
//! Sources: System V gABI (ELF64); Linux Standard Base, "Exception Frames"; DWARF 4, 6.4.

#![forbid(unsafe_code)]

use super::super::sink::Sink;
use crate::arch::check::{CHECK_BYTES, FULL_CHECK_BYTES};
use crate::arch::entry::{STUB_BYTES, STUB_RULES};
use crate::code::body::frame_of;
use crate::code::slot::{self, Entrances, Slot};
use szc_abi::unwind::{Common, Frame, Frames};
use szc_abi::{Movable, OFFSET_BYTES, SLOT_HEAD_BYTES, Table, put_offset};

/// Bytes of a symbol, and of an entry of the index of rules.
pub const SYMBOL_BYTES: usize = 24;
pub const INDEX_BYTES: usize = 8;

/// The number of the section that all copies are in.
const TEXT: u16 = 1;

/// Most different beginnings of rules (CIEs) in an image. A linker merges equal ones: C has one,
/// C++ one for each way to handle exceptions.
const MAX_COMMONS: usize = 16;

const DW_CFA_ADVANCE_LOC: u8 = 0x40;

// The distance from the entry to the body is one instruction.
const _: () = assert!(SLOT_HEAD_BYTES as usize + CHECK_BYTES < 0x40);

/// Where a layout has its functions, as addresses of the file.
pub trait Places {
    /// The function at a position, in the order of addresses.
    fn function(&self, position: u32) -> u32;
    /// Address behind a function's head.
    fn body(&self, function: u32) -> u64;
    /// Address of its full check.
    fn full_check(&self, function: u32) -> u64;
    /// Address of its spare body.
    fn spare(&self, function: u32) -> u64;
    /// Address of its stub.
    fn stub(&self, function: u32) -> u64;
    /// Bytes that its frame grows by.
    fn pad(&self, function: u32) -> u32;
}

/// What can be said of an image.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its functions.
    pub table: &'a Table<'a>,
    /// What copies do to frames.
    pub frames: slot::Frames,
    /// Rules in its file.
    pub unwind: Option<Frames<'a>>,
}

/// The beginnings of rules that were written to the file: their addresses in the image's own file,
/// from its first byte on, where its header is, and offsets from the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commons {
    known: [(u32, u32); MAX_COMMONS],
}

/// Where a layout's part of each table lies: addresses of the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Addresses {
    /// The first of all rules.
    pub commons: u64,
    /// Those of this layout.
    pub frames: u64,
    /// The index of all rules.
    pub index: u64,
}

/// The three tables, as far as they are this layout's.
pub struct Out<'a> {
    /// Symbols.
    pub symbols: Sink<'a>,
    /// Rules.
    pub frames: Sink<'a>,
    /// Their index.
    pub index: Sink<'a>,
}

impl Source<'_> {
    /// Writes what the rules of all layouts begin with, the stubs' first.
    pub fn commons(&self, sink: &mut Sink<'_>) -> Commons {
        let mut commons = Commons::default();
        // The CFA is 8 above the stack pointer, the return address below it.
        common(sink, -8, 16, &[0x0c, 7, 8, 0x90, 1]);
        let Some(unwind) = &self.unwind else { return commons };
        for function in (0..self.table.movable_count()).filter_map(|i| self.table.movable(i)) {
            self.each_frame(unwind, &function, |frame| {
                let address = self.distance(frame.common.address);
                if commons.offset(address).is_none()
                    && let Some(free) = commons.known.iter_mut().find(|(known, _)| *known == 0)
                {
                    *free = (address, sink.at as u32);
                    let Common { data_alignment, return_column, instructions, .. } = frame.common;
                    common(sink, data_alignment, return_column, instructions);
                }
            });
        }
        commons
    }

    /// Distance of a link address from the image's first byte.
    fn distance(&self, address: u64) -> u32 {
        address.wrapping_sub(self.table.header().link_base()) as u32
    }

    fn each_frame(&self, unwind: &Frames<'_>, function: &Movable, visit: impl FnMut(&Frame<'_>)) {
        let start = self.table.header().link_base() + u64::from(function.start);
        unwind.for_each(start, start + u64::from(function.size), visit);
    }

    /// Writes what there is to say of a layout.
    pub fn layout(
        &self,
        places: &impl Places,
        commons: &Commons,
        at: Addresses,
        out: &mut Out<'_>,
    ) {
        let count = self.table.movable_count() as u32;
        for position in 0..count {
            let index = places.function(position);
            let Some(function) = self.table.movable(index as usize) else { continue };
            let slot = Slot::of(&function, self.frames, Entrances::Heads);
            let entry = places.body(index) - u64::from(SLOT_HEAD_BYTES);
            symbol(&mut out.symbols, &function, entry, SLOT_HEAD_BYTES + slot.bytes);
            let lead = SLOT_HEAD_BYTES + slot.body;
            let pad = slot.spare.and(Some(places.pad(index)));
            self.rules(&function, (entry, lead, pad), commons, at, out);
        }
        let spares = || {
            (0..count).filter_map(|index| {
                let function = self.table.movable(index as usize)?;
                let spare = Slot::of(&function, self.frames, Entrances::Heads).spare?;
                Some((index, function, spare))
            })
        };
        for (index, function, _) in spares() {
            let start = places.full_check(index);
            symbol(&mut out.symbols, &function, start, FULL_CHECK_BYTES as u32);
            one_frame(at, out, 0, start, FULL_CHECK_BYTES as u64, |_| {});
        }
        for (index, function, spare) in spares() {
            let start = places.spare(index);
            symbol(&mut out.symbols, &function, start, spare.bytes);
            self.rules(&function, (start, 0, None), commons, at, out);
        }
        for index in 0..count {
            one_frame(at, out, 0, places.stub(index), STUB_BYTES as u64, |sink| {
                sink.bytes(&STUB_RULES);
            });
        }
    }

    /// The rules of a copy that begins at an address, so many bytes in front of its body. With a
    /// pad, the frame is so much larger.
    fn rules(
        &self,
        function: &Movable,
        (address, lead, pad): (u64, u32, Option<u32>),
        commons: &Commons,
        at: Addresses,
        out: &mut Out<'_>,
    ) {
        let Some(unwind) = &self.unwind else { return };
        self.each_frame(unwind, function, |frame| {
            let Some(common) = commons.offset(self.distance(frame.common.address)) else { return };
            let inside = u64::from(self.distance(frame.start) - function.start);
            let bytes = frame.bytes.min(u64::from(function.size) - inside);
            let padded = pad.filter(|_| inside == 0);
            // Only the first begins at the entry, in front of which nothing has happened yet.
            let (begin, before) = match inside {
                0 => (address, lead),
                _ => (address + u64::from(lead) + inside, 0),
            };
            one_frame(at, out, common, begin, bytes + u64::from(before), |sink| {
                if before > 0 {
                    sink.bytes(&[DW_CFA_ADVANCE_LOC | before as u8]);
                }
                match padded {
                    Some(pad) => self.padded(sink, function, frame, pad),
                    None => sink.bytes(frame.instructions),
                }
            });
        });
    }

    /// The rules of a frame that is larger by a pad.
    fn padded(&self, sink: &mut Sink<'_>, function: &Movable, frame: &Frame<'_>, pad: u32) {
        let rules = frame_of(self.table, function).ok().and_then(|frame| frame.rules);
        let Some(rules) = rules else { return sink.bytes(frame.instructions) };
        let mut done = frame.instructions_at();
        for at in rules.offsets.clone() {
            let at_byte = at as usize;
            sink.bytes(rules.bytes.get(done..at_byte).unwrap_or(&[]));
            sink.bytes(&put_offset(rules.offset(at).unwrap_or(0) + pad));
            done = at_byte + OFFSET_BYTES;
        }
        sink.bytes(rules.bytes.get(done..).unwrap_or(&[]));
    }
}

impl Commons {
    fn offset(&self, address: u32) -> Option<u32> {
        self.known.iter().find(|(known, _)| *known == address).map(|(_, at)| *at)
    }
}

fn symbol(sink: &mut Sink<'_>, function: &Movable, address: u64, bytes: u32) {
    // The strings are the table's names behind an empty one.
    sink.u32(1 + function.name_at);
    sink.bytes(&[1 << 4 | 2, 0]); // a global function
    sink.u16(TEXT);
    sink.u64(address);
    sink.u64(u64::from(bytes));
}

fn common(sink: &mut Sink<'_>, data_alignment: i64, return_column: u8, instructions: &[u8]) {
    sink.entry(|sink| {
        sink.u32(0);
        sink.bytes(b"\x01zR\0\x01"); // version, augmentation, code alignment
        sink.signed(data_alignment);
        // Addresses count from their own place and take 4 bytes.
        sink.bytes(&[return_column, 1, 0x1b]);
        sink.bytes(instructions);
    });
}

fn one_frame(
    at: Addresses,
    out: &mut Out<'_>,
    common: u32,
    start: u64,
    bytes: u64,
    rules: impl FnOnce(&mut Sink<'_>),
) {
    let address = at.frames + out.frames.at as u64;
    out.index.u32(start.wrapping_sub(at.index) as u32);
    out.index.u32(address.wrapping_sub(at.index) as u32);
    out.frames.entry(|sink| {
        let here = |sink: &Sink<'_>| at.frames + sink.at as u64;
        sink.u32((here(sink) - at.commons - u64::from(common)) as u32);
        sink.u32(start.wrapping_sub(here(sink)) as u32);
        sink.u32(bytes as u32);
        sink.bytes(&[0]);
        rules(sink);
    });
}
