//! What is kept of a library.

use szc_abi::library::LibraryImage;
use szc_code::code::Code;
use szc_code::refused::Refused;
use szc_layout::rng::Seeds;
use szc_stack::pads::Tables;

/// A library that is attached.
pub struct Library {
    /// Address of its ELF header.
    pub base: usize,
    /// What it says about itself.
    pub image: LibraryImage,
    /// Digest of its table, 0 if it has none.
    pub table_digest: u64,
    /// Its code, if that moves.
    pub code: Option<Code>,
    /// Why not, if it should.
    pub refused: Option<Refused>,
    /// Its frames have pads from tables.
    pub padded: bool,
    /// Seeds of its layouts and pads.
    pub seeds: Seeds,
    /// Its destructors have run.
    pub detaching: bool,
}

impl Library {
    /// Its pad tables and their seed, while they are in use.
    pub fn tables_in_use(&self) -> Option<(Tables<'static>, u64)> {
        // SAFETY: the library was found, and who uses its tables holds `CHANGES`, which it waits
        // for before it goes.
        let tables = || unsafe { tables_of(&self.image) };
        (self.padded && !self.detaching).then(|| (tables(), self.seeds.stack))
    }
}

/// The pad tables of a library.
///
/// # Safety
/// The description must be that of a library that is loaded, and stays so as long as the tables are
/// used.
pub unsafe fn tables_of(image: &LibraryImage) -> Tables<'static> {
    // SAFETY: the caller's promise: the linker's bounds of the library's tables.
    unsafe { Tables::between(image.tables as *mut u8, image.tables_end as *mut u8) }
}
