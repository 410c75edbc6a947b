//! Where everything lies in the file, and its headers.
//!
//! ```text
//! header page   ELF header, program headers, section headers
//! text          the places of the arena
//! behind it     strings, index of rules, rules, symbols: each with room for all layouts
//! ```
//!
//! The file is mapped as it is, so that addresses in it are offsets. Sections grow with each
//! layout.
//!
//! Source: System V gABI, "Object Files" and "Program Loading".

#![forbid(unsafe_code)]

use super::super::sink::{Part, Sink};
use super::layout::{Addresses, Commons, INDEX_BYTES, Out, Places, SYMBOL_BYTES, Source};
use crate::os::PAGE_BYTES;

/// Bytes in front of the index's entries.
const INDEX_HEAD_BYTES: usize = 12;

const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const SEGMENTS: usize = 2;
const SECTION_BYTES: usize = 64;
const SECTIONS: usize = 7;

/// Names of the sections, and where each begins in them.
const SECTION_NAMES: &[u8] = b"\0.text\0.eh_frame_hdr\0.eh_frame\0.symtab\0.strtab\0.shstrtab\0";
const SECTION_NAMES_AT: [u32; SECTIONS] = [0, 1, 7, 21, 31, 39, 47];
const SECTION_HEADERS_AT: usize = HEADER_BYTES + SEGMENTS * SEGMENT_BYTES;
const SECTION_NAMES_OFFSET: usize = SECTION_HEADERS_AT + SECTIONS * SECTION_BYTES;

const _: () = assert!(SECTION_NAMES_OFFSET + SECTION_NAMES.len() <= PAGE_BYTES);

/// What an image and each of its layouts take in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    strings_bytes: usize,
    commons: Commons,
    commons_bytes: usize,
    /// Of each layout: bytes.
    symbols_bytes: usize,
    frames_bytes: usize,
    index_bytes: usize,
}

/// Room behind the places of an arena, and in front of them if there is any: a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes whatever the number of places.
    pub once_bytes: usize,
    /// Bytes for each place.
    pub place_bytes: usize,
}

/// No layout at all: for counting.
struct Nowhere;

