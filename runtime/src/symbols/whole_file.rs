//! The bytes of the whole file of an image.

use core::ffi::CStr;
use szc_sys::os::{self, File, Mapping};

/// A file, mapped.
pub struct WholeFile(Mapping);

impl WholeFile {
    /// Maps a file that can be read.
    pub fn map(path: &CStr) -> Option<Self> {
        let file = File::open(path, os::OPEN_READ).ok()?;
        let size = file.size().ok()?;
        Mapping::of_file(&file, size, 0).ok().map(Self)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped readable, for as long as this.
        unsafe { core::slice::from_raw_parts(self.0.start(), self.0.bytes()) }
    }
}
