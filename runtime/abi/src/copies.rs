//! Where a profiler that reads a process from outside (process_vm_readv(2)) finds the copies of its
//! functions.
//!
//! A *directory* lies in the initialized data of each program, where it is found by its first
//! bytes, whether or not the program has symbols. It leads to the images whose functions move, and
//! each of them has a *description*: plain numbers, written once, before any copy runs. Nothing is
//! computed for a profiler, so a program is as fast with one as without.

/// Name of the files in memory that copies lie in (`memfd_create(2)`).
pub const FILE_NAME: &core::ffi::CStr = c"szc code";

/// What a directory begins with.
pub const DIRECTORY_MAGIC: [u64; 2] = [0x6972_6f70_6f63_7a73, 0x2_d1c7_0a5e_50f2];

/// Words of a directory, with its first bytes.
pub const DIRECTORY_WORDS: usize = 5;

/// Word of a directory: address of the number of images, 0 until there is one.
pub const COUNT_WORD: usize = 2;
/// Word of a directory: address of the addresses of the images.
pub const IMAGES_WORD: usize = 3;
/// Word of a directory: distance of an image's description from its address.
pub const DESCRIPTION_WORD: usize = 4;

/// Offset in a stub from which on the stack pointer is below the red zone.
pub const STUB_CALL_AT: u64 = 5;

/// Bytes of the red zone.
pub const RED_ZONE_BYTES: u64 = 128;

/// What is known of the copies of an image. Addresses are those of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CopiesDescription {
    /// Lowest address of the image.
    pub image: u64,
    /// First address of the places for layouts.
    pub arena: u64,
    /// Bytes of all places.
    pub arena_bytes: u64,
    /// Bytes of one.
    pub place_bytes: u64,
    /// Number of movable functions.
    pub functions: u64,
    /// Address of their records.
    pub records: u64,
    /// Bytes of a record.
    pub record_bytes: u64,
    /// Where in a record the function's offset in the image is, a number of 32 bits.
    pub record_start_at: u64,
    /// Address of the layouts, by place.
    pub layouts: u64,
    /// Bytes of a layout's head.
    pub layout_bytes: u64,
    /// Where in it the epoch is.
    pub layout_epoch_at: u64,
    /// Where in it the address of the arrays is, 0 in a place that was never used: numbers of 32
    /// bits, the functions by position and, by function, the offset of its origin in the place.
    pub layout_arrays_at: u64,
    /// Address of the starts of unpadded clones, by function, behind them those of full checks, and
    /// behind those of the FDEs of bodies with a pad, as offsets in any place; 0 if no frame has a
    /// pad.
    pub clones: u64,
    /// Where full checks begin.
    pub checks_start: u64,
    /// Where unpadded clones begin.
    pub clones_start: u64,
    /// Where they end.
    pub clones_end: u64,
    /// Bytes in front of a body whose frame has a pad.
    pub check_bytes: u64,
    /// Bytes of a stub. Stubs end where the place ends.
    pub stub_bytes: u64,
    /// Where in a record the number of the function's name is, a word, by which its pads are drawn.
    pub record_name_hash_at: u64,
    /// Where in a layout's head the word is that pads are drawn by.
    pub layout_pad_seed_at: u64,
    /// Distance of a thread's [pad state](crate::stack::PadState) from its thread pointer, modulo
    /// 2⁶⁴.
    pub pad_state_offset: u64,
}

impl CopiesDescription {
    /// Bytes of a description.
    pub const BYTES: usize = 21 * 8;

    /// A description, from its bytes in a process.
    #[must_use]
    pub fn read(bytes: &[u8; Self::BYTES]) -> Self {
        let (words, _) = bytes.as_chunks();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        Self {
            image: word(0),
            arena: word(1),
            arena_bytes: word(2),
            place_bytes: word(3),
            functions: word(4),
            records: word(5),
            record_bytes: word(6),
            record_start_at: word(7),
            layouts: word(8),
            layout_bytes: word(9),
            layout_epoch_at: word(10),
            layout_arrays_at: word(11),
            clones: word(12),
            checks_start: word(13),
            clones_start: word(14),
            clones_end: word(15),
            check_bytes: word(16),
            stub_bytes: word(17),
            record_name_hash_at: word(18),
            layout_pad_seed_at: word(19),
            pad_state_offset: word(20),
        }
    }
}

const _: () = assert!(size_of::<CopiesDescription>() == CopiesDescription::BYTES);

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn a_description_is_read_field_by_field_in_the_order_of_memory() {
        let mut bytes = [0; CopiesDescription::BYTES];
        for (index, word) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *word = (index as u64 * 8).to_le_bytes();
        }
        let read = CopiesDescription::read(&bytes);
        let expected = [
            (read.image, offset_of!(CopiesDescription, image)),
            (read.arena, offset_of!(CopiesDescription, arena)),
            (read.arena_bytes, offset_of!(CopiesDescription, arena_bytes)),
            (read.place_bytes, offset_of!(CopiesDescription, place_bytes)),
            (read.functions, offset_of!(CopiesDescription, functions)),
            (read.records, offset_of!(CopiesDescription, records)),
            (read.record_bytes, offset_of!(CopiesDescription, record_bytes)),
            (read.record_start_at, offset_of!(CopiesDescription, record_start_at)),
            (read.layouts, offset_of!(CopiesDescription, layouts)),
            (read.layout_bytes, offset_of!(CopiesDescription, layout_bytes)),
            (read.layout_epoch_at, offset_of!(CopiesDescription, layout_epoch_at)),
            (read.layout_arrays_at, offset_of!(CopiesDescription, layout_arrays_at)),
            (read.clones, offset_of!(CopiesDescription, clones)),
            (read.checks_start, offset_of!(CopiesDescription, checks_start)),
            (read.clones_start, offset_of!(CopiesDescription, clones_start)),
            (read.clones_end, offset_of!(CopiesDescription, clones_end)),
            (read.check_bytes, offset_of!(CopiesDescription, check_bytes)),
            (read.stub_bytes, offset_of!(CopiesDescription, stub_bytes)),
            (read.record_name_hash_at, offset_of!(CopiesDescription, record_name_hash_at)),
            (read.layout_pad_seed_at, offset_of!(CopiesDescription, layout_pad_seed_at)),
            (read.pad_state_offset, offset_of!(CopiesDescription, pad_state_offset)),
        ];
        for (value, at) in expected {
            assert_eq!(value, at as u64);
        }
    }
}
