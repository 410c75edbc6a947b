//! The numbers of sections in the dynamic symbol table, which change where sections in front of
//! others are taken out.
//!
//! GNU ld puts the relocations that it retains beside the sections that they are for. objcopy does
//! not look into what is loaded, so it leaves those numbers as they were. Loaders do not ask for
//! them; but linkers that link against the library report an "unresolvable relocation" of a
//! variable that seems to lie in a section which is not loaded.
//!
//! Source: generic ABI, "Symbol Table" (`st_shndx`).

use crate::frame::NewBytes;
use anyhow::{Context as _, Result};
use object::read::elf::{ElfFile64, SectionHeader as _, Sym as _};
use object::{Endianness, elf};
use std::mem::{offset_of, size_of};

/// What changes in an image, by offset in its file, if the sections of these names are taken out.
///
/// # Errors
/// Its tables lie outside the file.
pub fn without(data: &[u8], removed: &[String]) -> Result<Vec<(usize, NewBytes)>> {
    let file = ElfFile64::<Endianness>::parse(data).context("not an image")?;
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let is_removed = |header: &elf::SectionHeader64<Endianness>| {
        let name = sections.section_name(endian, header).map(String::from_utf8_lossy);
        name.is_ok_and(|name| removed.iter().any(|removed| *removed == name))
    };
    let gone: Vec<usize> = sections
        .iter()
        .enumerate()
        .filter_map(|(number, header)| is_removed(header).then_some(number))
        .collect();
    let mut changes = Vec::new();
    for header in sections.iter().filter(|header| header.sh_type(endian) == elf::SHT_DYNSYM) {
        type Symbol = elf::Sym64<Endianness>;
        let symbols: &[Symbol] =
            header.data_as_array(endian, data).context("a symbol table lies outside the file")?;
        let start = usize::try_from(header.sh_offset(endian))?;
        for (index, symbol) in symbols.iter().enumerate() {
            let old = symbol.st_shndx(endian).0;
            let lower = gone.partition_point(|&number| number < usize::from(old));
            if old < elf::SHN_LORESERVE && lower > 0 {
                let number = old - u16::try_from(lower)?;
                let at = start + index * size_of::<Symbol>() + offset_of!(Symbol, st_shndx);
                changes.push((at, NewBytes::from_slice(&number.to_le_bytes())));
            }
        }
    }
    Ok(changes)
}
