//! Addresses that stand in an image although no relocation that the linker retained says so: lld
//! leaves empty entries where relocations of the loader were merged (`-O2`), and tools and linker
//! scripts drop whole sections of them.
//!
//! What the loader relocates is known from its own relocations; an image at a fixed address has
//! none, so there the words themselves are read. Each address that is found becomes a relocation
//! like the others, and whatever cannot be explained by it is pinned.
//!
//! Sources: System V ABI, AMD64 supplement, 4.4; generic ABI, "Relative Relocation Table"
//! (`SHT_RELR`).

use super::{Image, Kind, Relocation};
use anyhow::{Context, Result};
use object::read::elf::{ElfFile64, SectionHeader, Sym};
use object::{Endianness, SectionIndex, SymbolIndex, elf};

/// Bytes of an address.
const WORD: u64 = 8;

impl<'data> Image<'data> {
    /// Adds what the retained relocations do not tell of addresses in data.
    pub(super) fn add_unexplained(
        &mut self,
        file: &ElfFile64<'data, Endianness>,
        data: &'data [u8],
    ) -> Result<()> {
        let mut words = self.relocated_by_the_loader(file, data)?;
        if self.kind == Kind::FixedExecutable {
            words.extend(self.sections.iter().flat_map(|section| self.addresses_in(section)));
        }
        // What reads an address in the offset table says so itself: its relocation leads through
        // the table.
        let in_offset_table = |place: u64| {
            self.section_at(place).is_some_and(|section| section.name.starts_with(".got"))
        };
        words.retain(|&(place, target)| {
            self.section_at(target).is_some()
                && !in_offset_table(place)
                && !self.says(place, target)
        });
        let added = words.into_iter().map(|(place, target)| Relocation {
            place,
            r_type: elf::R_X86_64_64,
            symbol: target,
            target,
        });
        self.relocations.extend(added);
        self.relocations.sort_by_key(|relocation| relocation.place);
        Ok(())
    }

    /// Whether a retained relocation puts this address there.
    fn says(&self, place: u64, target: u64) -> bool {
        self.relocations_in(place, place.saturating_add(1))
            .iter()
            .any(|known| known.r_type == elf::R_X86_64_64 && known.target == target)
    }

    /// Places and addresses that the loader puts there, as far as they are addresses of this image.
    fn relocated_by_the_loader(
        &self,
        file: &ElfFile64<'data, Endianness>,
        data: &'data [u8],
    ) -> Result<Vec<(u64, u64)>> {
        const OUTSIDE: &str = "a relocation section lies outside the file";
        let endian = file.endian();
        let sections = file.elf_section_table();
        let symbols = file.elf_dynamic_symbol_table();
        let mut words = Vec::new();
        for header in sections.iter() {
            if !header.sh_flags(endian).contains(elf::SHF_ALLOC) {
                continue;
            }
            let of_dynamic_symbols = sections
                .section(SectionIndex(header.sh_link(endian) as usize))
                .is_ok_and(|linked| linked.sh_type(endian) == elf::SHT_DYNSYM);
            let value = |index: u32| {
                let symbol = symbols.symbol(SymbolIndex(index as usize)).ok()?;
                let known = of_dynamic_symbols && !symbol.is_undefined(endian);
                known.then(|| symbol.st_value(endian))
            };
            if let Some((entries, _)) = header.rela(endian, data).context(OUTSIDE)? {
                for entry in entries {
                    let addend = entry.r_addend.get(endian);
                    let target = match entry.r_type(endian, false) {
                        elf::R_X86_64_RELATIVE => Some(addend.cast_unsigned()),
                        elf::R_X86_64_64 => value(entry.r_sym(endian, false))
                            .map(|at| at.wrapping_add_signed(addend)),
                        _ => None,
                    };
                    words.extend(target.map(|target| (entry.r_offset.get(endian), target)));
                }
            } else if let Some((entries, _)) = header.rel(endian, data).context(OUTSIDE)? {
                for entry in entries {
                    let place = entry.r_offset.get(endian);
                    let addend = self.word_at(place).unwrap_or(0);
                    let target = match entry.r_type(endian) {
                        elf::R_X86_64_RELATIVE => Some(addend),
                        elf::R_X86_64_64 => {
                            value(entry.r_sym(endian)).map(|at| at.wrapping_add(addend))
                        }
                        _ => None,
                    };
                    words.extend(target.map(|target| (place, target)));
                }
            } else if let Some(places) = header.relr(endian, data).context(OUTSIDE)? {
                words.extend(places.filter_map(|place| Some((place, self.word_at(place)?))));
            }
        }
        Ok(words)
    }

    fn word_at(&self, place: u64) -> Option<u64> {
        self.bytes(place, WORD)?.first_chunk().map(|word| u64::from_le_bytes(*word))
    }

    /// Aligned words of a section of data that are addresses inside of functions. (One in front of
    /// a function is where it can be called, and says nothing that would have to be known.) Some
    /// are numbers, and what they would be addresses of may be pinned for nothing.
    fn addresses_in<'a>(
        &'a self,
        section: &'a super::Section<'data>,
    ) -> impl Iterator<Item = (u64, u64)> + 'a {
        let skip = section.address.next_multiple_of(WORD) - section.address;
        let bytes = if section.executable { &[] } else { section.data };
        let bytes = bytes.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default();
        let words = bytes.chunks_exact(8).filter_map(|word| word.first_chunk());
        let places = (section.address + skip..).step_by(8);
        places
            .zip(words.map(|word| u64::from_le_bytes(*word)))
            .filter(|&(_, target)| self.is_inside_function(target))
    }

    fn is_inside_function(&self, address: u64) -> bool {
        let behind = self.functions.partition_point(|function| function.address < address);
        // Names of one function follow each other; of those that overlap the last is enough.
        self.functions[..behind]
            .last()
            .is_some_and(|function| address - function.address < function.size)
    }
}
