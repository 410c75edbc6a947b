//! Unwind rules (an FDE) moved to a copy, with all that they refer to by distance: for unwinders
//! that believe what rules say of the addresses they hold for, as LLVM's `libunwind` does, and not
//! only the table that leads to them.
//!
//! What the rules have in common with others (their CIE) is written in front of them. LLVM's
//! unwinder finds it by a distance without a sign, and copies may lie below the image.
//!
//! Sources: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.1; `DwarfParser.hpp` and
//! `AddressSpace.hpp` of LLVM's libunwind.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use szc_abi::cursor::Cursor;
use szc_abi::unwind::Common;
pub use szc_abi::unwind::{CIE_POINTER_AT as COMMON_AT, INITIAL_LOCATION_AT as START_AT};

/// Encodings of pointers (`DW_EH_PE_…`).
const ABSOLUTE_8: u8 = 0x00;
const RELATIVE_4: u8 = 0x1b;
const OMITTED: u8 = 0xff;
/// Bits that say how large a value is, and what it counts from.
const FORM_MASK: u8 = 0x0f;
const BASE_MASK: u8 = 0x70;
const RELATIVE: u8 = 0x10;

/// In front of the rules in their memory: a stamp, a header of one entry, and the end of the
/// section that the header names.
const HEADER_AT: usize = 8;
const END_AT: usize = 28;
const RULES_AT: usize = 32;

/// First word of the header: version; its section by a distance, a count, entries that count from
/// the header.
const HEADER: u32 = u32::from_le_bytes([1, RELATIVE_4, 0x03, 0x3b]);

/// Unwind rules as they stand in memory.
pub struct Source {
    /// What they have in common with others, and they themselves, from their lengths on.
    common: &'static [u8],
    entry: &'static [u8],
    /// Whether their first address is an absolute one, of 8 bytes.
    absolute: bool,
    /// The handler that the common part names, and what it knows of the function.
    personality: Option<Distance>,
    handlers: Option<Distance>,
}

/// A pointer that counts from its own place.
#[derive(Clone, Copy)]
struct Distance {
    at: usize,
    bytes: usize,
    target: usize,
}

impl Source {
    /// Those at an address, if they have a form that linkers write.
    ///
    /// # Safety
    /// There must be rules at the address, and stay.
    pub unsafe fn read(address: usize) -> Option<Self> {
        // SAFETY: the caller's promise; rules lead to their common part.
        let (entry, common) = unsafe {
            let entry = sized(address)?;
            let distance = Cursor::new(entry.get(COMMON_AT..)?).u32()?.cast_signed();
            (entry, sized((address + COMMON_AT).wrapping_add_signed(-(distance as isize)))?)
        };
        let read = Common::read(common.as_ptr() as u64, Cursor::new(common))?;
        let absolute = match read.starts {
            ABSOLUTE_8 => true,
            RELATIVE_4 => false,
            _ => return None,
        };
        let personality = match read.personality {
            Some((encoding, bytes)) => pointer(common, bytes, encoding)?,
            None => None,
        };
        let mut cursor = Cursor::new(entry.get(START_AT + if absolute { 16 } else { 8 }..)?);
        let mut handlers = None;
        if read.has_augmentation {
            cursor.unsigned()?;
            handlers = match read.handlers {
                Some(encoding) => pointer(entry, cursor.rest(), encoding)?,
                None => None,
            };
        }
        Some(Self { common, entry, absolute, personality, handlers })
    }

    /// Bytes that the memory of such rules needs, of rules with so many bytes at most.
    pub fn room(&self, most_bytes: usize) -> usize {
        let rules = self.entry.len().max(most_bytes).next_multiple_of(size_of::<u32>());
        (RULES_AT + self.common_bytes() + rules).next_multiple_of(size_of::<u64>())
    }

    /// Bytes from the start of the common part to the rules.
    fn common_bytes(&self) -> usize {
        self.common.len().next_multiple_of(size_of::<u32>())
    }
}

/// The bytes of rules or of a common part at an address.
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

/// Memory for the rules of one part of a copy, and a header that leads to them.
#[derive(Clone, Copy)]
pub struct Room(*mut u8);

impl Room {
    /// At this place.
    ///
    /// # Safety
    /// As many bytes as [`Source::room`] says must be there for good, aligned to 8 bytes, and zero
    /// or written by this. At any time all who write there must give the same source, start and
    /// stamp, and with another stamp than before if what they give is other than before; nobody may
    /// then still use what was there.
    pub unsafe fn at(address: *mut u8) -> Self {
        Self(address)
    }

