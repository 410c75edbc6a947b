//! Headers of unwind rules (`.eh_frame_hdr`): a table sorted by address that leads to the rules
//! (FDEs) of functions.
//!
//! Source: Linux Standard Base, "Exception Frame Header".

use core::sync::atomic::{AtomicU32, Ordering};

/// Parts of a function that have rules, at most. The last is told of alone, the others together.
pub const MAX_ENTRIES: usize = 7;

/// Which part that is: the beginning of a body that may not be written yet.
pub const OPENING: usize = MAX_ENTRIES - 1;

/// Bytes of a header of all parts but that one; where the header of that one begins.
pub const OPENING_HEADER_AT: usize = 4 * (FIXED_WORDS + 2 * OPENING);

/// Bytes of the memory of a function's headers.
pub const HEADER_BYTES: usize = OPENING_HEADER_AT + 4 * (FIXED_WORDS + 2);

/// Words in front of the table.
const FIXED_WORDS: usize = 3;

/// Encodings (DW_EH_PE): a word without sign; one with a sign that counts from the start of the
/// header.
const UDATA4: u8 = 0x03;
const DATA_RELATIVE: u8 = 0x3b;

/// One function: where it starts, and where its rules are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// First address that the rules hold for.
    pub start: usize,
    /// Address of the rules.
    pub rules: usize,
}

/// The last entry at or below `address` in the header that a linker wrote; nothing if there is
/// none, or the table is of a form that linkers do not write.
///
/// # Safety
/// `header` must be that of an image that is loaded.
pub unsafe fn find(header: *const u8, address: usize) -> Option<Entry> {
    let word = |at: usize| {
        // SAFETY: inside the header, as its encodings and its count say.
        unsafe { header.add(at).cast::<u32>().read_unaligned() }
    };
    let [version, pointer, count, table] = word(0).to_le_bytes();
    let pointer_bytes = match pointer & 0x0f {
        0x00 | 0x04 | 0x0c => 8,
        0x03 | 0x0b => 4,
        _ => return None,
    };
    if (version, count, table) != (1, UDATA4, DATA_RELATIVE) {
        return None;
    }
    let count_at = 4 + pointer_bytes;
    let field = |index: usize, second: usize| {
        let distance = word(count_at + 4 + 8 * index + 4 * second).cast_signed();
        (header as usize).wrapping_add_signed(distance as isize)
    };
    let (mut below, mut above) = (0, word(count_at) as usize);
    while below < above {
        let middle = usize::midpoint(below, above);
        if field(middle, 0) <= address {
            below = middle + 1;
        } else {
            above = middle;
        }
    }
    let index = below.checked_sub(1)?;
    Some(Entry { start: field(index, 0), rules: field(index, 1) })
}

/// Writes a header of entries, which come sorted by their start; those that it does not reach are
/// left out.
///
/// Several threads may write the same header at the same time if they write the same entries, while
/// others read it.
///
/// It names no section that could be searched from end to end: who does not take the table's word
/// for where a function starts, as LLVM's unwinder, finds nothing, and not something else.
///
/// # Safety
/// At `header` there must be room for so many entries, as in [`HEADER_BYTES`], aligned to words,
/// and nobody may write anything else there.
pub unsafe fn write(header: *mut u32, entries: impl Iterator<Item = Entry>) {
    let put = |at: usize, value: u32| {
        // SAFETY: callers stay inside the header. Relaxed: who reads it has it from the writing on
        // the same thread.
        unsafe { AtomicU32::from_ptr(header.add(at)) }.store(value, Ordering::Relaxed);
    };
    let distance = |address: usize| {
        let distance = address.wrapping_sub(header as usize).cast_signed();
        i32::try_from(distance).ok().map(i32::cast_unsigned)
    };
    let within_reach = entries.filter_map(|entry| distance(entry.start).zip(distance(entry.rules)));
    let mut count = 0;
    for (start, rules) in within_reach.take(OPENING) {
        put(FIXED_WORDS + 2 * count, start);
        put(FIXED_WORDS + 2 * count + 1, rules);
        count += 1;
    }
    put(0, u32::from_le_bytes([1, UDATA4, UDATA4, DATA_RELATIVE]));
    put(1, 0); // the section
    put(2, count as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_finds_the_entry_at_or_below_it() {
        let mut words = [0u32; HEADER_BYTES / 4];
        let base = words.as_ptr() as usize;
        let entry = |start| Entry { start: base + start, rules: base - start };
        let all = [entry(0x100), entry(0x140), entry(0x1000)];
        // SAFETY: the array is as long as a header.
        let found = unsafe {
            write(words.as_mut_ptr(), all.into_iter());
            [0xff, 0x100, 0x13f, 0x140, 0xfff, 0x1000, 0x9999]
                .map(|at| find(words.as_ptr().cast(), base + at))
        };
        let [a, b, c] = all.map(Some);
        assert_eq!(found, [None, a, a, b, b, c, c]);
    }

    #[test]
    fn what_is_out_of_reach_is_left_out() {
        let mut words = [0u32; HEADER_BYTES / 4];
        let base = words.as_ptr() as usize;
        let near = Entry { start: base + 1, rules: base + 2 };
        let far = Entry { start: base + 3, rules: base + (1 << 32) };
        // SAFETY: the array is as long as a header.
        let found = unsafe {
            write(words.as_mut_ptr(), [near, far].into_iter());
            find(words.as_ptr().cast(), base + 3)
        };
        assert_eq!(found, Some(near));
    }

    #[test]
    fn the_header_of_this_program_leads_to_the_rules_of_its_functions() {
        // SAFETY: the function's own type; the result has room.
        let (found, entry) = unsafe {
            let mut found = core::mem::zeroed::<super::super::objects::FoundObject>();
            let own = what_is_out_of_reach_is_left_out as *const () as usize;
            let result = _dl_find_object(own as *mut _, &raw mut found);
            assert_eq!(result, 0);
            (own, find(found.header().cast(), own + 1).expect("it has rules"))
        };
        assert_eq!(entry.start, found);
        // SAFETY: rules begin with their length.
        assert!(unsafe { *(entry.rules as *const u32) } < 0x1000);
    }

    unsafe extern "C" {
        fn _dl_find_object(
            address: *mut core::ffi::c_void,
            found: *mut super::super::objects::FoundObject,
        ) -> core::ffi::c_int;
    }
}
