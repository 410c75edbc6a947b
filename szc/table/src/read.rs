//! Reads a linked image: its sections, function symbols and retained relocations.
//!
//! All addresses are link-time virtual addresses. Nothing is decided here; foreign or damaged input
//! gives an error, never a panic.

use anyhow::{Context, Result, bail, ensure};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, SectionIndex, elf};

mod relocations;
mod unexplained;

/// The symbols by which Go's linker names its code and its table. They have no size.
pub(crate) const GO_TEXT: &[u8] = b"runtime.text";
pub(crate) const GO_TEXT_END: &[u8] = b"runtime.etext";
pub(crate) const GO_TABLE: &[u8] = b"runtime.pclntab";

/// A linked ELF image.
#[derive(Debug, Default)]
pub struct Image<'data> {
    /// Executable or shared library.
    pub kind: Kind,
    /// Lowest loaded address: the address of the ELF header.
    pub link_base: u64,
    /// Address of the entry point, 0 if there is none.
    pub entry: u64,
    /// The image names a dynamic loader or needs libraries.
    pub dynamic: bool,
    /// Loaded sections, by address.
    pub sections: Vec<Section<'data>>,
    /// Functions with a size, by address.
    pub functions: Vec<Symbol<'data>>,
    /// Data objects with a size, by address.
    pub objects: Vec<Symbol<'data>>,
    /// The symbols that say where Go has its code and its table, with or without a size.
    pub go_symbols: Vec<Symbol<'data>>,
    /// Addresses that other images can reach by name.
    pub exported: Vec<u64>,
    /// Retained relocations of loaded sections, and addresses that none of them tells of, by place.
    pub relocations: Vec<Relocation>,
    /// Names of the retained relocation sections, which are not loaded.
    pub retained_sections: Vec<String>,
    /// Places that refer to functions of libc which look at their caller's address, ascending.
    pub caller_sensitive_calls: Vec<u64>,
    /// Places that refer to functions of libraries which never return, ascending.
    pub noreturn_calls: Vec<u64>,
    /// A loaded relocation section refers to the symbol table that is not loaded, as GNU ld makes
    /// it in static programs.
    pub loaded_uses_symtab: bool,
    /// Ranges that the loader makes read-only after relocation.
    pub relro: Vec<(u64, u64)>,
}

/// Kind of image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Linked at a fixed address.
    FixedExecutable,
    /// Position-independent executable.
    #[default]
    PieExecutable,
    /// Shared library.
    SharedLibrary,
}

/// A loaded section.
#[derive(Clone, Debug)]
pub struct Section<'data> {
    /// Name.
    pub name: &'data str,
    /// First address.
    pub address: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Bytes in the file; empty for `.bss`.
    pub data: &'data [u8],
    /// Holds code.
    pub executable: bool,
    /// The program may write to it, at least until RELRO.
    pub writable: bool,
}

impl Section<'_> {
    /// First address behind the section.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.address + self.size
    }

    /// Bytes from `address` on, if the section holds `length` of them in the file.
    #[must_use]
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let from = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.data.get(from..from.checked_add(usize::try_from(length).ok()?)?)
    }
}

/// A symbol with a size.
#[derive(Clone, Debug)]
pub struct Symbol<'data> {
    /// Name, as it stands in the symbol table; GNU ld appends versions there.
    pub name: &'data [u8],
    /// First address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The file that it is local to, as the nearest file symbol before says; none if it is not
    /// local.
    pub file: Option<&'data [u8]>,
    /// `STT_GNU_IFUNC`: the function chooses another function when the image is loaded.
    pub ifunc: bool,
}

/// A name of the symbol table without its version: `dlsym@GLIBC_2.34`, `malloc@@V1`.
#[must_use]
pub fn without_version(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == b'@').next().unwrap_or(name)
}

/// A relocation that the linker has already applied.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// Address of the relocated bytes.
    pub place: u64,
    /// `r_type` of the ABI.
    pub r_type: elf::RelocationType,
    /// Value of the symbol.
    pub symbol: u64,
    /// Value of the symbol plus the addend.
    pub target: u64,
}

impl<'data> Image<'data> {
    /// Reads an image.
    ///
    /// # Errors
    /// When the bytes are not a linked 64-bit little-endian x86-64 ELF image.
    pub fn parse(data: &'data [u8]) -> Result<Self> {
        let file = ElfFile64::<Endianness>::parse(data).context("it is not a 64-bit ELF file")?;
        let endian = file.endian();
        let header = file.elf_header();
        ensure!(
            header.is_little_endian() && header.e_machine(endian) == elf::EM_X86_64,
            "it is not for x86-64; only x86-64 is supported"
        );
        let kind = image_kind(&file)?;
        let segments = file.elf_program_headers();
        let link_base = segments
            .iter()
            .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
            .map(|segment| segment.p_vaddr(endian))
            .min()
            .context("it has no loaded segment")?;
        let has = |wanted| segments.iter().any(|segment| segment.p_type(endian) == wanted);
        let relro = segments
            .iter()
            .filter(|segment| segment.p_type(endian) == elf::PT_GNU_RELRO)
            .map(|s| (s.p_vaddr(endian), s.p_vaddr(endian).saturating_add(s.p_memsz(endian))))
            .collect();
        let mut image = Self {
            kind,
            link_base,
            entry: header.e_entry(endian),
            dynamic: has(elf::PT_INTERP) || kind == Kind::SharedLibrary,
            relro,
            ..Self::default()
        };
        image.read_sections(&file, data)?;
        image.read_symbols(&file)?;
        image.read_relocations(&file, data)?;
        image.add_unexplained(&file, data)?;
        Ok(image)
    }

