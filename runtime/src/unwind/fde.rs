//! An FDE moved to a copy, with all that it refers to by distance: for unwinders that believe what
//! FDEs say of the addresses they hold for, as LLVM's `libunwind` does, and not only the table that
//! leads to them.
//!
//! The FDE's CIE is written in front of it. LLVM's unwinder finds it by a distance without a sign,
//! and copies may lie below the image.
//!
//! Sources: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.1; `DwarfParser.hpp` and
//! `AddressSpace.hpp` of LLVM's libunwind.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use szc_abi::cursor::Cursor;
use szc_abi::unwind::{CIE_POINTER_AT, Cie, INITIAL_LOCATION_AT};

/// Encodings of pointers (`DW_EH_PE_…`).
const ABSOLUTE_8: u8 = 0x00;
const RELATIVE_4: u8 = 0x1b;
const RELATIVE_8: u8 = 0x1c;
const OMITTED: u8 = 0xff;
/// Bits that say how large a value is, and what it counts from.
const FORM_MASK: u8 = 0x0f;
const BASE_MASK: u8 = 0x70;
const RELATIVE: u8 = 0x10;

/// In front of the CIE in their memory: a stamp, a header of one entry, and the end of the section
/// that the header names.
const HEADER_AT: usize = 8;
const END_AT: usize = 28;
const CIE_AT: usize = 32;

/// First word of the header: version; its section by a distance, a count, entries that count from
/// the header.
const HEADER: u32 = u32::from_le_bytes([1, RELATIVE_4, 0x03, 0x3b]);

/// An FDE as it stands in memory.
pub struct Source {
    /// Its CIE, and the FDE itself, from their lengths on.
    cie: &'static [u8],
    fde: &'static [u8],
    /// Form of its first address.
    start: Start,
    /// The personality routine that the CIE names, and the LSDA.
    personality: Option<Distance>,
    lsda: Option<Distance>,
}

/// The form of the first address that an FDE holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// 8 bytes.
    Absolute,
    /// A distance from its own place, of so many bytes: 8 in the large code model.
    Relative(usize),
}

impl Start {
    fn bytes(self) -> usize {
        match self {
            Self::Absolute => 8,
            Self::Relative(bytes) => bytes,
        }
    }
}

/// A pointer that counts from its own place.
#[derive(Clone, Copy)]
struct Distance {
    at: usize,
    bytes: usize,
    target: usize,
}

impl Source {
    /// That at an address, if it has a form that linkers write.
    ///
    /// # Safety
    /// There must be an FDE at the address, and stay.
    pub unsafe fn read(address: usize) -> Option<Self> {
        // SAFETY: the caller's promise; an FDE leads to its CIE.
        let (fde, cie) = unsafe {
            let fde = sized(address)?;
            let distance = Cursor::new(fde.get(CIE_POINTER_AT..)?).u32()?.cast_signed();
            (fde, sized((address + CIE_POINTER_AT).wrapping_add_signed(-(distance as isize)))?)
        };
        let read = Cie::read(cie.as_ptr() as u64, Cursor::new(cie))?;
        let start = match read.starts {
            ABSOLUTE_8 => Start::Absolute,
            RELATIVE_4 => Start::Relative(4),
            RELATIVE_8 => Start::Relative(8),
            _ => return None,
        };
        let personality = match read.personality {
            Some((encoding, bytes)) => pointer(cie, bytes, encoding)?,
            None => None,
        };
        // Behind it stand bytes of code, as many bytes wide.
        let mut cursor = Cursor::new(fde.get(INITIAL_LOCATION_AT + 2 * start.bytes()..)?);
        let mut lsda = None;
        if read.has_augmentation {
            cursor.unsigned()?;
            lsda = match read.lsda {
                Some(encoding) => pointer(fde, cursor.rest(), encoding)?,
                None => None,
            };
        }
        Some(Self { cie, fde, start, personality, lsda })
    }