    /// The header, whose entry leads to the source's rules as they hold from `start` on.
    pub fn header(self, source: &Source, start: usize, stamp: u64) -> *const u8 {
        // SAFETY: aligned, inside the room.
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
        let (header, common) = (self.0 as usize + HEADER_AT, self.0 as usize + RULES_AT);
        let entry = common + source.common_bytes();
        let words = [
            (HEADER_AT, HEADER),
            (HEADER_AT + 4, distance(header + 4, self.0 as usize + END_AT)),
            (HEADER_AT + 8, 1),
            (HEADER_AT + 12, distance(header, start)),
            (HEADER_AT + 16, distance(header, entry)),
            (END_AT, 0),
        ];
        for (at, word) in words {
            // SAFETY: aligned, inside the room.
            unsafe { AtomicU32::from_ptr(self.0.add(at).cast()) }.store(word, Ordering::Relaxed);
        }
        let moved = |base: usize, field: Option<Distance>| {
            field.map(|field| Field {
                value: field.target.wrapping_sub(base + field.at) as u64,
                at: field.at,
                bytes: field.bytes,
            })
        };
        self.copy(RULES_AT, source.common, [moved(common, source.personality), None, None]);
        let first = if source.absolute {
            Field { at: START_AT, bytes: 8, value: start as u64 }
        } else {
            let value = start.wrapping_sub(entry + START_AT) as u64;
            Field { at: START_AT, bytes: 4, value }
        };
        let back = Field { at: COMMON_AT, bytes: 4, value: (entry + COMMON_AT - common) as u64 };
        let fields = [Some(back), Some(first), moved(entry, source.handlers)];
        self.copy(RULES_AT + source.common_bytes(), source.entry, fields);
    }

    /// Copies bytes, but for fields in them, which come in their order.
    fn copy(self, at: usize, bytes: &[u8], fields: [Option<Field>; 3]) {
        let put = |inside: usize, byte: u8| {
            // SAFETY: inside the room.
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

/// A number inside rules.
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
    use super::super::header::{self, Entry};
    use super::super::objects::FoundObject;
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
        // SAFETY: rules of this image.
        unsafe { Source::read(entry.rules) }.map(|source| (entry, source))
    }

    #[test]
    fn relocated_rules_are_those_of_the_copy_and_mean_the_same_handlers() {
        let (mut seen, mut with_handlers) = (HashSet::new(), 0);
        for function in (own_header as *const () as usize..).step_by(64).take(20_000) {
            let Some((entry, source)) = source_of(function).filter(|(e, _)| seen.insert(e.start))
            else {
                continue;
            };
            let mut memory = vec![0u64; source.room(0) / 8];
            let address = memory.as_mut_ptr() as usize;
            // Within reach of its rules, as copies are.
            let start = address + 0x1234;
            // SAFETY: memory of that size, for this test alone.
            let (found, copy) = unsafe {
                let header = Room::at(memory.as_mut_ptr().cast()).header(&source, start, 1);
                let found = header::find(header, start + 7).expect("the header has an entry");
                (found, Source::read(found.rules).expect("rules stay rules"))
            };
            assert_eq!(found.start, start);
            let field = i32::from_le_bytes(copy.entry[8..12].try_into().unwrap());
            assert_eq!((found.rules + 8).wrapping_add_signed(field as isize), start);
            let back = u32::from_le_bytes(copy.entry[4..8].try_into().unwrap()) as usize;
            assert_eq!(found.rules + 4 - back, copy.common.as_ptr() as usize);
            assert_eq!(copy.entry.len(), source.entry.len());
            assert_eq!(copy.entry[12..17], source.entry[12..17], "bytes of code");
            assert!(copy.common.as_ptr() as usize >= address);
            assert!(found.rules + copy.entry.len() <= address + 8 * memory.len());
            // What is 64 bits away is out of reach of 4 bytes here, where memory is anywhere.
            let low = |field: Option<Distance>| field.map(|field| (field.at, field.target as u32));
            assert_eq!(low(copy.handlers), low(source.handlers));
            assert_eq!(low(copy.personality), low(source.personality));
            with_handlers += usize::from(source.handlers.is_some());
            assert!(entry.rules != found.rules);
        }
        assert!(seen.len() > 100 && with_handlers > 10, "{} {with_handlers}", seen.len());
    }

    #[test]
    fn what_is_stamped_is_written_once_for_each_stamp() {
        let (_, source) = source_of(own_header as *const () as usize).expect("it has rules");
        let mut memory = vec![0u64; source.room(0) / 8];
        // SAFETY: memory of that size, for this test alone.
        let room = unsafe { Room::at(memory.as_mut_ptr().cast()) };
        let near = memory.as_ptr() as usize;
        let start = |stamp, start| {
            let header = room.header(&source, start, stamp);
            // SAFETY: a header was written there.
            unsafe { header::find(header, start) }.map(|entry| entry.start)
        };
        assert_eq!(start(1, near + 8), Some(near + 8));
        assert_eq!(start(1, near + 16), Some(near + 8), "not written again");
        assert_eq!(start(2, near + 16), Some(near + 16));
    }
}
