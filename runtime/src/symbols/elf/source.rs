//! What is said of one layout: a symbol for each part of a function, and the FDEs that hold there,
//! in the form of `.eh_frame` for files or of `.debug_frame` for debuggers.
//!
//! Every layout of an image takes the same bytes for that, so that each has its place in a file.
//! FDEs are those of the image's own file, which begin to hold elsewhere; where a frame has a pad,
//! those of the relocation table, with the pad in them.
//!
//! Sources: System V gABI (ELF64); Linux Standard Base, "Exception Frames"; DWARF 4, 6.4.

#![forbid(unsafe_code)]

use super::sink::Sink;
use szc_abi::unwind::{Cie, EhFrame, Fde};
use szc_abi::{Movable, OFFSET_BYTES, PATCHABLE_ENTRY_BYTES, Table, put_offset};
use szc_layout::arch::patch::{STUB_BYTES, STUB_CFA};
use szc_layout::arch::stack_check::{CHECK_BYTES, FULL_CHECK_BYTES};
use szc_layout::body::frame_of;
use szc_layout::slot::{self, FunctionSlot, Patching};

/// Bytes of a symbol, and of an entry of the index of FDEs.
pub const SYMBOL_BYTES: usize = 24;
pub const INDEX_BYTES: usize = 8;

/// The number of the section that all copies are in.
const TEXT: u16 = 1;

/// Most different CIEs in an image. A linker merges equal ones: C has one, C++ one for each way to
/// handle exceptions.
const MAX_CIES: usize = 16;

/// What a CIE of `.debug_frame` has where an FDE has the offset of its CIE.
const DEBUG_CIE_ID: u32 = u32::MAX;

const DW_CFA_ADVANCE_LOC: u8 = 0x40;

// The distance from the entry to the body is one instruction.
const _: () = assert!(PATCHABLE_ENTRY_BYTES as usize + CHECK_BYTES < 0x40);

/// Where a layout has its functions.
pub trait Places {
    /// The function at a position, in the order of addresses.
    fn function(&self, position: u32) -> u32;
    /// Address behind a function's no-op.
    fn body(&self, function: u32) -> u64;
    /// Address of its full check.
    fn full_check(&self, function: u32) -> u64;
    /// Address of its unpadded clone.
    fn clone(&self, function: u32) -> u64;
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
    /// FDEs in its file.
    pub unwind: Option<EhFrame<'a>>,
    /// Whether what is said is for a debugger, and not for a file.
    pub for_debugger: bool,
}

/// The CIEs that were written: their addresses in the image's own file, from its first byte on,
/// where its header is, and offsets from the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cies {
    known: [(u32, u32); MAX_CIES],
}

/// Where a layout's part of each table lies: addresses of the file, or offsets in the section for a
/// debugger.
#[derive(Clone, Copy, Debug, Default)]
pub struct Addresses {
    /// The first CIE.
    pub cies: u64,
    /// The FDEs of this layout.
    pub frames: u64,
    /// The index of all FDEs.
    pub index: u64,
    /// What the values of symbols count from.
    pub symbols_from: u64,
}

/// The three tables, as far as they are this layout's.
pub struct Out<'a> {
    /// Symbols.
    pub symbols: Sink<'a>,
    /// FDEs.
    pub frames: Sink<'a>,
    /// Their index.
    pub index: Sink<'a>,
}