impl Places for Nowhere {
    fn function(&self, position: u32) -> u32 {
        position
    }
    fn body(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn full_check(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn spare(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn stub(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn pad(&self, _: u32) -> u32 {
        0
    }
}

impl Needs {
    /// Those of an image.
    pub fn of(source: &Source<'_>) -> Self {
        let mut sink = Sink::new(None);
        let commons = source.commons(&mut sink);
        let mut out =
            Out { symbols: Sink::new(None), frames: Sink::new(None), index: Sink::new(None) };
        source.layout(&Nowhere, &commons, Addresses::default(), &mut out);
        Self {
            strings_bytes: 1 + source.table.names().len(),
            commons,
            commons_bytes: sink.at,
            symbols_bytes: out.symbols.at,
            frames_bytes: out.frames.at,
            index_bytes: out.index.at,
        }
    }

    /// What beginnings of rules there are.
    pub fn commons(&self) -> &Commons {
        &self.commons
    }

    /// Bytes that an arena has to have for them.
    pub fn room(&self) -> Room {
        Room {
            once_bytes: self.strings_bytes + self.commons_bytes + SYMBOL_BYTES + INDEX_HEAD_BYTES
                // Each part begins on a multiple of 8.
                + 4 * 8,
            place_bytes: self.symbols_bytes + self.frames_bytes + self.index_bytes,
        }
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
        let frames = part(needs.commons_bytes + places * needs.frames_bytes);
        let symbols = part(SYMBOL_BYTES + places * needs.symbols_bytes);
        let text = Part { offset: PAGE_BYTES, bytes: text_bytes };
        Self { needs, text, strings, index, frames, symbols, bytes: end }
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The beginnings of rules.
    pub fn commons(&self) -> Part {
        Part { bytes: self.needs.commons_bytes, ..self.frames }
    }

    /// What stands in front of the index's entries.
    pub fn index_head(&self) -> Part {
        Part { bytes: INDEX_HEAD_BYTES, ..self.index }
    }

    /// What a layout has of symbols, rules, and their index.
    pub fn layout(&self, place: usize) -> [Part; 3] {
        let part = |all: Part, head: usize, bytes: usize| {
            let offset = all.offset + head + place * bytes;
            Part { offset, bytes }
        };
        [
            part(self.symbols, SYMBOL_BYTES, self.needs.symbols_bytes),
            part(self.frames, self.needs.commons_bytes, self.needs.frames_bytes),
            part(self.index, INDEX_HEAD_BYTES, self.needs.index_bytes),
        ]
    }

    /// Addresses that a layout's rules refer to.
    pub fn addresses(&self, place: usize) -> Addresses {
        Addresses {
            commons: self.frames.offset as u64,
            frames: self.layout(place)[1].offset as u64,
            index: self.index.offset as u64,
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
        let frames = grown(self.frames, self.needs.commons_bytes, self.needs.frames_bytes);
        let symbols = grown(self.symbols, SYMBOL_BYTES, self.needs.symbols_bytes);
        let names = Part { offset: SECTION_NAMES_OFFSET, bytes: SECTION_NAMES.len() };
        let mut sink = Sink::new(Some(out));
        sink.bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"); // 64 bits, little-endian
        sink.u16(3); // a shared object
        sink.u16(62); // x86-64
        sink.u32(1);
        sink.u64(0);
        sink.u64(HEADER_BYTES as u64);
        sink.u64(SECTION_HEADERS_AT as u64);
        sink.u32(0);
        let last = SECTIONS - 1;
        for half in [HEADER_BYTES, SEGMENT_BYTES, SEGMENTS, SECTION_BYTES, SECTIONS, last] {
            sink.u16(half as u16);
        }
        const LOADED: u32 = 1;
        const EH_FRAME: u32 = 0x6474_e550;
        segment(&mut sink, LOADED, 5, Part { offset: 0, bytes: self.bytes }, PAGE_BYTES);
        segment(&mut sink, EH_FRAME, 4, index, 4);
        sink.zeros(SECTION_BYTES);
        // Kinds: 1 bytes of the program, 2 symbols, 3 strings. Flags: 2 loaded, 4 executable.
        section(&mut sink, 1, 1, 6, self.text, [0, 0], 0);
        section(&mut sink, 2, 1, 2, index, [0, 0], 0);
        section(&mut sink, 3, 1, 2, frames, [0, 0], 0);
        section(&mut sink, 4, 2, 0, symbols, [5, 1], SYMBOL_BYTES);
        section(&mut sink, 5, 3, 0, self.strings, [0, 0], 0);
        section(&mut sink, 6, 3, 0, names, [0, 0], 0);
        sink.bytes(SECTION_NAMES);
    }
}

fn segment(sink: &mut Sink<'_>, kind: u32, flags: u32, part: Part, alignment: usize) {
    sink.u32(kind);
    sink.u32(flags);
    for offset_and_addresses in [part.offset; 3] {
        sink.u64(offset_and_addresses as u64);
    }
    for bytes_in_file_and_memory in [part.bytes; 2] {
        sink.u64(bytes_in_file_and_memory as u64);
    }
    sink.u64(alignment as u64);
}

fn section(
    sink: &mut Sink<'_>,
    index: usize,
    kind: u32,
    flags: u64,
    part: Part,
    [link, info]: [u32; 2],
    entry_bytes: usize,
) {
    sink.u32(SECTION_NAMES_AT[index]);
    sink.u32(kind);
    sink.u64(flags);
    sink.u64(if flags == 0 { 0 } else { part.offset as u64 });
    sink.u64(part.offset as u64);
    sink.u64(part.bytes as u64);
    sink.u32(link);
    sink.u32(info);
    sink.u64(8);
    sink.u64(entry_bytes as u64);
}
