//! Headers of ELF64 files and of images in memory.
//!
//! Source: System V gABI, "Object Files" and "Program Loading".

use crate::cursor::Cursor;
use core::ops::Range;

/// Kinds of segments (`p_type`): loaded, dynamic section, notes, search table of unwind tables.
pub const PT_LOAD: u32 = 1;
/// The dynamic section.
pub const PT_DYNAMIC: u32 = 2;
/// Notes.
pub const PT_NOTE: u32 = 4;
/// The search table of unwind tables (`.eh_frame_hdr`).
pub const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

/// Flag of a segment that is executed (`p_flags`).
pub const PF_X: u32 = 1;

/// Bytes of a file's header (`Elf64_Ehdr`), and of a program header (`Elf64_Phdr`).
pub const HEADER_BYTES: usize = 64;
/// Bytes of a program header.
pub const PROGRAM_HEADER_BYTES: usize = 56;

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is for.
    pub kind: u32,
    /// How it may be accessed.
    pub flags: u32,
    /// Offset in the file.
    pub offset: usize,
    /// Link address.
    pub address: u64,
    /// Bytes in the file.
    pub file_bytes: usize,
    /// Bytes in memory.
    pub bytes: usize,
    /// Alignment in memory.
    pub alignment: usize,
}

/// Where the header of a file says that its program headers are: the offset of the first one, and
/// their number. Nothing if they have another size, or the file is none.
#[must_use]
pub fn program_headers(header: &[u8]) -> Option<(usize, usize)> {
    if header.get(..4)? != b"\x7fELF" {
        return None;
    }
    let table = Cursor::new(header.get(0x20..)?).u64()?;
    let mut sizes = Cursor::new(header.get(0x36..)?);
    let (each, count) = (sizes.u16()?, sizes.u16()?);
    let expected = usize::from(each) == PROGRAM_HEADER_BYTES;
    expected.then_some((usize::try_from(table).ok()?, usize::from(count)))
}

/// The program headers of a file.
#[must_use]
pub fn segments(file: &[u8]) -> Option<impl Iterator<Item = Segment> + '_> {
    let (table, count) = program_headers(file)?;
    Some(segments_in(file.get(table..)?).take(count))
}

/// Program headers, one behind the other.
pub fn segments_in(headers: &[u8]) -> impl Iterator<Item = Segment> + '_ {
    headers.chunks_exact(PROGRAM_HEADER_BYTES).map_while(|header| {
        let mut cursor = Cursor::new(header);
        let (kind, flags) = (cursor.u32()?, cursor.u32()?);
        let mut long = || cursor.u64();
        let (offset, address, _physical) = (long()?, long()?, long()?);
        let mut size = || usize::try_from(long()?).ok();
        let (file_bytes, bytes, alignment) = (size()?, size()?, size()?);
        let offset = usize::try_from(offset).ok()?;
        Some(Segment { kind, flags, offset, address, file_bytes, bytes, alignment })
    })
}

/// Where a file has the bytes of a section of this name.
#[must_use]
pub fn section(file: &[u8], name: &str) -> Option<Range<usize>> {
    let at = |offset: usize| Some(Cursor::new(file.get(offset..)?));
    let long = |offset: usize| usize::try_from(at(offset)?.u64()?).ok();
    let word = |offset: usize| Some(at(offset)?.u32()? as usize);
    let half = |offset: usize| Some(usize::from(at(offset)?.u16()?));
    if file.get(..4)? != b"\x7fELF" {
        return None;
    }
    let (sections, each) = (long(0x28)?, half(0x3a)?);
    let header = |index: usize| sections.checked_add(index.checked_mul(each)?);
    // More than 65,279 sections: the counts stand in the first header.
    let first = header(0)?;
    let count = match half(0x3c)? {
        0 => long(first.saturating_add(0x20))?,
        count => count,
    };
    let names = match half(0x3e)? {
        0xffff => word(first.saturating_add(0x28))?,
        names => names,
    };
    let names_at = long(header(names)?.saturating_add(0x18))?;
    (0..count).map_while(header).find_map(|at| {
        let found = file.get(names_at.checked_add(word(at)?)?..)?;
        let is_it =
            found.get(..name.len())? == name.as_bytes() && found.get(name.len()) == Some(&0);
        let (offset, bytes) = (long(at.saturating_add(0x18))?, long(at.saturating_add(0x20))?);
        let end = offset.checked_add(bytes).filter(|&end| end <= file.len())?;
        is_it.then_some(offset..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_has_text_and_sections_inside_its_file() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let text = section(&file, ".text").unwrap();
        let segment = segments(&file)
            .unwrap()
            .find(|segment| segment.kind == PT_LOAD && segment.flags & PF_X != 0)
            .unwrap();
        assert!(segment.offset <= text.start);
        assert!(text.end <= segment.offset + segment.file_bytes);
        assert!(segment.file_bytes <= segment.bytes && segment.alignment.is_power_of_two());
        assert_eq!(section(&file, ".tex"), None);
        assert_eq!(section(&file, ".szc.none"), None);
    }

    #[test]
    fn what_is_cut_off_has_nothing_and_does_no_harm() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        for length in [0, 3, 4, 32, 63, 64, 100, 1000, 5000] {
            let part = &file[..length.min(file.len())];
            assert_eq!(section(part, ".text"), None);
            assert!(segments(part).is_none_or(|segments| segments.count() < 100));
        }
    }
}
