//! The one object of an archive of szc's own that belongs in an image: the runtime in a program,
//! and in a shared library what tells the runtime of it.
//!
//! rustc puts compiler support functions into every static library, `ceil` and `fmod` among them.
//! A linker that saw them would take them instead of the C library's, and a configure script would
//! find that no `-lm` is needed. So the link gets the runtime's own object, not the archive.

use super::parts::{LIBRARY_ARCHIVE, RUNTIME_ARCHIVE};
use anyhow::{Context, Result};
use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile64, Sym as _};
use object::{Endianness, Object as _, ObjectSymbol as _, elf};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use szc_abi::RUNTIME_START_SYMBOL;
use szc_abi::library::LIBRARY_IMAGE_SYMBOL;
use tempfile::NamedTempFile;

/// A part of szc that is linked into images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Into programs.
    Runtime,
    /// Into shared libraries.
    Library,
}

impl Part {
    /// File name of its archive.
    pub const fn archive(self) -> &'static str {
        match self {
            Part::Runtime => RUNTIME_ARCHIVE,
            Part::Library => LIBRARY_ARCHIVE,
        }
    }

    /// A symbol that its object defines.
    pub const fn symbol(self) -> &'static str {
        match self {
            Part::Runtime => RUNTIME_START_SYMBOL,
            Part::Library => LIBRARY_IMAGE_SYMBOL,
        }
    }
}

/// Copies a part's object out of its archive, into a file that lives as long as the result.
///
/// Definitions whose names begin with one of `exported` lose that prefix, so that they stand in for
/// the function of libc of that name.
///
/// # Errors
/// The archive cannot be read or has no such object, or there is no room for the copy.
pub fn extract(part: Part, archive: &Path, exported: &[&str]) -> Result<NamedTempFile> {
    let data = fs::read(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    let object = find(&data, part.symbol()).with_context(|| {
        format!("{}: not a part of this szc; build all of it again", archive.display())
    })?;
    let mut file = tempfile::Builder::new()
        .prefix("szc-runtime-")
        // libtool takes what ends in `.o` in what `-v` shows for a part of the compiler, and names
        // it in later links.
        .suffix(".object")
        .tempfile()
        .context("cannot create a temporary file; TMPDIR may name a better place")?;
    file.write_all(&for_program(object, exported)).context("cannot write a temporary file")?;
    Ok(file)
}

/// Makes the functions of libc that the runtime stands in for weak, so that a program may still
/// define its own. (Rust cannot say it: `#[linkage]` is unstable.)
fn for_program(object: &[u8], exported: &[&str]) -> Vec<u8> {
    let mut bytes = object.to_vec();
    let Ok(file) = ElfFile64::<Endianness>::parse(object) else { return bytes };
    let endian = file.endian();
    for symbol in file.elf_symbol_table().iter() {
        let Ok(name) = symbol.name(endian, file.elf_symbol_table().strings()) else { continue };
        if symbol.st_bind() != elf::STB_GLOBAL || symbol.is_undefined(endian) {
            continue;
        }
        let prefix = exported.iter().find(|prefix| name.starts_with(prefix.as_bytes()));
        if prefix.is_none() && name.starts_with(b"szc_") {
            continue;
        }
        let at = std::ptr::from_ref(symbol).addr() - object.as_ptr().addr();
        // A name is the text from an offset on up to a NUL: without its prefix it starts later.
        let skipped = prefix.map_or(0, |prefix| prefix.len());
        let named = symbol.st_name(endian) + u32::try_from(skipped).unwrap_or(0);
        bytes[at..at + 4].copy_from_slice(&named.to_le_bytes());
        bytes[at + ST_INFO_OFFSET] = elf::STB_WEAK.0 << 4 | symbol.st_type().0;
    }
    bytes
}

/// Offset of `st_info` in an `Elf64_Sym`.
const ST_INFO_OFFSET: usize = 4;

fn find<'a>(archive: &'a [u8], symbol: &str) -> Option<&'a [u8]> {
    ArchiveFile::parse(archive).ok()?.members().find_map(|member| {
        let data = member.ok()?.data(archive).ok()?;
        let is_it = object::File::parse(data)
            .ok()?
            .symbols()
            .any(|found| found.is_definition() && found.name() == Ok(symbol));
        is_it.then_some(data)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_part_of_szc_is_refused_with_its_name() {
        let mut file = NamedTempFile::new().expect("a temporary file");
        file.write_all(b"!<arch>\n").expect("writable");
        let message = format!("{:#}", extract(Part::Library, file.path(), &[]).expect_err("empty"));
        assert!(message.contains(&file.path().display().to_string()), "{message}");
    }
}
