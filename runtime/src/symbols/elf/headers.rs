//! Headers of ELF files.
//!
//! Source: System V gABI, "Object Files".

#![forbid(unsafe_code)]

use super::sink::{Part, Sink};

/// Bytes of a file's header, of a program header and of a section header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of a program header.
pub const SEGMENT_BYTES: usize = 56;
/// Bytes of a section header.
pub const SECTION_BYTES: usize = 64;

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ET_REL`
    Object = 1,
    /// `ET_DYN`
    Shared = 3,
}

/// Writes a file's header, behind which its program headers and then its section headers follow.
/// The last section has the names of all.
pub fn file(sink: &mut Sink<'_>, kind: Kind, segments: usize, sections: usize) {
    let sections_at = HEADER_BYTES + segments * SEGMENT_BYTES;
    sink.bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"); // 64 bits, little-endian
    sink.u16(kind as u16);
    sink.u16(62); // x86-64
    sink.u32(1);
    sink.u64(0);
    sink.u64(if segments > 0 { HEADER_BYTES as u64 } else { 0 });
    sink.u64(sections_at as u64);
    sink.u32(0);
    let each = if segments > 0 { SEGMENT_BYTES } else { 0 };
    for half in [HEADER_BYTES, each, segments, SECTION_BYTES, sections, sections - 1] {
        sink.u16(half as u16);
    }
}

/// Writes a program header of a part whose offset is its address.
pub fn segment(sink: &mut Sink<'_>, kind: u32, flags: u32, part: Part, alignment: usize) {
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

/// A section header.
#[derive(Clone, Copy, Debug, Default)]
pub struct Section {
    /// Where its name begins among the names.
    pub name_at: u32,
    /// 1 bytes of the program, 2 symbols, 3 strings, 8 memory that the file does not have.
    pub kind: u32,
    /// 2 loaded, 4 executable.
    pub flags: u64,
    /// Its address, if it is loaded.
    pub address: u64,
    /// Where it is in the file.
    pub part: Part,
    /// The section of a symbol's name, and the number of local symbols.
    pub link_and_info: [u32; 2],
    /// Bytes of an entry, if it has some.
    pub entry_bytes: usize,
}

impl Section {
    /// Writes it.
    pub fn write(self, sink: &mut Sink<'_>) {
        sink.u32(self.name_at);
        sink.u32(self.kind);
        sink.u64(self.flags);
        sink.u64(self.address);
        sink.u64(self.part.offset as u64);
        sink.u64(self.part.bytes as u64);
        sink.u32(self.link_and_info[0]);
        sink.u32(self.link_and_info[1]);
        sink.u64(8); // alignment
        sink.u64(self.entry_bytes as u64);
    }
}
