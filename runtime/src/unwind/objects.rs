//! `_dl_find_object` of glibc (2.35): how the unwinder of gcc 12 and later finds the unwind rules of an address. One
//! that is linked statically into a library asks nothing else, so copies are answered for here, too.
//!
//! A copy belongs to no image. The answer is one made for its function and layout: a header whose table leads to the
//! rules that hold there. The unwinder believes that table about where a function starts (`find_fde_tail` in libgcc's
//! `unwind-dw2-fde-dip.c`), and keeps nothing from one frame to the next.
//!
//! Sources: glibc manual, "Dynamic Linker Introspection"; `<dlfcn.h>`.

use super::header::{self, Entry};
use crate::arch;
use crate::code::object::{Object, Rules};
use crate::next::Next;
use crate::state::LOCATORS;
use core::ffi::{c_int, c_void};

/// `struct dl_find_object` on x86-64.
#[repr(C)]
pub struct FoundObject {
    flags: u64,
    start: *mut c_void,
    end: *mut c_void,
    link_map: *mut c_void,
    header: *mut c_void,
    reserved: [u64; 7],
}

type Find = unsafe extern "C" fn(*mut c_void, *mut FoundObject) -> c_int;

const NOT_FOUND: c_int = -1;

/// libc's own.
static NEXT: Next = Next::new(c"_dl_find_object");

/// Finds libc's function before anyone asks: later that might have to wait for a lock.
pub fn start() {
    let _ = NEXT.get();
}

/// _dl_find_object(3)
///
/// # Safety
/// As libc's: `found` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_objects__dl_find_object(
    address: *mut c_void,
    found: *mut FoundObject,
) -> c_int {
    // As in the unwinder's own search: another walk than the one that is shown.
    arch::set_shown_context(0);
    let Some(next) = NEXT.get() else { return NOT_FOUND };
    // SAFETY: the symbol of that name has this type.
    let next = unsafe { core::mem::transmute::<usize, Find>(next) };
    let object = LOCATORS.object(address as usize);
    let original = object.as_ref().map_or(address as usize, |object| object.original);
    // SAFETY: the caller's promise.
    let result = unsafe { next(original as *mut c_void, found) };
    if let Some(object) = object.filter(|_| result == 0) {
        // SAFETY: libc has filled it in; the caller's promise.
        unsafe { describe(&object, &mut *found) };
    }
    result
}

/// Turns what libc says of the image into what holds for a copy.
///
/// # Safety
/// `found` must be libc's answer for the object's original.
unsafe fn describe(object: &Object, found: &mut FoundObject) {
    let of_image = found.header.cast::<u8>();
    // SAFETY: the header of the image, which is loaded.
    let find = |header| unsafe { header::find(header, object.original) };
    let original = if of_image.is_null() { None } else { find(of_image) };
    // Rules that begin in front of the function's entry are those of several functions.
    let before = original.map_or(0, |entry| object.original - entry.start);
    let entries = object.parts.iter().flatten().filter_map(|part| match part.rules {
        Rules::At(rules) => Some(Entry { start: part.start, rules }),
        Rules::OfOriginal if before > 0 && part.start != object.body => None,
        Rules::OfOriginal => {
            original.map(|entry| Entry { start: part.start - before, rules: entry.rules })
        }
    });
    // SAFETY: the header's memory is this function's in this layout alone, and what is written depends on nothing
    // else.
    unsafe { header::write(object.header, entries) };
    found.header = object.header.cast();
    found.start = object.range.start as *mut c_void;
    found.end = object.range.end as *mut c_void;
}

#[cfg(test)]
impl FoundObject {
    /// Where the header of unwind rules is.
    pub fn header(&self) -> *mut c_void {
        self.header
    }
}
