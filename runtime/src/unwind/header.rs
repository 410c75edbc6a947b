//! Headers of unwind tables (`.eh_frame_hdr`): a table sorted by address that leads to the FDEs of
//! functions.
//!
//! Source: Linux Standard Base, "Exception Frame Header".

use core::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a header of one entry.
pub const HEADER_BYTES: usize = 4 * (FIXED_WORDS + 2);

/// Words in front of the table.
const FIXED_WORDS: usize = 3;

/// Encodings (DW_EH_PE): a word without sign; one with a sign that counts from the start of the
/// header.
const UDATA4: u8 = 0x03;
const DATA_RELATIVE: u8 = 0x3b;

/// One function: where it starts, and where its FDE is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// First address that the FDE holds for.
    pub start: usize,
    /// Address of the FDE.
    pub fde: usize,
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
    Some(Entry { start: field(index, 0), fde: field(index, 1) })
}

/// Writes a header of one entry, or of none if it does not reach what the entry names.
///
/// Several threads may write the same header at the same time if they write the same entry, while
/// others read it.
///
/// It names no section that could be searched from end to end: who does not take the table's word
/// for where a function starts, as LLVM's unwinder, finds nothing, and not something else.
///
/// # Safety
/// At `header` there must be room for it, aligned to words, and nobody may write anything else
/// there.
pub unsafe fn write(header: *mut u32, entry: Entry) {
    let put = |at: usize, value: u32| {
        // SAFETY: callers stay inside the header. Relaxed: who reads it has it from the writing on
        // the same thread.
        unsafe { AtomicU32::from_ptr(header.add(at)) }.store(value, Ordering::Relaxed);
    };
    let distance = |address: usize| {
        let distance = address.wrapping_sub(header as usize).cast_signed();
        i32::try_from(distance).ok().map(i32::cast_unsigned)
    };
    let within_reach = distance(entry.start).zip(distance(entry.fde));
    put(0, u32::from_le_bytes([1, UDATA4, UDATA4, DATA_RELATIVE]));
    put(1, 0); // the section
    put(2, u32::from(within_reach.is_some()));
    if let Some((start, fde)) = within_reach {
        put(FIXED_WORDS, start);
        put(FIXED_WORDS + 1, fde);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries that addresses at these distances find, in a header of one entry.
    fn found(entry: impl Fn(usize) -> Entry, distances: &[usize]) -> Vec<Option<Entry>> {
        let mut words = [0u32; HEADER_BYTES / 4];
        let base = words.as_ptr() as usize;
        // SAFETY: the array is as long as a header.
        unsafe { write(words.as_mut_ptr(), entry(base)) };
        // SAFETY: a header of a moment ago.
        let find = |at: &usize| unsafe { find(words.as_ptr().cast(), base + at) };
        let entry = entry(base);
        distances.iter().map(find).inspect(|it| assert!(it.is_none_or(|it| it == entry))).collect()
    }

    #[test]
    fn an_address_finds_the_entry_at_or_below_it() {
        let near = |base| Entry { start: base + 0x100, fde: base - 0x100 };
        let all = found(near, &[0, 0xff, 0x100, 0x13f, 0x9999]);
        let are_found: Vec<bool> = all.iter().map(Option::is_some).collect();
        assert_eq!(are_found, [false, false, true, true, true]);
    }

    #[test]
    fn what_is_out_of_reach_is_left_out() {
        let far = |base| Entry { start: base + 3, fde: base + (1 << 32) };
        assert_eq!(found(far, &[2, 3, 1000]), [None, None, None]);
    }

    #[test]
    fn the_header_of_this_program_leads_to_the_fdes_of_its_functions() {
        // SAFETY: the function's own type; the result has room.
        let (found, entry) = unsafe {
            let mut found = core::mem::zeroed::<super::super::find_object::FoundObject>();
            let own = what_is_out_of_reach_is_left_out as *const () as usize;
            let result = _dl_find_object(own as *mut _, &raw mut found);
            assert_eq!(result, 0);
            (own, find(found.header().cast(), own + 1).expect("it has an FDE"))
        };
        assert_eq!(entry.start, found);
        // SAFETY: an FDE begins with its length.
        assert!(unsafe { *(entry.fde as *const u32) } < 0x1000);
    }

    unsafe extern "C" {
        fn _dl_find_object(
            address: *mut core::ffi::c_void,
            found: *mut super::super::find_object::FoundObject,
        ) -> core::ffi::c_int;
    }
}
