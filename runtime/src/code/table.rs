//! Finds the relocation table in the file of the running program.
//!
//! The table is not loaded with the image: it costs no memory until the runtime maps it, and
//! survives `strip`.

use crate::os::{self, File, PAGE_BYTES};
use core::ffi::CStr;
use szc_abi::{TABLE_SECTION, Table};

/// Why there is no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The program's file cannot be opened or mapped.
    File,
    /// It has no section of that name.
    Section,
    /// The section does not hold a table that this runtime reads.
    Malformed,
    /// The table is not that of the image in memory: another file has its name now.
    Foreign,
}

/// A table and the memory that it lies in.
#[derive(Clone, Copy)]
pub struct MappedTable {
    /// The table.
    pub table: Table<'static>,
    start: *mut u8,
    bytes: usize,
}

impl MappedTable {
    /// Gives the memory back.
    ///
    /// # Safety
    /// Neither the table nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        // SAFETY: the caller's promise.
        unsafe { os::unmap(self.start, self.bytes) };
    }
}

/// The file of the program that is running.
pub const OWN_FILE: &CStr = c"/proc/self/exe";

/// Maps the table of the program that is running.
pub fn map_own() -> Result<MappedTable, Missing> {
    map(OWN_FILE, None)
}

/// Maps the table of a library, whose file is known by its name only: the table must have this
/// digest.
pub fn map_library(path: &CStr, digest: u64) -> Result<MappedTable, Missing> {
    map(path, Some(digest))
}

fn map(path: &CStr, digest: Option<u64>) -> Result<MappedTable, Missing> {
    let file = File::open(path, os::OPEN_READ).map_err(|_| Missing::File)?;
    let size = file.size().map_err(|_| Missing::File)?;
    let whole = os::map_file(&file, size, 0).map_err(|_| Missing::File)?;
    // SAFETY: mapped readable for `size` bytes, until the unmap below.
    let found = find_section(unsafe { core::slice::from_raw_parts(whole, size) });
    // SAFETY: `found` holds numbers, no reference into the mapping.
    unsafe { os::unmap(whole, size) };
    let (offset, bytes) = found.ok_or(Missing::Section)?;

    let page = offset & !(PAGE_BYTES - 1);
    let length = offset - page + bytes;
    let mapped = os::map_file(&file, length, page).map_err(|_| Missing::File)?;
    // SAFETY: mapped readable for `length` bytes and unmapped by `free` alone.
    let section = unsafe { core::slice::from_raw_parts(mapped.add(offset - page), bytes) };
    let found =
        check(section, digest).map(|table| MappedTable { table, start: mapped, bytes: length });
    if found.is_err() {
        // SAFETY: mapped above; no table refers to it.
        unsafe { os::unmap(mapped, length) };
    }
    found
}

fn check(section: &'static [u8], digest: Option<u64>) -> Result<Table<'static>, Missing> {
    if digest.is_some_and(|digest| szc_abi::digest(section) != digest) {
        return Err(Missing::Foreign);
    }
    let table = Table::parse(section).map_err(|_| Missing::Malformed)?;
    table.validate().map_err(|_| Missing::Malformed)?;
    // A library's digest is that of all bytes of the section.
    if digest.is_none() && !table.is_whole() {
        return Err(Missing::Malformed);
    }
    Ok(table)
}

/// Offset and size of the table's section in the bytes of an ELF64 file.
fn find_section(file: &[u8]) -> Option<(usize, usize)> {
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(*file.get(at..)?.first_chunk()?)));
    let word = |at: usize| Some(u32::from_le_bytes(*file.get(at..)?.first_chunk()?) as usize);
    let long = |at: usize| Some(u64::from_le_bytes(*file.get(at..)?.first_chunk()?) as usize);
    if file.get(..4)? != b"\x7fELF" {
        return None;
    }
    let (sections, entry_bytes) = (long(0x28)?, half(0x3a)?);
    let header = |index: usize| sections.checked_add(index.checked_mul(entry_bytes)?);
    // More than 65,279 sections: the counts stand in the first header.
    let first = header(0)?;
    let count = match half(0x3c)? {
        0 => long(first + 0x20)?,
        count => count,
    };
    let names = match half(0x3e)? {
        0xffff => word(first + 0x28)?,
        names => names,
    };
    let names_at = long(header(names)? + 0x18)?;
    for index in 0..count {
        let at = header(index)?;
        let name = file.get(names_at.checked_add(word(at)?)?..)?;
        let matches = name.get(..TABLE_SECTION.len()) == Some(TABLE_SECTION.as_bytes())
            && name.get(TABLE_SECTION.len()) == Some(&0);
        if matches {
            let (offset, bytes) = (long(at + 0x18)?, long(at + 0x20)?);
            return (offset.checked_add(bytes)? <= file.len()).then_some((offset, bytes));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_table_and_damaged_bytes_are_told_apart_from_one_with_it() {
        assert_eq!(map_own().err(), Some(Missing::Section));
        let own = std::fs::read("/proc/self/exe").unwrap();
        for length in [0, 3, 63, 64, 1000] {
            assert_eq!(find_section(&own[..length.min(own.len())]), None);
        }
    }
}
