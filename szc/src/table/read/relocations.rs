//! The relocations that the linker retained, in each form that sections of them have.

use super::{Image, Kind, Relocation, without_version};
use anyhow::{Context, Result, bail};
use object::read::elf::{Crel, ElfFile64, SectionHeader, Sym};
use object::{Endianness, SectionIndex, SymbolIndex, elf};
use std::collections::HashSet;

/// With `RTLD_NEXT` these search behind the image that contains their return address, and fail if no
/// image does.
const CALLER_ASKING: [&[u8]; 3] = [b"dlsym", b"dlvsym", b"dlmopen"];

/// Searches where its caller's library says (`RUNPATH`, `$ORIGIN`). Without a library at the return address it asks
/// the program, which is right for callers there.
const LIBRARY_ASKING: &[u8] = b"dlopen";

impl<'data> Image<'data> {
    /// Reads all relocations of loaded sections, and the names of all sections of them.
    pub(super) fn read_relocations(
        &mut self,
        file: &ElfFile64<'data, Endianness>,
        data: &'data [u8],
    ) -> Result<()> {
        let endian = file.endian();
        let sections = file.elf_section_table();
        let symbols = file.elf_symbol_table();
        let looks_at_caller = |name: &[u8]| {
            let name = without_version(name);
            CALLER_ASKING.contains(&name)
                || self.kind == Kind::SharedLibrary && name == LIBRARY_ASKING
        };
        let asks: HashSet<SymbolIndex> = symbols
            .enumerate()
            .filter(|(_, symbol)| {
                symbol.is_undefined(endian)
                    && symbol.name(endian, symbols.strings()).is_ok_and(looks_at_caller)
            })
            .map(|(index, _)| index)
            .collect();
        for header in sections.iter() {
            let is_table =
                matches!(header.sh_type(endian), elf::SHT_RELA | elf::SHT_REL | elf::SHT_CREL);
            if !is_table || header.sh_flags(endian).contains(elf::SHF_ALLOC) {
                continue;
            }
            let name = sections.section_name(endian, header).context("a section has no name")?;
            let name = String::from_utf8_lossy(name).into_owned();
            let target = sections.section(SectionIndex(header.sh_info(endian) as usize));
            let loaded =
                target.is_ok_and(|target| target.sh_flags(endian).contains(elf::SHF_ALLOC));
            if loaded {
                for entry in entries(header, endian, data).with_context(|| name.clone())? {
                    let entry = entry.with_context(|| name.clone())?;
                    if entry.symbol().is_some_and(|index| asks.contains(&index)) {
                        self.caller_asking.push(entry.r_offset);
                    }
                    let symbol = entry.symbol().map_or(0, |index| {
                        symbols.symbol(index).map_or(0, |symbol| symbol.st_value(endian))
                    });
                    self.relocations.push(Relocation {
                        place: entry.r_offset,
                        r_type: entry.r_type,
                        symbol,
                        target: symbol.wrapping_add_signed(entry.r_addend),
                    });
                }
            }
            self.retained_sections.push(name);
        }
        self.relocations.sort_by_key(|relocation| relocation.place);
        self.caller_asking.sort_unstable();
        Ok(())
    }
}

type Entries<'data> = Box<dyn Iterator<Item = Result<Crel>> + 'data>;

/// The entries of a section of relocations. Without addends they would not say what they refer to, since the
/// linker has overwritten what the assembler left in their places.
fn entries<'data>(
    header: &elf::SectionHeader64<Endianness>,
    endian: Endianness,
    data: &'data [u8],
) -> Result<Entries<'data>> {
    const OUTSIDE: &str = "a relocation section lies outside the file";
    if let Some((entries, _)) = header.rela(endian, data).context(OUTSIDE)? {
        return Ok(Box::new(
            entries.iter().map(move |entry| Ok(Crel::from_rela(entry, endian, false))),
        ));
    }
    if let Some((entries, _)) = header.crel(endian, data).context(OUTSIDE)?
        && entries.is_rela()
    {
        return Ok(Box::new(entries.map(|entry| entry.context("a relocation is cut off"))));
    }
    bail!(
        "the linker retained relocations without addends; leave out what asks for them \
         (-z rel, -Wa,--crel), or build without -Rcode"
    )
}