    /// The loaded section that contains `address`.
    #[must_use]
    pub fn section_at(&self, address: u64) -> Option<&Section<'data>> {
        let behind = self.sections.partition_point(|section| section.address <= address);
        self.sections[..behind].iter().rev().find(|section| address < section.end())
    }

    /// The bytes at `address`, if one section holds `length` of them in the file.
    #[must_use]
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        self.section_at(address)?.bytes(address, length)
    }

    /// Where so many loaded bytes lie in the file, whose bytes are `data`.
    #[must_use]
    pub fn file_offset(&self, data: &[u8], address: u64, length: usize) -> Option<usize> {
        let bytes = self.bytes(address, length as u64)?;
        // Sections are parts of the file's bytes.
        let offset = (bytes.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        (offset + length <= data.len()).then_some(offset)
    }

    /// Whether the program can change the bytes at `address` while it runs.
    #[must_use]
    pub fn is_mutable(&self, address: u64) -> bool {
        let writable = self.section_at(address).is_none_or(|section| section.writable);
        writable && !self.relro.iter().any(|&(from, to)| (from..to).contains(&address))
    }

    /// The relocations whose place lies in `from..to`.
    #[must_use]
    pub fn relocations_in(&self, from: u64, to: u64) -> &[Relocation] {
        let first = self.relocations.partition_point(|relocation| relocation.place < from);
        let last = self.relocations.partition_point(|relocation| relocation.place < to);
        &self.relocations[first..last.max(first)]
    }

    fn read_sections(
        &mut self,
        file: &ElfFile64<'data, Endianness>,
        data: &'data [u8],
    ) -> Result<()> {
        let endian = file.endian();
        let table = file.elf_section_table();
        for header in table.iter() {
            let flags = header.sh_flags(endian);
            if header.sh_type(endian) == elf::SHT_RELA && flags.contains(elf::SHF_ALLOC) {
                let linked = table.section(SectionIndex(header.sh_link(endian) as usize));
                self.loaded_uses_symtab |=
                    linked.is_ok_and(|linked| linked.sh_type(endian) == elf::SHT_SYMTAB);
            }
            // The addresses of .tbss belong to whatever follows it.
            let only_address =
                flags.contains(elf::SHF_TLS) && header.sh_type(endian) == elf::SHT_NOBITS;
            if !flags.contains(elf::SHF_ALLOC) || only_address {
                continue;
            }
            let name = table.section_name(endian, header).context("a section has no name")?;
            let (address, size) = (header.sh_addr(endian), header.sh_size(endian));
            ensure!(
                address.checked_add(size).is_some(),
                "a section ends behind the last address there is"
            );
            self.sections.push(Section {
                name: std::str::from_utf8(name).unwrap_or("?"),
                address,
                size,
                data: header.data(endian, data).context("a section lies outside the file")?,
                executable: flags.contains(elf::SHF_EXECINSTR),
                writable: flags.contains(elf::SHF_WRITE),
            });
        }
        self.sections.sort_by_key(|section| section.address);
        Ok(())
    }

    fn read_symbols(&mut self, file: &ElfFile64<'data, Endianness>) -> Result<()> {
        let endian = file.endian();
        let symbols = file.elf_symbol_table();
        let mut of_file = &b""[..];
        for symbol in symbols.iter() {
            let kind = symbol.st_type();
            if kind == elf::STT_FILE {
                of_file = symbol.name(endian, symbols.strings()).unwrap_or_default();
                continue;
            }
            if symbol.is_undefined(endian) {
                continue;
            }
            let entry = Symbol {
                name: symbol.name(endian, symbols.strings()).unwrap_or(b"?"),
                address: symbol.st_value(endian),
                size: symbol.st_size(endian),
                file: symbol.is_local().then_some(of_file),
                ifunc: kind == elf::STT_GNU_IFUNC,
            };
            if [GO_TEXT, GO_TEXT_END, GO_TABLE].contains(&entry.name) {
                self.go_symbols.push(entry.clone());
            }
            if entry.size == 0 {
                continue;
            }
            match kind {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => self.functions.push(entry),
                elf::STT_OBJECT => self.objects.push(entry),
                _ => {}
            }
        }
        self.functions.sort_by_key(|symbol| (symbol.address, symbol.size));
        self.objects.sort_by_key(|symbol| (symbol.address, symbol.size));
        let exported = file.elf_dynamic_symbol_table();
        self.exported = exported
            .iter()
            .filter(|symbol| !symbol.is_undefined(endian) && symbol.st_type() != elf::STT_TLS)
            .map(|symbol| symbol.st_value(endian))
            .collect();
        Ok(())
    }
}

fn image_kind(file: &ElfFile64<'_, Endianness>) -> Result<Kind> {
    let endian = file.endian();
    let interpreter =
        file.elf_program_headers().iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP);
    Ok(match file.elf_header().e_type(endian) {
        elf::ET_EXEC => Kind::FixedExecutable,
        elf::ET_DYN if interpreter || has_pie_flag(file) => Kind::PieExecutable,
        elf::ET_DYN => Kind::SharedLibrary,
        elf::ET_REL => bail!("it is an object file; a relocation table belongs to a linked image"),
        elf::ET_CORE => bail!("it is a core dump, not a linked image"),
        other => bail!("it is an ELF file of type {other}, not a linked image"),
    })
}

/// `DF_1_PIE` tells a static PIE from a shared library.
fn has_pie_flag(file: &ElfFile64<'_, Endianness>) -> bool {
    use object::read::elf::Dyn;
    let endian = file.endian();
    let data = file.data();
    file.elf_program_headers()
        .iter()
        .filter_map(|segment| segment.dynamic(endian, data).ok().flatten())
        .flatten()
        .any(|entry| {
            entry.tag(endian) == elf::DT_FLAGS_1 && entry.val(endian) & elf::DF_1_PIE.0 != 0
        })
}
