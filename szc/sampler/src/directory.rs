//! Finds in a program's file where a directory is that leads to what its runtime keeps.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Endianness, elf};

/// How far behind the beginning of a mapping the directory is that begins with these words, if the
/// file is a program of szc and the mapping is that of its text, from this offset of the file on.
/// In front of it numbers wrap around.
#[must_use]
pub fn distance(path: &Path, text_offset: u64, magic: [u64; 2]) -> Option<u64> {
    let data = fs::read(path).ok()?;
    let file = ElfFile64::<Endianness>::parse(&*data).ok()?;
    let endian = file.endian();
    let loaded = || {
        file.elf_program_headers().iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
    };
    let text = loaded().find(|segment| {
        let offset = segment.p_offset(endian);
        page(offset) == text_offset
            && offset + segment.p_filesz(endian) > text_offset
            && segment.p_flags(endian).contains(elf::PF_X)
    })?;
    let start = page(text.p_vaddr(endian));
    loaded().filter(|segment| segment.p_flags(endian).contains(elf::PF_W)).find_map(|segment| {
        let at = position(segment.data(endian, &*data).ok()?, magic)?;
        Some(segment.p_vaddr(endian).wrapping_add(at).wrapping_sub(start))
    })
}

/// The beginning of the page that an address or offset lies in.
fn page(address: u64) -> u64 {
    address & !0xfff
}

/// Where the first bytes of a directory are.
fn position(bytes: &[u8], magic: [u64; 2]) -> Option<u64> {
    let magic = magic.map(u64::to_le_bytes);
    let words = bytes.as_chunks::<8>().0;
    let index = words.windows(2).position(|window| window == magic)?;
    Some(index as u64 * 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u64; 2] = szc_abi::copies::DIRECTORY_MAGIC;

    #[test]
    fn a_directory_is_found_by_its_first_bytes_at_a_word() {
        let magic = MAGIC.map(u64::to_le_bytes).concat();
        assert_eq!(position(&[&[0; 16][..], &magic, &[9; 3]].concat(), MAGIC), Some(16));
        assert_eq!(position(&[&[0; 12][..], &magic].concat(), MAGIC), None);
        assert_eq!(position(&magic[..15], MAGIC), None);
    }

    #[test]
    fn a_program_that_szc_has_not_built_has_none() {
        assert_eq!(distance(&std::env::current_exe().unwrap(), 0, MAGIC), None);
        assert_eq!(distance(Path::new("/nowhere"), 0, MAGIC), None);
    }
}
