//! What the link step leaves in shared libraries and a program's runtime finds there.
//!
//! Each library that szc links gets a small object (`runtime/library`) with a note, which the
//! runtime finds in memory among the images that are loaded, and a call of the runtime at the
//! library's very first and very last moment. In a program without a runtime the calls lead
//! nowhere.

/// Section of the note.
pub const NOTE_SECTION: &str = ".note.szc";

/// Owner of the note, with the NUL.
pub const NOTE_NAME: [u8; 4] = *b"szc\0";

/// Type of the note.
pub const NOTE_TYPE: u32 = 1;

/// Offset of the descriptor in the note: three words and the name.
pub const NOTE_DESCRIPTOR_AT: usize = 16;

/// The symbol that pulls the object out of its archive: the library's [`LibraryImage`].
pub const LIBRARY_IMAGE_SYMBOL: &str = "szc_library_image";

/// Exported by programs: called when a library was loaded and relocated, before its constructors.
pub const ADOPT_SYMBOL: &str = "szc_rt_adopt";

/// Exported by programs: called behind the destructors of a library that is unloaded, or of all
/// when the program ends.
pub const RELEASE_SYMBOL: &str = "szc_rt_release";

/// Descriptor of the note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LibraryNote {
    /// [`digest`] of the library's relocation table, 0 if it has none. Written by the link step
    /// when the table is made: a file that replaces the one in memory has another.
    pub table_digest: u64,
    /// Distance of the library's [`LibraryImage`] from this field, in bytes.
    pub image: i32,
    /// [`crate::ABI_VERSION`].
    pub version: u32,
}

impl LibraryNote {
    /// Bytes of the descriptor.
    pub const BYTES: usize = 16;

    /// Offset of `image`.
    pub const IMAGE_AT: usize = 8;
}

const _: () = assert!(
    size_of::<LibraryNote>() == LibraryNote::BYTES
        && core::mem::offset_of!(LibraryNote, image) == LibraryNote::IMAGE_AT
);

/// What a library says about itself: addresses, 0 for what it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LibraryImage {
    /// First function record.
    pub functions: usize,
    /// Behind the last function record.
    pub functions_end: usize,
    /// First pad table.
    pub tables: usize,
    /// Behind the last pad table.
    pub tables_end: usize,
    /// The library's variable [`crate::stack::PAD_STATE_OFFSET_SYMBOL`].
    pub pad_state_offset: usize,
}

/// A number that tells tables from one another; never 0. Not a cryptographic one.
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    // Odd constants of xxHash (Collet, 2012).
    const SPREAD: u64 = 0x9e37_79b1_85eb_ca87;
    const MIX: u64 = 0xc2b2_ae3d_27d4_eb4f;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, &from) in last.iter_mut().zip(rest) {
        *to = from;
    }
    let mut state = SPREAD ^ bytes.len() as u64;
    for word in words.iter().chain(core::iter::once(&last)) {
        let spread = u64::from_le_bytes(*word).wrapping_mul(SPREAD).rotate_left(31);
        state = (state ^ spread.wrapping_mul(MIX)).rotate_left(27).wrapping_mul(SPREAD);
    }
    (state ^ state >> 32).wrapping_mul(MIX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_differ_in_a_byte_or_in_length_have_other_digests() {
        let bytes: Vec<u8> = (0..100).collect();
        let mut seen = vec![digest(&[]), digest(&[0; 8])];
        for length in 1..100 {
            seen.push(digest(&bytes[..length]));
            let mut changed = bytes.clone();
            changed[length] ^= 1;
            seen.push(digest(&changed));
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 2 + 2 * 99);
    }
}
