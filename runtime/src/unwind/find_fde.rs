//! Exceptions through moved frames: the FDE for an address in a copy is that of the original
//! address, which begins to hold at the copy.
//!
//! Everything in an FDE (frame rules, call sites, landing pads) is relative to the function's
//! start, which the unwinder takes from `bases`. So the original's FDE serves unchanged; but a copy
//! whose frame has another size brings an FDE of its own (`szc_layout::slot`).

use super::answer::{Fde, answer};
use super::find_object;
use super::injected;
use super::names::file_name;
use super::of_unwinder::OfUnwinder;
use crate::pc_map::PC_MAP;
use core::ffi::{CStr, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use szc_abi::unwind::INITIAL_LOCATION_AT;
use szc_code::refused::Refused;
use szc_sys::arch;
use szc_sys::next::{self, Function};

/// `struct dwarf_eh_bases` of libgcc's `unwind-dw2-fde.h`.
#[repr(C)]
pub struct Bases {
    text: *mut c_void,
    data: *mut c_void,
    function: *mut c_void,
}

type FindFde = unsafe extern "C" fn(*mut c_void, *mut Bases) -> *const c_void;

/// How the file's name of the unwinder begins that asks for FDEs. LLVM's `libunwind.so.1` in its
/// place asks for objects; others for nothing.
const SHARED_UNWINDER: &[u8] = b"libgcc_s.so";

/// What the unwinder asks.
const NAME: &CStr = c"_Unwind_Find_FDE";

/// `_Unwind_Find_FDE`, which also finds copies.
///
/// # Safety
/// As the function it stands in for: called by the unwinder with a valid `bases`.
pub unsafe fn find_fde(pc: *mut c_void, bases: *mut Bases) -> *const c_void {
    // Another walk than the one that is translated, maybe at the same place of the stack: one in a
    // callback, or one after a callback that was left by a jump.
    arch::set_shown_context(0);
    let Some(find) = real() else { return core::ptr::null() };
    let Some(answer) = answer(pc as usize) else {
        // SAFETY: the caller's arguments, passed on.
        return unsafe { find_original(find, pc, bases) };
    };
    let original = answer.located.translate(pc as usize);
    // SAFETY: an FDE of an image that is loaded, as a copy of its code runs.
    let cached = answer.located.cached_fde.map(|fde| (fde, unsafe { range_of(fde) }));
    // SAFETY: the original address is one of an image that is loaded; `bases` is the caller's.
    let (fde, bases) = unsafe {
        let fde = match cached {
            Some((fde, range)) if range.contains(&original) => {
                let function = range.start as *mut c_void;
                let nothing = core::ptr::null_mut();
                bases.write(Bases { text: nothing, data: nothing, function });
                fde as *const c_void
            }
            _ => {
                let fde = find(original as *mut c_void, bases);
                if fde.is_null() {
                    return fde;
                }
                remember(fde as usize, original, pc, &*bases);
                fde
            }
        };
        (fde, &mut *bases)
    };
    // The original's function becomes the copy's.
    let inside = original - bases.function as usize;
    bases.function = (pc as usize - inside) as *mut c_void;
    match answer.fde {
        Fde::Copied(own) => own as *const c_void,
        // In front of its body a copy is as its original at the address that stands for it.
        Fde::Original | Fde::Front(_) => fde,
    }
}

/// The unwinder's own search, for an address that is in no copy.
///
/// # Safety
/// As [`find_fde`].
unsafe fn find_original(find: FindFde, pc: *mut c_void, bases: *mut Bases) -> *const c_void {
    let Some(entry) = injected::entry(pc as usize) else {
        // SAFETY: the caller's promise.
        return unsafe { find(pc, bases) };
    };
    // SAFETY: the caller's promise; the entry is an address of the same image.
    unsafe {
        let fde = find(entry as *mut c_void, bases);
        if !fde.is_null() {
            // All of the computation is as the entry.
            let inside = entry - (*bases).function as usize;
            (*bases).function = (pc as usize - inside) as *mut c_void;
        }
        fde
    }
}

/// Remembers an FDE that was found for the original of an address in a copy, if it says itself all
/// that the unwinder is given it.
///
/// # Safety
/// There must be one at the address.
unsafe fn remember(fde: usize, original: usize, pc: *mut c_void, bases: &Bases) {
    // SAFETY: the caller's promise.
    let range = unsafe { range_of(fde) };
    let says_all = range.start == bases.function as usize && range.contains(&original);
    if says_all && bases.text.is_null() && bases.data.is_null() {
        PC_MAP.remember(pc as usize, fde);
    }
}

/// The addresses that an FDE holds for, if it says so as linkers write it: a distance, and bytes,
/// in 4 bytes each. None for others; of a distance in 8 bytes (the large code model) that is
/// negative, the second half would be 4 GiB.
///
/// # Safety
/// There must be an FDE at the address.
unsafe fn range_of(fde: usize) -> Range<usize> {
    let field = fde + INITIAL_LOCATION_AT;
    // SAFETY: the caller's promise; FDEs of any form have 16 bytes or more.
    let [start, bytes] = unsafe { (field as *const [i32; 2]).read_unaligned() };
    let start = field.wrapping_add_signed(start as isize);
    start..start.wrapping_add(bytes.max(0).cast_unsigned() as usize)
}

/// Whether an unwinder was loaded with the program: to look for one that was not takes longer than
/// all else.
static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// Whether an unwinder was loaded with the program, as [`obstacle`] has found.
pub fn is_loaded() -> bool {
    IS_LOADED.load(Ordering::Relaxed)
}

/// Finds the unwinder's own search. Whether there is an unwinder.
pub(super) fn find() -> bool {
    real().is_some()
}

/// What nongnu.org's libunwind walks by, as a program's own and as one for any process, under the
/// names that it gives `unw_step`.
const STEPS: [&CStr; 2] = [c"_ULx86_64_step", c"_Ux86_64_step"];

/// Whether the program has nongnu.org's libunwind, in itself or in a library: it finds no copies,
/// and keeps what it has found for an address. Mostly it is an unwinder beside another, which leads
/// exceptions.
fn has_other_walks() -> bool {
    arch::weak_steps() || STEPS.into_iter().any(|name| next::symbol_of_any(name) != 0)
}

/// Why exceptions or walks would not pass copies, if so. `own` is the address of the function that
/// stands in for the unwinder's search.
pub fn obstacle(own: usize) -> Option<Refused> {
    if has_other_walks() {
        return Some(Refused::OtherUnwinder);
    }
    if arch::weak_find_fde() != 0 {
        // Linked statically, and so the only one.
        return None;
    }
    if next::is_hidden(NAME, own) {
        return Some(Refused::HiddenSearch);
    }
    let raise = next::symbol_of_any(c"_Unwind_RaiseException");
    IS_LOADED.store(raise != 0, Ordering::Relaxed);
    let asks = raise == 0 || file_name(raise).is_none_or(|name| name.starts_with(SHARED_UNWINDER));
    (!asks && !find_object::serves_llvm()).then_some(Refused::OtherUnwinder)
}

// SAFETY: it has that type.
static SHARED: OfUnwinder<FindFde> = unsafe { OfUnwinder::new(NAME) };

/// The unwinder's own search: statically linked, or the next one in the order of loading.
fn real() -> Option<FindFde> {
    let linked = arch::weak_find_fde();
    // SAFETY: the symbol of that name has this type.
    if linked != 0 { Some(unsafe { FindFde::at(linked) }) } else { SHARED.get() }
}
