//! `_dl_find_object` of glibc (2.35): how the unwinder of gcc 12 and later finds the unwind rules
//! of an address. One that is linked statically into a library asks nothing else, so copies are
//! answered for here, too.
//!
//! A copy belongs to no image. The answer is one made for its function and layout: a header whose
//! table leads to the rules that hold there. libgcc's unwinder believes that table about where a
//! function starts (`find_fde_tail` in its `unwind-dw2-fde-dip.c`), and keeps nothing from one
//! frame to the next. LLVM's believes the rules: where it unwinds, each part of a function gets
//! rules of its own when they are first asked for (`relocated.rs`).
//!
//! Sources: glibc manual, "Dynamic Linker Introspection"; `<dlfcn.h>`.

use super::header::{self, Entry, OPENING, OPENING_HEADER_AT};
use super::relocated::{Room, Source};
use crate::arch::{self, rules};
use crate::code::headers::Memory;
use crate::code::object::{Object, Rules};
use crate::next;
use crate::state::LOCATORS;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

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

impl FoundObject {
    /// The last function at or below an address, as the image's header has it.
    ///
    /// # Safety
    /// This must be libc's answer for an image that is loaded.
    unsafe fn entry(&self, address: usize) -> Option<Entry> {
        // SAFETY: the caller's promise.
        (!self.header.is_null()).then(|| unsafe { header::find(self.header.cast(), address) })?
    }
}

const NOT_FOUND: c_int = -1;

/// libc's own.
use crate::next::DL_FIND_OBJECT as NEXT;

/// Whether somebody has asked.
static WAS_ASKED: AtomicBool = AtomicBool::new(false);

/// Whether somebody unwinds who believes rules alone.
static RELOCATED: AtomicBool = AtomicBool::new(false);

/// Whether rules must say themselves where in a copy they hold.
pub fn wants_relocated_rules() -> bool {
    RELOCATED.load(Ordering::Relaxed)
}

/// Whether LLVM's unwinder is the one that everybody uses, and asks here. (It did not always.) From
/// then on rules are relocated for it.
pub fn serves_llvm() -> bool {
    let find = next::symbol_of_any(c"_Unwind_FindEnclosingFunction");
    if next::symbol_of_any(c"__unw_add_dynamic_fde") == 0 || find == 0 {
        return false;
    }
    WAS_ASKED.store(false, Ordering::Relaxed);
    // SAFETY: the symbol of that name has this type; any address may be asked about.
    unsafe {
        let find: unsafe extern "C" fn(*mut c_void) -> *mut c_void = core::mem::transmute(find);
        find(serves_llvm as *mut c_void);
    }
    let asks = WAS_ASKED.load(Ordering::Relaxed);
    RELOCATED.store(asks, Ordering::Relaxed);
    asks
}

/// Bytes that any part needs of a function whose original is at an address, for a header and rules,
/// which are at most so long; nothing if its rules have no form that can be relocated.
pub fn room(original: usize, rules_bytes: usize) -> Option<usize> {
    // SAFETY: patterns of rules, of which these are the longest.
    let pattern = unsafe { Source::read(rules::PATTERNS.as_ptr() as usize + rules::detour_at(0)) }?;
    let pattern = pattern.room(0);
    // SAFETY: the function's own type; the result has room, and is filled in before it is read.
    let entry = unsafe {
        let next = NEXT.get()?;
        let mut found = core::mem::zeroed::<FoundObject>();
        if next(original as *mut c_void, (&raw mut found).cast()) != 0 {
            return None;
        }
        found.entry(original)
    };
    let Some(entry) = entry else { return Some(pattern) };
    // SAFETY: the header leads to rules.
    let source = unsafe { Source::read(entry.rules) }?;
    Some(source.room(rules_bytes).max(pattern))
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
    if !WAS_ASKED.load(Ordering::Relaxed) {
        WAS_ASKED.store(true, Ordering::Relaxed);
    }
    let Some(next) = NEXT.get() else { return NOT_FOUND };
    let object = LOCATORS.object(address as usize);
    let original = object.as_ref().map_or(address as usize, |object| object.original);
    // SAFETY: the caller's promise.
    let result = unsafe { next(original as *mut c_void, found.cast()) };
    let Some(object) = object.filter(|_| result == 0) else { return result };
    // SAFETY: libc has filled it in; the caller's promise.
    let found = unsafe { &mut *found };
    // SAFETY: it is libc's answer still.
    let original = unsafe { found.entry(object.original) };
    // The object's memory is of the kind that holds, by what `Headers` was made for.
    let header = match object.memory {
        Memory::Header(at) => Some(header_for_all(&object, original, at)),
        Memory::Rules(at, room) => header_for_one(&object, original, address as usize, (at, room)),
    };
    let Some(header) = header else { return NOT_FOUND };
    found.header = header.cast_mut().cast();
    found.start = object.range.start as *mut c_void;
    found.end = object.range.end as *mut c_void;
    result
}

/// A header that leads to the rules of all parts, wherever they stand, in the object's memory at
/// `at`.
fn header_for_all(object: &Object, original: Option<Entry>, at: usize) -> *const u8 {
    // Rules that begin in front of the function's entry are those of several functions.
    let before = original.map_or(0, |entry| object.original - entry.start);
    let entries = object.parts.iter().flatten().filter_map(|part| match part.rules {
        Rules::At(rules) => Some(Entry { start: part.start, rules }),
        Rules::OfOriginal if before > 0 && part.start != object.body => None,
        Rules::OfOriginal => {
            original.map(|entry| Entry { start: part.start - before, rules: entry.rules })
        }
    });
    let at = if object.parts[OPENING].is_some() { at + OPENING_HEADER_AT } else { at };
    let header = object.headers.wrapping_add(at);
    // SAFETY: the header's memory is this function's in this layout alone, and what is written
    // depends on nothing else.
    unsafe { header::write(header.cast(), entries) };
    header
}

/// A header that leads to rules of the part that an address lies in, both in the object's memory:
/// `room` bytes for each part from `at` on.
fn header_for_one(
    object: &Object,
    original: Option<Entry>,
    address: usize,
    (at, room): (usize, usize),
) -> Option<*const u8> {
    let index =
        object.parts.iter().rposition(|part| part.is_some_and(|part| part.start <= address))?;
    let part = object.parts[index]?;
    let (rules, before) = match part.rules {
        Rules::At(rules) => (rules, 0),
        Rules::OfOriginal => original.map(|entry| (entry.rules, object.original - entry.start))?,
    };
    // SAFETY: rules of the image, or of the copy, which stay as they are. The memory is this
    // part's, and its source and start depend on the epoch alone, which no other layout has.
    unsafe {
        let source = Source::read(rules)?;
        let memory = Room::at(object.headers.add(at + index * room));
        Some(memory.header(&source, part.start - before, object.epoch + 1))
    }
}

#[cfg(test)]
impl FoundObject {
    /// Where the header of unwind rules is.
    pub fn header(&self) -> *mut c_void {
        self.header
    }
}
