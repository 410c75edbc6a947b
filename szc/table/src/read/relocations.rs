//! The relocations that the linker retained, in each form that sections of them have.

use super::{Image, Kind, Relocation, without_version};
use anyhow::{Context, Result, bail};
use object::read::elf::{Crel, ElfFile64, SectionHeader, Sym};
use object::{Endianness, SectionIndex, SymbolIndex, elf};
use std::collections::HashSet;

/// With `RTLD_NEXT` these search behind the image that contains their return address, and fail if
/// no image does.
const CALLER_SENSITIVE: [&[u8]; 3] = [b"dlsym", b"dlvsym", b"dlmopen"];

/// Searches where its caller's library says (`RUNPATH`, `$ORIGIN`). Without a library at the return
/// address it asks the program, which is right for callers there.
const LIBRARY_ASKING: &[u8] = b"dlopen";

/// Functions of libraries that never return, by which compilers end others.
const NORETURN: &[&[u8]] = &[
    b"abort",
    b"exit",
    b"_exit",
    b"_Exit",
    b"quick_exit",
    b"pthread_exit",
    b"longjmp",
    b"_longjmp",
    b"siglongjmp",
    b"__longjmp_chk",
    b"__assert_fail",
    b"__stack_chk_fail",
    b"__chk_fail",
    b"__fortify_fail",
    b"_Unwind_Resume",
    b"__cxa_throw",
    b"__cxa_rethrow",
    b"__cxa_bad_cast",
    b"__cxa_bad_typeid",
    b"__cxa_throw_bad_array_new_length",
    b"_ZSt9terminatev",
];

/// How families of such functions begin: `std::__throw_…` and those of Fortran's library.
const NORETURN_PREFIXES: &[&[u8]] = &[
    b"_gfortran_runtime_error",
    b"_gfortran_os_error",
    b"_gfortran_stop",
    b"_gfortran_error_stop",
];

fn never_returns(name: &[u8]) -> bool {
    let throws = || {
        let digits = name.strip_prefix(b"_ZSt").unwrap_or_default();
        let first = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
        first > 0 && digits[first..].starts_with(b"__throw_")
    };
    NORETURN.contains(&name)
        || NORETURN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || throws()
}

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
            CALLER_SENSITIVE.contains(&name)
                || self.kind == Kind::SharedLibrary && name == LIBRARY_ASKING
        };
        let elsewhere = |is: &dyn Fn(&[u8]) -> bool| -> HashSet<SymbolIndex> {
            let matching = symbols.enumerate().filter(|(_, symbol)| {
                symbol.is_undefined(endian) && symbol.name(endian, symbols.strings()).is_ok_and(is)
            });
            matching.map(|(index, _)| index).collect()
        };
        let asks = elsewhere(&looks_at_caller);
        let ends = elsewhere(&|name| never_returns(without_version(name)));
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
                        self.caller_sensitive_calls.push(entry.r_offset);
                    }
                    if entry.symbol().is_some_and(|index| ends.contains(&index)) {
                        self.noreturn_calls.push(entry.r_offset);
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
        self.caller_sensitive_calls.sort_unstable();
        self.noreturn_calls.sort_unstable();
        Ok(())
    }
}

type Entries<'data> = Box<dyn Iterator<Item = Result<Crel>> + 'data>;

/// The entries of a section of relocations. Without addends they would not say what they refer to,
/// since the linker has overwritten what the assembler left in their places.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_throws_or_ends_the_program_never_returns() {
        for name in ["abort", "_ZSt24__throw_out_of_range_fmtPKcz", "_gfortran_runtime_error_at"] {
            assert!(never_returns(name.as_bytes()), "{name}");
        }
        for name in ["puts", "_ZSt4moveIRiE", "_ZSt", "__throw_", "abortive"] {
            assert!(!never_returns(name.as_bytes()), "{name}");
        }
    }
}
