//! Who asks for blocks: return addresses of the program's code, counted for each unit of draws.
//!
//! The slow ways alone look, which all requests go where units have draws of their own
//! ([`crate::draws`]). A stack pointer from the function that the program calls is at hand there:
//! above it lie what that function saved, and the address that it returns to. Of `new` the C++
//! library's frame lies between. The first word that is an address of moved code is taken for that.

use crate::memory::map_table;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use szc_sys::os::{self, PAGE_BYTES};

/// Entries of the table, and places that are tried; what finds none is not counted.
const ENTRIES: usize = 4096;
const TRIED: usize = 16;
/// Most words of the stack that are looked at, none behind the page of the first: a stack may end
/// there.
const WORDS: usize = 64;
/// Bits of a unit below its address.
const UNIT_BITS: u32 = 7;

/// A place that asks, and how often it did.
struct Entry {
    /// Address and unit; 0: none.
    key: AtomicU64,
    count: AtomicU64,
}

static TABLE: AtomicPtr<Entry> = AtomicPtr::new(os::null());
static START: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Begins to count, where moved code lies here.
pub fn look_in((start, bytes): (usize, usize)) {
    START.store(start, Ordering::Relaxed);
    BYTES.store(bytes, Ordering::Relaxed);
    if let Some(table) = map_table(ENTRIES * size_of::<Entry>()) {
        // Release: pairs with the acquire in `note`.
        TABLE.store(table.cast(), Ordering::Release);
    }
}

/// Counts a request.
///
/// # Safety
/// The stack pointer must be one of a function in which the calling thread is.
pub unsafe fn note(unit: usize, stack_pointer: usize) {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        return;
    }
    let (start, bytes) = (START.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    let stack = core::ptr::with_exposed_provenance::<usize>(stack_pointer);
    let in_page = (PAGE_BYTES - stack_pointer % PAGE_BYTES) / size_of::<usize>();
    for word in 0..WORDS.min(in_page) {
        // SAFETY: the caller's promise: a page of a stack.
        let address = unsafe { stack.add(word).read_volatile() };
        if address.wrapping_sub(start) < bytes {
            // SAFETY: the table has as many entries.
            let entries = unsafe { core::slice::from_raw_parts(table, ENTRIES) };
            count(entries, (address as u64) << UNIT_BITS | unit as u64);
            return;
        }
    }
}

fn count(entries: &[Entry], key: u64) {
    let home = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    for step in 0..TRIED {
        let entry = &entries[(home + step) % ENTRIES];
        let found = entry.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed);
        if found.is_ok() || found == Err(key) {
            entry.count.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
}

/// Looks at all places that asked: a return address, the unit, and how often.
pub fn each(mut look: impl FnMut(usize, usize, u64)) {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        return;
    }
    // SAFETY: the table has as many entries, which are atomic.
    let entries = unsafe { core::slice::from_raw_parts(table, ENTRIES) };
    for entry in entries {
        let key = entry.key.load(Ordering::Relaxed);
        if key != 0 {
            let unit = key & ((1 << UNIT_BITS) - 1);
            let count = entry.count.load(Ordering::Relaxed);
            look((key >> UNIT_BITS) as usize, unit as usize, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(4096))]
    struct Page([usize; 512]);

    #[test]
    fn the_first_address_of_moved_code_on_the_stack_is_counted_for_its_unit() {
        // An address that is on no other test's stack.
        let start = 0x7abc_0000_1000;
        look_in((start, 0x100));
        let mut page = Page([0; 512]);
        let stack = &mut page.0;
        (stack[3], stack[5]) = (start + 0x100, start + 0xf0);
        (stack[6], stack[7]) = (start - 1, start);
        for _ in 0..3 {
            // SAFETY: as many words as are looked at.
            unsafe { note(64, stack.as_ptr().expose_provenance()) };
        }
        // SAFETY: as above.
        unsafe { note(1, stack.as_ptr().expose_provenance()) };
        // Nothing behind the page.
        let last = &raw const page.0[510];
        // SAFETY: as above.
        unsafe { note(2, last.expose_provenance()) };
        let mut found = Vec::new();
        each(|address, unit, count| found.push((address, unit, count)));
        found.sort_unstable();
        assert_eq!(found, [(start + 0xf0, 1, 1), (start + 0xf0, 64, 3)]);
    }
}