    /// Bytes of memory that such an FDE needs, or another with as many bytes at most.
    pub fn memory_bytes(&self, max_bytes: usize) -> usize {
        let fde = self.fde.len().max(max_bytes).next_multiple_of(size_of::<u32>());
        (CIE_AT + self.cie_bytes() + fde).next_multiple_of(size_of::<u64>())
    }

    /// Bytes from the start of the CIE to the FDE.
    fn cie_bytes(&self) -> usize {
        self.cie.len().next_multiple_of(size_of::<u32>())
    }
}

/// The bytes of an FDE or a CIE at an address.
///
/// # Safety
/// There must be one of either.
unsafe fn sized(address: usize) -> Option<&'static [u8]> {
    // SAFETY: the caller's promise: a length of what follows.
    unsafe {
        let bytes = (address as *const u32).read_unaligned() as usize;
        let has_length = bytes != 0 && bytes < 0xffff_fff0;
        has_length
            .then(|| core::slice::from_raw_parts(address as *const u8, size_of::<u32>() + bytes))
    }
}

/// Reads a pointer, whose bytes are a part of `whole`. Outside is nothing if it has an unknown
/// form, inside if it means the same wherever it lies.
fn pointer(whole: &[u8], bytes: &[u8], encoding: u8) -> Option<Option<Distance>> {
    if encoding == OMITTED {
        return Some(None);
    }
    let at = bytes.as_ptr() as usize - whole.as_ptr() as usize;
    let mut cursor = Cursor::new(bytes);
    let (value, bytes) = match encoding & FORM_MASK {
        0x03 | 0x0b => (i64::from(cursor.u32()?.cast_signed()), 4),
        0x00 | 0x04 | 0x0c => (cursor.u64()?.cast_signed(), 8),
        _ => return None,
    };
    match encoding & BASE_MASK {
        0 => Some(None),
        // 0 stands for none, whatever it would count from.
        RELATIVE if value == 0 => Some(None),
        RELATIVE => {
            let target = (whole.as_ptr() as usize + at).wrapping_add_signed(value as isize);
            Some(Some(Distance { at, bytes, target }))
        }
        _ => None,
    }
}

/// Memory for the FDE of one part of a copy, and a header that leads there.
#[derive(Clone, Copy)]
pub struct Memory(*mut u8);

impl Memory {
    /// At this place.
    ///
    /// # Safety
    /// As many bytes as [`Source::memory_bytes`] says must be there for good, aligned to 8 bytes,
    /// and zero or written by this. At any time all who write there must give the same source,
    /// start and stamp, and with another stamp than before if what they give is other than before;
    /// nobody may then still use what was there.
    pub unsafe fn at(address: *mut u8) -> Self {
        Self(address)
    }

    /// The header, whose entry leads to the source's FDE as it holds from `start` on.
    pub fn header(self, source: &Source, start: usize, stamp: u64) -> *const u8 {
        // SAFETY: aligned, inside the memory.
        let stamped = unsafe { AtomicU64::from_ptr(self.0.cast()) };
        // Acquire: pairs with the release below; what the header leads to is there.
        if stamped.load(Ordering::Acquire) != stamp {
            self.write(source, start);
            stamped.store(stamp, Ordering::Release);
        }
        self.0.wrapping_add(HEADER_AT)
    }

