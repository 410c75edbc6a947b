//! `_dl_find_object` of glibc (2.35): how the unwinder of gcc 12 and later finds the FDE of an
//! address. One that is linked statically into a library asks nothing else, so copies are answered
//! for here, too.
//!
//! A copy belongs to no image. The answer is one made for the part of a function that the address
//! lies in: a header whose table leads to the FDE that holds there. libgcc's unwinder believes that
//! table about where a function starts (`find_fde_tail` in its `unwind-dw2-fde-dip.c`), and keeps
//! nothing from one frame to the next. LLVM's believes the FDE: where it unwinds, each part of a
//! function gets an FDE of its own when it is first asked for (`fde.rs`).
//!
//! Sources: glibc manual, "Dynamic Linker Introspection"; `<dlfcn.h>`.

use super::answer::{Answer, Fde, MAX_PARTS, answer};
use super::fde::{Memory, Source};
use super::header::{self, Entry, HEADER_BYTES};

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use szc_abi::Table;
use szc_code::refused::Refused;
use szc_code::side_memory::SideMemory;
use szc_layout::arch::fde;
use szc_sys::arch;
use szc_sys::next::{self, DL_FIND_OBJECT as NEXT, Function};

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

/// Whether somebody has asked.
static WAS_ASKED: AtomicBool = AtomicBool::new(false);

/// Whether somebody unwinds who believes FDEs alone.
static RELOCATED: AtomicBool = AtomicBool::new(false);

/// Whether LLVM's unwinder is the one that everybody uses, and asks here. (It did not always.) From
/// then on FDEs are relocated for it.
pub fn serves_llvm() -> bool {
    type Find = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
    let find = next::symbol_of_any(c"_Unwind_FindEnclosingFunction");
    if next::symbol_of_any(c"__unw_add_dynamic_fde") == 0 || find == 0 {
        return false;
    }
    WAS_ASKED.store(false, Ordering::Relaxed);
    // SAFETY: the symbol of that name has this type; any address may be asked about.
    unsafe { Find::at(find)(serves_llvm as *mut c_void) };
    let asks = WAS_ASKED.load(Ordering::Relaxed);
    RELOCATED.store(asks, Ordering::Relaxed);
    asks
}

/// Memory for what the unwinder is given of the functions of the image at `base`.
///
/// # Errors
/// FDEs in a form that cannot be relocated, where they have to be, or not enough memory.
pub fn side_memory(base: usize, table: &Table<'_>) -> Result<SideMemory, Refused> {
    let count = table.movable_count();
    if !RELOCATED.load(Ordering::Relaxed) {
        return Ok(SideMemory::Alike { count, bytes: MAX_PARTS * HEADER_BYTES });
    }
    SideMemory::of_each(count, |index| {
        let function = table.movable(index)?;
        let bytes = part_bytes(base + function.start as usize, function.fde_bytes as usize);
        Some(MAX_PARTS * bytes?)
    })
}

/// Bytes that any part needs of a function whose original is at an address, for a header and an FDE
/// of at most so many bytes; nothing if its FDE has no form that can be relocated.
fn part_bytes(original: usize, fde_bytes: usize) -> Option<usize> {
    // SAFETY: patterns of FDEs, of which these are the longest.
    let pattern =
        unsafe { Source::read(fde::PATTERNS.as_ptr() as usize + fde::undo_trampoline_at(0)) }?;
    let pattern = pattern.memory_bytes(0);
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
    // SAFETY: the header leads to an FDE.
    let source = unsafe { Source::read(entry.fde) }?;
    Some(source.memory_bytes(fde_bytes).max(pattern))
}

/// _dl_find_object(3), which also finds copies.
///
/// # Safety
/// As libc's: `found` can be written to.
pub unsafe fn find_object(address: *mut c_void, found: *mut FoundObject) -> c_int {
    // As in the unwinder's own search: another walk than the one that is translated.
    arch::set_shown_context(0);
    if !WAS_ASKED.load(Ordering::Relaxed) {
        WAS_ASKED.store(true, Ordering::Relaxed);
    }
    let Some(next) = NEXT.get() else { return NOT_FOUND };
    let answer = answer(address as usize);
    let original = answer.as_ref().map_or(address as usize, |answer| answer.located.entry());
    // SAFETY: the caller's promise.
    let result = unsafe { next(original as *mut c_void, found.cast()) };
    let Some(answer) = answer.filter(|_| result == 0) else { return result };
    // SAFETY: libc has filled it in; the caller's promise.
    let found = unsafe { &mut *found };
    // SAFETY: it is libc's answer still.
    let of_original = unsafe { found.entry(original) };
    let Some(header) = header_of(&answer, of_original) else { return NOT_FOUND };
    found.header = header.cast_mut().cast();
    found.start = answer.range.start as *mut c_void;
    found.end = answer.range.end as *mut c_void;
    result
}

/// A header that leads to the FDE of an answer, in the side memory of its part. Nothing if it has
/// none.
fn header_of(answer: &Answer<'_>, of_original: Option<Entry>) -> Option<*const u8> {
    let layout = answer.located.layout;
    let entry = match answer.fde {
        Fde::Copied(fde) | Fde::Front(fde) => Entry { start: answer.range.start, fde },
        // One that begins in front of the function's entry is that of several functions.
        Fde::Original => {
            let Entry { start, fde } = of_original?;
            Entry { start: answer.range.start - (answer.located.entry() - start), fde }
        }
    };
    let own = layout.image.side_memory().of(answer.located.function);
    let bytes = own.len() / MAX_PARTS;
    let at = own.start + answer.part * bytes;
    let memory = layout.arena.side_memory(layout.drawn.place()).wrapping_add(at);
    if !RELOCATED.load(Ordering::Relaxed) {
        // SAFETY: the memory is that of this part in this layout alone, and what is written depends
        // on nothing else.
        unsafe { header::write(memory.cast(), entry) };
        return Some(memory);
    }
    // SAFETY: an FDE of the image, or of the copy, which stays as it is. The memory is this part's,
    // and its source and start depend on the epoch alone, which no other layout has.
    unsafe {
        let source = Source::read(entry.fde)?;
        Some(Memory::at(memory).header(&source, entry.start, layout.drawn.epoch() + 1))
    }
}

#[cfg(test)]
impl FoundObject {
    /// Where the header of unwind tables is.
    pub fn header(&self) -> *mut c_void {
        self.header
    }
}
