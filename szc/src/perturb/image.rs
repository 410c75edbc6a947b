//! Where functions and variables are, in the file of a program and in its memory.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use szc_sampler::maps::mapped;

/// A symbol of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol {
    /// Its address as the file has it.
    pub(super) address: u64,
    /// Where it begins in the file; 0 if it is not in it.
    pub(super) offset: u64,
    /// Its size.
    pub(super) size: u64,
}

/// The functions, or else variables, of one of these names that a file defines.
pub(super) fn symbols(path: &Path, names: &[&str], kind: SymbolKind) -> Result<Vec<Symbol>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = object::File::parse(&*bytes)
        .with_context(|| format!("{} is no ELF file", path.display()))?;
    let mut found = BTreeSet::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        // Versions of dynamic symbols stand behind an @.
        let name = symbol.name().unwrap_or_default().split('@').next().unwrap_or_default();
        if symbol.kind() == kind && symbol.is_definition() && names.contains(&name) {
            let address = symbol.address();
            let offset = file_offset(&file, address).unwrap_or(0);
            found.insert(Symbol { address, offset, size: symbol.size() });
        }
    }
    Ok(found.into_iter().collect())
}

/// The bytes of a symbol, in its file.
pub(super) fn code(path: &Path, symbol: &Symbol) -> Result<Vec<u8>> {
    let mut file =
        fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.seek(SeekFrom::Start(symbol.offset)).context("cannot read a function")?;
    let mut bytes = Vec::new();
    file.take(symbol.size).read_to_end(&mut bytes).context("cannot read a function")?;
    Ok(bytes)
}

fn file_offset(file: &object::File<'_>, address: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let (offset, bytes) = segment.file_range();
        let within = address.checked_sub(segment.address())?;
        (within < bytes).then_some(offset + within)
    })
}

/// What is to be added to addresses of a file to have those in a process; nothing if the process
/// has not mapped it.
pub(super) fn bias(pid: u32, path: &Path) -> Result<Option<u64>> {
    let maps =
        mapped(pid, 0).with_context(|| format!("cannot read the mappings of process {pid}"))?;
    let Some(map) = maps.iter().find(|map| Path::new(&map.path) == path) else {
        return Ok(None);
    };
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = object::File::parse(&*bytes)
        .with_context(|| format!("{} is no ELF file", path.display()))?;
    // Mappings begin with the page of the segment's first byte.
    let page = |number: u64| number & !0xfff;
    let mut segments = file.segments();
    let Some(segment) = segments.find(|segment| page(segment.file_range().0) == map.offset) else {
        bail!("{} has no segment at offset {:#x}", path.display(), map.offset);
    };
    Ok(Some(map.start.wrapping_sub(page(segment.address()))))
}

/// The C library that a process has mapped.
pub(super) fn c_library(pid: u32) -> Option<PathBuf> {
    let is_libc = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libc.so") || name.starts_with("libc-2") || name.starts_with("ld-musl")
    };
    let mut paths = mapped(pid, 0).ok()?.into_iter().map(|map| PathBuf::from(map.path));
    paths.find(|path| is_libc(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn a_function_is_found_in_the_file_and_in_the_memory() {
        let path = c_library(std::process::id()).unwrap();
        let found = symbols(&path, &["getpid"], SymbolKind::Text).unwrap();
        let [symbol] = found[..] else { panic!("{found:?}") };
        let bias = bias(std::process::id(), &path).unwrap().unwrap();
        let bytes_at = |file: &str, offset: u64| {
            let mut bytes = [0; 8];
            fs::File::open(file).unwrap().read_exact_at(&mut bytes, offset).unwrap();
            bytes
        };
        let in_memory = bytes_at("/proc/self/mem", bias.wrapping_add(symbol.address));
        assert_eq!(in_memory, bytes_at(path.to_str().unwrap(), symbol.offset));
        assert!(symbol.offset > 0 && symbol.size > 0);
        assert!(symbols(&path, &["no such function"], SymbolKind::Text).unwrap().is_empty());
    }
}