    /// Everything gets its final value at once: others may be writing the same, or reading it
    /// already.
    fn write(self, source: &Source, start: usize) {
        let (header, cie) = (self.0 as usize + HEADER_AT, self.0 as usize + CIE_AT);
        let fde = cie + source.cie_bytes();
        let words = [
            (HEADER_AT, HEADER),
            (HEADER_AT + 4, distance(header + 4, self.0 as usize + END_AT)),
            (HEADER_AT + 8, 1),
            (HEADER_AT + 12, distance(header, start)),
            (HEADER_AT + 16, distance(header, fde)),
            (END_AT, 0),
        ];
        for (at, word) in words {
            // SAFETY: aligned, inside the memory.
            unsafe { AtomicU32::from_ptr(self.0.add(at).cast()) }.store(word, Ordering::Relaxed);
        }
        let moved = |base: usize, field: Option<Distance>| {
            field.map(|field| Field {
                value: field.target.wrapping_sub(base + field.at) as u64,
                at: field.at,
                bytes: field.bytes,
            })
        };
        self.copy(CIE_AT, source.cie, [moved(cie, source.personality), None, None]);
        let value = match source.start {
            Start::Absolute => start,
            Start::Relative(_) => start.wrapping_sub(fde + INITIAL_LOCATION_AT),
        };
        let (at, bytes) = (INITIAL_LOCATION_AT, source.start.bytes());
        let first = Field { at, bytes, value: value as u64 };
        let value = (fde + CIE_POINTER_AT - cie) as u64;
        let back = Field { at: CIE_POINTER_AT, bytes: 4, value };
        let fields = [Some(back), Some(first), moved(fde, source.lsda)];
        self.copy(CIE_AT + source.cie_bytes(), source.fde, fields);
    }

    /// Copies bytes, but for fields in them, which come in their order.
    fn copy(self, at: usize, bytes: &[u8], fields: [Option<Field>; 3]) {
        let put = |inside: usize, byte: u8| {
            // SAFETY: inside the memory.
            unsafe { AtomicU8::from_ptr(self.0.add(at + inside)) }.store(byte, Ordering::Relaxed);
        };
        let mut done = 0;
        for field in fields.into_iter().flatten() {
            (done..field.at).for_each(|inside| put(inside, bytes[inside]));
            let value = field.value.to_le_bytes();
            (0..field.bytes).for_each(|byte| put(field.at + byte, value[byte]));
            done = field.at + field.bytes;
        }
        (done..bytes.len()).for_each(|inside| put(inside, bytes[inside]));
    }
}

/// A number inside an FDE or a CIE.
#[derive(Clone, Copy)]
struct Field {
    at: usize,
    bytes: usize,
    value: u64,
}

fn distance(from: usize, to: usize) -> u32 {
    to.wrapping_sub(from) as u32
}

#[cfg(test)]
mod tests {
    use super::super::find_object::FoundObject;
    use super::super::header::{self, Entry};
    use super::*;
    use std::collections::HashSet;

    unsafe extern "C" {
        fn _dl_find_object(address: *mut core::ffi::c_void, found: *mut FoundObject) -> i32;
    }

    /// The header of the image of this test.
    fn own_header() -> *const u8 {
        // SAFETY: the function's own type; the result has room.
        unsafe {
            let mut found = core::mem::zeroed::<FoundObject>();
            let own = own_header as *const () as usize;
            assert_eq!(_dl_find_object(own as *mut _, &raw mut found), 0);
            found.header().cast()
        }
    }

    fn source_of(address: usize) -> Option<(Entry, Source)> {
        // SAFETY: the header of this image, which stays.
        let entry = unsafe { header::find(own_header(), address) }?;
        // SAFETY: an FDE of this image.
        unsafe { Source::read(entry.fde) }.map(|source| (entry, source))
    }

