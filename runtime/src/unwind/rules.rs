//! Exceptions through moved frames: unwind information for an address in a copy is that of the
//! original address, told to start at the copy.
//!
//! Everything in an FDE (frame rules, call sites, landing pads) is relative to the function's
//! start, which the unwinder takes from `bases`. So the original FDE serves unchanged; but a copy
//! whose frame has another size brings an FDE of its own (`code/slot.rs`).

use super::names::file_name;
use super::objects;
use super::{OfUnwinder, START_AT};
use crate::arch;
use crate::code::Refused;
use crate::code::origin::Origin;
use crate::next;
use crate::state::LOCATORS;
use core::ffi::{CStr, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// `struct dwarf_eh_bases` of libgcc's `unwind-dw2-fde.h`.
#[repr(C)]
pub struct Bases {
    text: *mut c_void,
    data: *mut c_void,
    function: *mut c_void,
}

type FindFde = unsafe extern "C" fn(*mut c_void, *mut Bases) -> *const c_void;

/// How the file's name of the unwinder begins that asks for rules. LLVM's `libunwind.so.1` in its
/// place asks for objects; others for nothing.
const SHARED_UNWINDER: &[u8] = b"libgcc_s.so";

/// What the unwinder asks.
const NAME: &CStr = c"_Unwind_Find_FDE";

/// Stands in for `_Unwind_Find_FDE`.
///
/// # Safety
/// As the function it stands in for: called by the unwinder with a valid `bases`.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_find_fde(pc: *mut c_void, bases: *mut Bases) -> *const c_void {
    // Another walk than the one that is shown, maybe at the same place of the stack: one in a
    // callback, or one after a callback that was left by a jump.
    arch::set_shown_context(0);
    let Some(find) = real() else { return core::ptr::null() };
    let Some(origin) = LOCATORS.origin(pc as usize) else {
        // SAFETY: the caller's arguments, passed on.
        return unsafe { find(pc, bases) };
    };
    // SAFETY: rules of an image that is loaded, as a copy of its code runs.
    let before = origin.rules_before.map(|rules| (rules, unsafe { range_of(rules) }));
    // SAFETY: the original address is one of an image that is loaded; `bases` is the caller's.
    unsafe {
        match before {
            Some((rules, range)) if range.contains(&origin.original) => {
                let function = range.start as *mut c_void;
                let nothing = core::ptr::null_mut();
                bases.write(Bases { text: nothing, data: nothing, function });
                answer(rules as *const c_void, &origin, pc, bases)
            }
            _ => {
                let fde = find(origin.original as *mut c_void, bases);
                if fde.is_null() {
                    return fde;
                }
                remember(fde as usize, &origin, pc, &*bases);
                answer(fde, &origin, pc, bases)
            }
        }
    }
}

/// Rules for an address in a copy, by those of its original, which `bases` are of; these become the
/// copy's.
///
/// # Safety
/// `bases` must be valid.
unsafe fn answer(
    fde: *const c_void,
    origin: &Origin,
    pc: *mut c_void,
    bases: *mut Bases,
) -> *const c_void {
    // SAFETY: the caller's promise.
    let function = unsafe { &mut (*bases).function };
    let inside = origin.original - *function as usize;
    *function = (pc as usize - inside) as *mut c_void;
    origin.rules.map_or(fde, |rules| rules as *const c_void)
}

/// Remembers rules that were found for the original of an address in a copy, if they themselves say
/// all that the unwinder is told of them.
///
/// # Safety
/// There must be rules at the address.
unsafe fn remember(rules: usize, origin: &Origin, pc: *mut c_void, bases: &Bases) {
    // SAFETY: the caller's promise.
    let range = unsafe { range_of(rules) };
    let says_all = range.start == bases.function as usize && range.contains(&origin.original);
    if says_all && bases.text.is_null() && bases.data.is_null() {
        LOCATORS.remember(pc as usize, rules);
    }
}

/// The addresses that rules hold for, if they tell them as linkers write them: a distance, and
/// bytes, in 4 bytes each. None for others; of a distance in 8 bytes (the large code model) that is
/// negative, the second half would be 4 GiB.
///
/// # Safety
/// There must be rules at the address.
unsafe fn range_of(rules: usize) -> Range<usize> {
    let field = rules + START_AT;
    // SAFETY: the caller's promise; rules of any form have 16 bytes or more.
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

/// Why exceptions or walks would not pass copies, if so.
pub fn obstacle() -> Option<Refused> {
    if has_other_walks() {
        return Some(Refused::OtherUnwinder);
    }
    if arch::weak_find_fde() != 0 {
        // Linked statically, and so the only one.
        return None;
    }
    let own = szc_rt_find_fde as *const () as usize;
    if next::is_hidden(NAME, own) {
        return Some(Refused::HiddenSearch);
    }
    let raise = next::symbol_of_any(c"_Unwind_RaiseException");
    IS_LOADED.store(raise != 0, Ordering::Relaxed);
    let asks = raise == 0 || file_name(raise).is_none_or(|name| name.starts_with(SHARED_UNWINDER));
    (!asks && !objects::serves_llvm()).then_some(Refused::OtherUnwinder)
}

static SHARED: OfUnwinder = OfUnwinder::new(NAME);

/// The unwinder's own search: statically linked, or the next one in the order of loading.
fn real() -> Option<FindFde> {
    let linked = arch::weak_find_fde();
    let address = if linked != 0 { linked } else { SHARED.get()? };
    // SAFETY: the symbol of that name has this type.
    Some(unsafe { core::mem::transmute::<usize, FindFde>(address) })
}