impl Source<'_> {
    /// Writes the CIEs of all layouts, that of stubs first.
    pub fn cies(&self, sink: &mut Sink<'_>) -> Cies {
        let mut cies = Cies::default();
        // The CFA is 8 above the stack pointer, the return address below it.
        self.cie(sink, -8, 16, &[0x0c, 7, 8, 0x90, 1]);
        let Some(unwind) = &self.unwind else { return cies };
        for function in (0..self.table.movable_count()).filter_map(|i| self.table.movable(i)) {
            self.each_frame(unwind, &function, |frame| {
                let address = self.distance(frame.cie.address);
                if cies.offset(address).is_none()
                    && let Some(free) = cies.known.iter_mut().find(|(known, _)| *known == 0)
                {
                    *free = (address, sink.at as u32);
                    let Cie { data_alignment, return_column, instructions, .. } = frame.cie;
                    self.cie(sink, data_alignment, return_column, instructions);
                }
            });
        }
        cies
    }

    /// Distance of a link address from the image's first byte.
    fn distance(&self, address: u64) -> u32 {
        address.wrapping_sub(self.table.header().link_base()) as u32
    }

    fn each_frame(&self, unwind: &EhFrame<'_>, function: &Movable, visit: impl FnMut(&Fde<'_>)) {
        let start = self.table.header().link_base() + u64::from(function.start);
        unwind.for_each(start, start + u64::from(function.size), visit);
    }

    /// Writes what there is to say of a layout.
    pub fn layout(&self, places: &impl Places, cies: &Cies, at: Addresses, out: &mut Out<'_>) {
        let count = self.table.movable_count() as u32;
        for position in 0..count {
            let index = places.function(position);
            let Some(function) = self.table.movable(index as usize) else { continue };
            let slot = FunctionSlot::of(&function, self.frames, Patching::NoOps);
            let body = places.body(index);
            let entry = body - u64::from(PATCHABLE_ENTRY_BYTES);
            if self.for_debugger {
                // Breakpoints in front of the body would go when the entry is patched.
                symbol(at, out, &function, body, function.size);
            } else {
                symbol(at, out, &function, entry, PATCHABLE_ENTRY_BYTES + slot.bytes);
            }
            let lead = PATCHABLE_ENTRY_BYTES + slot.body;
            let pad = slot.padded.and(Some(places.pad(index)));
            self.fdes(&function, (entry, lead, pad), cies, at, out);
        }
        let padded = || {
            (0..count).filter_map(|index| {
                let function = self.table.movable(index as usize)?;
                let slot = FunctionSlot::of(&function, self.frames, Patching::NoOps);
                Some((index, function, slot.padded?.clone_bytes))
            })
        };
        for (index, function, _) in padded() {
            let start = places.full_check(index);
            symbol(at, out, &function, start, FULL_CHECK_BYTES as u32);
            self.fde(at, out, 0, (start, FULL_CHECK_BYTES as u64), |_| {});
        }
        for (index, function, bytes) in padded() {
            let start = places.clone(index);
            symbol(at, out, &function, start, bytes);
            self.fdes(&function, (start, 0, None), cies, at, out);
        }
        for index in 0..count {
            let stub = (places.stub(index), STUB_BYTES as u64);
            self.fde(at, out, 0, stub, |sink| sink.bytes(&STUB_CFA));
        }
    }

    /// The FDEs of a copy that begins at an address, so many bytes in front of its body. With a
    /// pad, the frame is so much larger.
    fn fdes(
        &self,
        function: &Movable,
        (address, lead, pad): (u64, u32, Option<u32>),
        cies: &Cies,
        at: Addresses,
        out: &mut Out<'_>,
    ) {
        let Some(unwind) = &self.unwind else { return };
        self.each_frame(unwind, function, |frame| {
            let Some(cie) = cies.offset(self.distance(frame.cie.address)) else { return };
            let inside = u64::from(self.distance(frame.start) - function.start);
            let bytes = frame.bytes.min(u64::from(function.size) - inside);
            let padded = pad.filter(|_| inside == 0);
            // Only the first begins at the entry, in front of which nothing has happened yet.
            let (begin, before) = match inside {
                0 => (address, lead),
                _ => (address + u64::from(lead) + inside, 0),
            };
            self.fde(at, out, cie, (begin, bytes + u64::from(before)), |sink| {
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

    /// The instructions of a frame that is larger by a pad.
    fn padded(&self, sink: &mut Sink<'_>, function: &Movable, frame: &Fde<'_>, pad: u32) {
        let fde = frame_of(self.table, function).ok().and_then(|frame| frame.fde);
        let Some(fde) = fde else { return sink.bytes(frame.instructions) };
        let mut done = frame.instructions_at();
        for at in fde.offsets.clone() {
            let at_byte = at as usize;
            sink.bytes(fde.bytes.get(done..at_byte).unwrap_or(&[]));
            sink.bytes(&put_offset(fde.offset(at).unwrap_or(0) + pad));
            done = at_byte + OFFSET_BYTES;
        }
        sink.bytes(fde.bytes.get(done..).unwrap_or(&[]));
    }

    fn cie(&self, sink: &mut Sink<'_>, data_alignment: i64, column: u8, instructions: &[u8]) {
        sink.entry(|sink| {
            // Version, augmentation, code alignment.
            if self.for_debugger {
                sink.u32(DEBUG_CIE_ID);
                sink.bytes(b"\x01\0\x01");
            } else {
                sink.u32(0);
                sink.bytes(b"\x01zR\0\x01");
            }
            sink.signed(data_alignment);
            sink.bytes(&[column]);
            if !self.for_debugger {
                // Addresses count from their own place and take 4 bytes.
                sink.bytes(&[1, 0x1b]);
            }
            sink.bytes(instructions);
        });
    }

    /// An FDE of so many bytes of code, which `instructions` writes the rest of.
    fn fde(
        &self,
        at: Addresses,
        out: &mut Out<'_>,
        cie: u32,
        (start, bytes): (u64, u64),
        instructions: impl FnOnce(&mut Sink<'_>),
    ) {
        let address = at.frames + out.frames.at as u64;
        out.index.u32(start.wrapping_sub(at.index) as u32);
        out.index.u32(address.wrapping_sub(at.index) as u32);
        out.frames.entry(|sink| {
            let here = |sink: &Sink<'_>| at.frames + sink.at as u64;
            if self.for_debugger {
                sink.u32(at.cies as u32 + cie);
                sink.u64(start);
                sink.u64(bytes);
            } else {
                sink.u32((here(sink) - at.cies - u64::from(cie)) as u32);
                sink.u32(start.wrapping_sub(here(sink)) as u32);
                sink.u32(bytes as u32);
                sink.bytes(&[0]);
            }
            instructions(sink);
        });
    }
}

impl Cies {
    fn offset(&self, address: u32) -> Option<u32> {
        self.known.iter().find(|(known, _)| *known == address).map(|(_, at)| *at)
    }
}

fn symbol(at: Addresses, out: &mut Out<'_>, function: &Movable, address: u64, bytes: u32) {
    // The strings are the table's names behind an empty one.
    out.symbols.u32(1 + function.name_at);
    out.symbols.bytes(&[1 << 4 | 2, 0]); // a global function
    out.symbols.u16(TEXT);
    out.symbols.u64(address - at.symbols_from);
    out.symbols.u64(u64::from(bytes));
}
