//! Adopts libraries, and gives up those that are gone. All under `CHANGES`.

use super::found::{self, Found};
use super::{Library, Wanted, seeds, tables_of};
use crate::arch;
use crate::arch::pads::{pad_state, thread_pointer};
use crate::code::arena::Unavailable;
use crate::code::images::CAPACITY;
use crate::code::{self, Code, Refused, table};
use crate::stack;
use crate::state::CODE;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A library's share of the budget for copies of code: one part in so many.
const BUDGET_SHARE: usize = 8;

/// Adopts all libraries that are loaded and not adopted yet, and gives up what is gone. Whether any is
/// adopted now.
pub fn all(wanted: &Wanted) -> bool {
    let mut seen = [false; CAPACITY];
    found::for_each(&mut |found| {
        if let Some(slot) = adopt(wanted, found) {
            seen[slot] = true;
        }
    });
    let mut any = false;
    for (slot, &seen) in seen.iter().enumerate().take(CODE.with(|images| images.slots())) {
        let closing = CODE.with(|images| images.library_mut(slot).map(|library| library.closing));
        if closing == Some(true) && !seen {
            give_up(slot);
        } else {
            any |= closing.is_some();
        }
    }
    any
}

/// Frees what was kept of a library that is no longer loaded.
#[cold]
#[inline(never)]
fn give_up(slot: usize) {
    let library = CODE.with(|images| images.remove(slot));
    if let Some(code) = library.and_then(|library| library.code) {
        // SAFETY: the library is gone, so no entry of it is there and no thread can be in it or return
        // to it; `CHANGES` is held, so there is no plan.
        unsafe { code.free() };
    }
}

/// The slot of a library, which is adopted if that was not done before.
#[inline(never)]
fn adopt(wanted: &Wanted, found: &Found<'_>) -> Option<usize> {
    match known(found) {
        Some((slot, true)) => return Some(slot),
        // Its addresses have another image now.
        Some((slot, false)) => give_up(slot),
        None => {}
    }
    if CODE.with(|images| images.is_full()) {
        return None;
    }
    let seed = seeds::of_library(wanted.seed, found.file_name());
    let (code, refused) = match wanted.code.then(|| prepare(wanted, found, seed)).flatten() {
        Some(Ok(code)) => (Some(code), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, None),
    };
    let image = code.as_ref().map(|code| *code.image());
    let padded = wanted.stack && give_pads(found, seed);
    stack::expect_frames_of(found.image.functions, found.image.functions_end);
    let library = Library {
        base: found.base,
        image: found.image,
        table_digest: found.table_digest,
        code,
        refused,
        padded,
        seed,
        closing: false,
    };
    let slot = CODE.with(|images| images.add(library))?;
    if let Some(image) = image {
        // SAFETY: nobody runs code of the library before its constructors have.
        if let Err(reason) = unsafe { code::take_over(&image) } {
            refuse(slot, reason);
        }
    }
    Some(slot)
}

/// The slot whose library has the same base, and whether it is the same library.
fn known(found: &Found<'_>) -> Option<(usize, bool)> {
    CODE.with(|images| {
        (0..images.slots()).find_map(|slot| {
            let library = images.library_mut(slot).filter(|library| library.base == found.base)?;
            let alike = library.image == found.image && library.table_digest == found.table_digest;
            let same = match &library.code {
                // SAFETY: an image with the same table is loaded there: its functions are mapped.
                Some(code) => alike && unsafe { code.image().is_redirected() },
                None => {
                    alike && (!library.padded || offset_of_pads(found).load(Ordering::Relaxed) != 0)
                }
            };
            Some((slot, same))
        })
    })
}

/// Draws the first layout of a library; nothing if it has no table.
fn prepare(wanted: &Wanted, found: &Found<'_>, seed: u64) -> Option<Result<Code, Refused>> {
    if found.table_digest == 0 {
        return None;
    }
    if arch::weak_find_fde() != 0 {
        return Some(Err(Refused::OwnUnwinder));
    }
    let table = match table::map_library(found.path, found.table_digest) {
        Ok(table) => table,
        Err(missing) => return Some(Err(Refused::Table(missing))),
    };
    let within = |budget| Code::prepare(found.base, found.path, table, seed, budget, wanted.shape);
    let code = match within(wanted.budget.divided_by(BUDGET_SHARE)) {
        // A large library may have all of the budget rather than nothing.
        Err(Refused::Arena(Unavailable::Budget)) => within(wanted.budget),
        result => result,
    };
    if code.is_err() {
        // SAFETY: nobody has kept it.
        unsafe { table.free() };
    }
    Some(code)
}

/// The library's entries could not be changed.
fn refuse(slot: usize, reason: Refused) {
    let code = CODE.with(|images| {
        let library = images.library_mut(slot)?;
        library.refused = Some(reason);
        images.take_code(slot)
    });
    if let Some(code) = code {
        // SAFETY: no entry leads there, and `CHANGES` is held.
        unsafe { code.free() };
    }
}

/// The library's variable that says where a thread's pad state is.
fn offset_of_pads<'a>(found: &Found<'a>) -> &'a AtomicUsize {
    // SAFETY: `found` made sure that the address lies in the image; the library reads the aligned word.
    unsafe { AtomicUsize::from_ptr(found.image.pad_state_offset as *mut usize) }
}

/// Gives the library's frames pads, if they were compiled for that.
fn give_pads(found: &Found<'_>, seed: u64) -> bool {
    let tables = tables_of(&found.image);
    if tables.is_empty() || found.image.pad_state_offset == 0 {
        return false;
    }
    tables.fill(seed, stack::epoch());
    let distance = (pad_state() as usize).wrapping_sub(thread_pointer());
    offset_of_pads(found).store(distance, Ordering::Relaxed);
    true
}
