//! Where everything lies in a file whose text is an arena, and its headers.
//!
//! ```text
//! header page   ELF header, program headers, section headers
//! text          the places of the arena
//! behind it     strings, index of FDEs, FDEs, symbols: each with room for all layouts
//! ```
//!
//! The file is mapped as it is, so that addresses in it are offsets. Sections grow with each
//! layout.
//!
//! Source: System V gABI, "Object Files" and "Program Loading".

#![forbid(unsafe_code)]

use super::headers::{self, HEADER_BYTES, Kind, SECTION_BYTES, SEGMENT_BYTES, Section};
use super::needs::Needs;
use super::sink::{Part, Sink};
use super::source::{Addresses, INDEX_BYTES, SYMBOL_BYTES};
use szc_code::image_file::FileRoom;
use szc_sys::os::PAGE_BYTES;

/// Bytes in front of the index's entries.
const INDEX_HEAD_BYTES: usize = 12;

const SEGMENTS: usize = 2;
const SECTIONS: usize = 7;

/// Names of the sections, and where each begins in them.
const SECTION_NAMES: &[u8] = b"\0.text\0.eh_frame_hdr\0.eh_frame\0.symtab\0.strtab\0.shstrtab\0";
const SECTION_NAMES_AT: [u32; SECTIONS] = [0, 1, 7, 21, 31, 39, 47];
const SECTION_HEADERS_AT: usize = HEADER_BYTES + SEGMENTS * SEGMENT_BYTES;
const SECTION_NAMES_OFFSET: usize = SECTION_HEADERS_AT + SECTIONS * SECTION_BYTES;

const _: () = assert!(SECTION_NAMES_OFFSET + SECTION_NAMES.len() <= PAGE_BYTES);

/// Bytes that an arena has to have for what a file says of its layouts.
pub fn room(needs: &Needs) -> FileRoom {
    FileRoom {
        once_bytes: needs.strings_bytes + needs.cies_bytes + SYMBOL_BYTES + INDEX_HEAD_BYTES
            // Each part begins on a multiple of 8.
            + 4 * 8,
        place_bytes: needs.symbols_bytes + needs.frames_bytes + needs.index_bytes,
    }
}

/// Where the parts lie; sizes are those with room for all layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    needs: Needs,
    text: Part,
    /// Names of functions.
    pub strings: Part,
    index: Part,
    frames: Part,
    symbols: Part,
    bytes: usize,
}

impl Outline {
    /// Of a file whose text takes so many bytes behind the header page, in `places`.
    pub fn new(needs: Needs, text_bytes: usize, places: usize) -> Self {
        let mut end = PAGE_BYTES + text_bytes;
        let mut part = |bytes: usize| {
            let offset = end.next_multiple_of(8);
            end = offset + bytes;
            Part { offset, bytes }
        };
        let strings = part(needs.strings_bytes);
        let index = part(INDEX_HEAD_BYTES + places * needs.index_bytes);
        let frames = part(needs.cies_bytes + places * needs.frames_bytes);
        let symbols = part(SYMBOL_BYTES + places * needs.symbols_bytes);
        let text = Part { offset: PAGE_BYTES, bytes: text_bytes };
        Self { needs, text, strings, index, frames, symbols, bytes: end }
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The CIEs.
    pub fn cies(&self) -> Part {
        Part { bytes: self.needs.cies_bytes, ..self.frames }
    }

    /// What stands in front of the index's entries.
    pub fn index_head(&self) -> Part {
        Part { bytes: INDEX_HEAD_BYTES, ..self.index }
    }

    /// What a layout has of symbols, FDEs, and their index.
    pub fn layout(&self, place: usize) -> [Part; 3] {
        let part = |all: Part, head: usize, bytes: usize| {
            let offset = all.offset + head + place * bytes;
            Part { offset, bytes }
        };
        [
            part(self.symbols, SYMBOL_BYTES, self.needs.symbols_bytes),
            part(self.frames, self.needs.cies_bytes, self.needs.frames_bytes),
            part(self.index, INDEX_HEAD_BYTES, self.needs.index_bytes),
        ]
    }

    /// Addresses that a layout's FDEs refer to.
    pub fn addresses(&self, place: usize) -> Addresses {
        Addresses {
            cies: self.frames.offset as u64,
            frames: self.layout(place)[1].offset as u64,
            index: self.index.offset as u64,
            symbols_from: 0,
        }
    }

    /// Writes what stands in front of the index's entries, of so many layouts.
    pub fn write_index_head(&self, out: &mut [u8], layouts: usize) {
        let mut sink = Sink::new(Some(out));
        // Version; 4 bytes from their own place, 4 bytes, pairs of 4 bytes from the index.
        sink.bytes(&[1, 0x1b, 0x03, 0x3b]);
        sink.u32(self.frames.offset.wrapping_sub(self.index.offset + 4) as u32);
        sink.u32((layouts * self.needs.index_bytes / INDEX_BYTES) as u32);
    }

    /// Number of layouts in such an index, of an image that has functions.
    pub fn layouts(&self, index_head: &[u8]) -> usize {
        let count = index_head.get(8..).and_then(|bytes| bytes.first_chunk());
        let entries = count.map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
        entries * INDEX_BYTES / self.needs.index_bytes.max(1)
    }

    /// Writes the header page of a file with so many layouts.
    pub fn write_header(&self, out: &mut [u8], layouts: usize) {
        let grown = |part: Part, head: usize, each: usize| Part {
            offset: part.offset,
            bytes: head + layouts * each,
        };
        let index = grown(self.index, INDEX_HEAD_BYTES, self.needs.index_bytes);
        let frames = grown(self.frames, self.needs.cies_bytes, self.needs.frames_bytes);
        let symbols = grown(self.symbols, SYMBOL_BYTES, self.needs.symbols_bytes);
        let names = Part { offset: SECTION_NAMES_OFFSET, bytes: SECTION_NAMES.len() };
        let mut sink = Sink::new(Some(out));
        headers::file(&mut sink, Kind::Shared, SEGMENTS, SECTIONS);
        const LOADED: u32 = 1;
        const EH_FRAME: u32 = 0x6474_e550;
        let whole = Part { offset: 0, bytes: self.bytes };
        headers::segment(&mut sink, LOADED, 5, whole, PAGE_BYTES);
        headers::segment(&mut sink, EH_FRAME, 4, index, 4);
        sink.zeros(SECTION_BYTES);
        let section = |index: usize, kind: u32, flags: u64, part: Part| Section {
            name_at: SECTION_NAMES_AT[index],
            kind,
            flags,
            address: if flags == 0 { 0 } else { part.offset as u64 },
            part,
            ..Section::default()
        };
        let symbols = section(4, 2, 0, symbols);
        let symbols = Section { link_and_info: [5, 1], entry_bytes: SYMBOL_BYTES, ..symbols };
        for section in [
            section(1, 1, 6, self.text),
            section(2, 1, 2, index),
            section(3, 1, 2, frames),
            symbols,
            section(5, 3, 0, self.strings),
            section(6, 3, 0, names),
        ] {
            section.write(&mut sink);
        }
        sink.bytes(SECTION_NAMES);
    }
}
