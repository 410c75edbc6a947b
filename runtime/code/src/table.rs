//! Finds the relocation table in the file of the running program.
//!
//! The table is not loaded with the image: it costs no memory until the runtime maps it, and
//! survives `strip`.

use core::ffi::CStr;
use szc_abi::{TABLE_SECTION, Table, elf};
use szc_sys::os::{self, File, Mapping, PAGE_BYTES};

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
    OtherImage,
}

/// A table, and the memory that it lies in.
pub struct MappedTable {
    /// Refers to the mapping, and so is given out for no longer than this.
    table: Table<'static>,
    mapping: Mapping,
}

impl MappedTable {
    /// The table.
    #[inline]
    pub fn table(&self) -> &Table<'_> {
        &self.table
    }

    /// Lets its pages go until they are read again.
    pub fn let_go(&self) {
        // SAFETY: a mapping of a file that is only read.
        unsafe { os::let_pages_go(self.mapping.start(), self.mapping.bytes()) };
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
    let whole = Mapping::of_file(&file, size, 0).map_err(|_| Missing::File)?;
    // SAFETY: mapped readable for `size` bytes, until it is dropped below.
    let bytes = unsafe { core::slice::from_raw_parts(whole.start(), size) };
    let range = elf::section(bytes, TABLE_SECTION).ok_or(Missing::Section)?;
    drop(whole);

    let page = range.start & !(PAGE_BYTES - 1);
    let in_front = range.start - page;
    let mapping =
        Mapping::of_file(&file, in_front + range.len(), page).map_err(|_| Missing::File)?;
    // SAFETY: mapped readable for as many bytes, for as long as the owner of the table has it.
    let section =
        unsafe { core::slice::from_raw_parts(mapping.start().add(in_front), range.len()) };
    Ok(MappedTable { table: check(section, digest)?, mapping })
}

fn check(section: &'static [u8], digest: Option<u64>) -> Result<Table<'static>, Missing> {
    if digest.is_some_and(|digest| szc_abi::digest(section) != digest) {
        return Err(Missing::OtherImage);
    }
    let table = Table::parse(section).map_err(|_| Missing::Malformed)?;
    table.validate().map_err(|_| Missing::Malformed)?;
    // A library's digest is that of all bytes of the section.
    if digest.is_none() && !table.is_whole() {
        return Err(Missing::Malformed);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_table_is_told_apart_from_one_without_a_file() {
        assert_eq!(map_own().err(), Some(Missing::Section));
        assert_eq!(map_library(c"/nowhere", 1).err(), Some(Missing::File));
    }
}