    #[test]
    fn a_relocated_fde_is_that_of_the_copy_and_means_the_same_lsda() {
        let (mut seen, mut with_lsda) = (HashSet::new(), 0);
        for function in (own_header as *const () as usize..).step_by(64).take(20_000) {
            let Some((entry, source)) = source_of(function).filter(|(e, _)| seen.insert(e.start))
            else {
                continue;
            };
            let mut memory = vec![0u64; source.memory_bytes(0) / 8];
            let address = memory.as_mut_ptr() as usize;
            // Within reach of its FDE, as copies are.
            let start = address + 0x1234;
            // SAFETY: memory of that size, for this test alone.
            let (found, copy) = unsafe {
                let header = Memory::at(memory.as_mut_ptr().cast()).header(&source, start, 1);
                let found = header::find(header, start + 7).expect("the header has an entry");
                (found, Source::read(found.fde).expect("an FDE stays one"))
            };
            assert_eq!(found.start, start);
            let field = i32::from_le_bytes(copy.fde[8..12].try_into().unwrap());
            assert_eq!((found.fde + 8).wrapping_add_signed(field as isize), start);
            let back = u32::from_le_bytes(copy.fde[4..8].try_into().unwrap()) as usize;
            assert_eq!(found.fde + 4 - back, copy.cie.as_ptr() as usize);
            assert_eq!(copy.fde.len(), source.fde.len());
            assert_eq!(copy.fde[12..17], source.fde[12..17], "bytes of code");
            assert!(copy.cie.as_ptr() as usize >= address);
            assert!(found.fde + copy.fde.len() <= address + 8 * memory.len());
            // What is 64 bits away is out of reach of 4 bytes here, where memory is anywhere.
            let low = |field: Option<Distance>| field.map(|field| (field.at, field.target as u32));
            assert_eq!(low(copy.lsda), low(source.lsda));
            assert_eq!(low(copy.personality), low(source.personality));
            with_lsda += usize::from(source.lsda.is_some());
            assert!(entry.fde != found.fde);
        }
        assert!(seen.len() > 100 && with_lsda > 10, "{} {with_lsda}", seen.len());
    }

    /// A CIE and an FDE of the large code model: addresses are distances of 8 bytes.
    const LARGE: [u32; 14] = [
        // Bytes that follow, CIE, version 1, "zR", code 1, data -8, column 16, 1 byte: 0x1c.
        20,
        0,
        u32::from_le_bytes([1, b'z', b'R', 0]),
        u32::from_le_bytes([1, 0x78, 16, 1]),
        u32::from_le_bytes([0x1c, 0x0c, 7, 8]),
        u32::from_le_bytes([0x90, 1, 0, 0]),
        // Bytes that follow, back to the CIE, first address, bytes of code, no augmentation.
        28,
        28,
        0x7000_0000,
        1,
        40,
        0,
        0,
        0,
    ];

    #[test]
    fn an_fde_of_the_large_code_model_keeps_its_distances_of_8_bytes() {
        let large = Box::leak(Box::new(LARGE));
        // SAFETY: they stay.
        let source = unsafe { Source::read(large.as_ptr() as usize + 24) }.expect("a known form");
        assert_eq!(source.start, Start::Relative(8));
        let mut memory = vec![0u64; source.memory_bytes(0) / 8];
        let start = memory.as_ptr() as usize + 0x1234;
        // SAFETY: memory of that size, for this test alone.
        let fde = unsafe {
            let header = Memory::at(memory.as_mut_ptr().cast()).header(&source, start, 1);
            header::find(header, start).expect("the header has an entry").fde
        };
        // SAFETY: an FDE of a moment ago.
        let copy = unsafe { Source::read(fde) }.expect("an FDE stays one");
        let distance = i64::from_le_bytes(copy.fde[8..16].try_into().unwrap());
        assert_eq!((fde + 8).wrapping_add_signed(distance as isize), start);
        assert_eq!((copy.fde[16..].len(), &copy.fde[16..24]), (16, &source.fde[16..24]));
    }

    #[test]
    fn what_is_stamped_is_written_once_for_each_stamp() {
        let (_, source) = source_of(own_header as *const () as usize).expect("it has an FDE");
        let mut memory = vec![0u64; source.memory_bytes(0) / 8];
        // SAFETY: memory of that size, for this test alone.
        let memory_of = unsafe { Memory::at(memory.as_mut_ptr().cast()) };
        let near = memory.as_ptr() as usize;
        let start = |stamp, start| {
            let header = memory_of.header(&source, start, stamp);
            // SAFETY: a header was written there.
            unsafe { header::find(header, start) }.map(|entry| entry.start)
        };
        assert_eq!(start(1, near + 8), Some(near + 8));
        assert_eq!(start(1, near + 16), Some(near + 8), "not written again");
        assert_eq!(start(2, near + 16), Some(near + 16));
    }
}
