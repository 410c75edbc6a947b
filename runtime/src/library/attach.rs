//! Attaches libraries, and detaches those that are gone. All under `CHANGES`.
//!
//! A library can only be attached before its code runs. One for which there is no slot then is
//! *passed over*, for as long as it is loaded: its note is hidden, which goes with it.

use super::budget_share;
use super::found::{self, Found};
use super::record::{Library, tables_of};
use super::seeds;
use super::wanted::Wanted;
use crate::arch;
use crate::arch::pads::{pad_state, thread_pointer};
use crate::images::Images;
use crate::registration;
use crate::stack;
use crate::state::CODE;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use szc_abi::library::LibraryImage;
use szc_code::MAX_IMAGES;
use szc_code::arena::Unavailable;
use szc_code::code::Code;
use szc_code::entry_jumps::take_over;
use szc_code::refused::Refused;
use szc_code::table;
use szc_layout::rng::Seeds;

/// Libraries that were passed over.
static PASSED_OVER: AtomicU64 = AtomicU64::new(0);

/// A library was passed over whose note could not be hidden: so no further one is attached.
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// How many libraries were passed over.
pub fn passed_over() -> u64 {
    PASSED_OVER.load(Ordering::Relaxed)
}

/// Attaches all libraries that are loaded and not attached yet, and detaches what is gone. Whether
/// any is attached now. `newcomer` is one none of whose code has run.
pub fn all(wanted: &Wanted, newcomer: Option<&LibraryImage>) -> bool {
    let mut seen = [false; MAX_IMAGES];
    // First what is gone, so that its slots are free.
    found::for_each(&mut |found| {
        if let Some((slot, true)) = known(found, newcomer) {
            seen[slot] = true;
        }
    });
    for (slot, &seen) in seen.iter().enumerate().take(CODE.with(|images| images.slots())) {
        let detaching =
            CODE.with(|images| images.library_mut(slot).map(|library| library.detaching));
        if detaching == Some(true) && !seen {
            detach(slot);
        }
    }
    let mut any = false;
    found::for_each(&mut |found| any |= attach(wanted, found, newcomer));
    any
}

/// Frees what was kept of a library that is no longer loaded.
#[cold]
#[inline(never)]
fn detach(slot: usize) {
    // SAFETY: the library is gone, so no entry of it is there and no thread can be in it or return
    // to it.
    let library = CODE.with(|images| unsafe { images.remove(slot) });
    if let Some(code) = library.and_then(|library| library.code) {
        registration::end(code);
    }
}

/// Attaches a library if that was not done before. Whether it is attached now.
#[inline(never)]
fn attach(wanted: &Wanted, found: &Found<'_>, newcomer: Option<&LibraryImage>) -> bool {
    match known(found, newcomer) {
        Some((_, true)) => return true,
        // Its addresses have another image now.
        Some((slot, false)) => detach(slot),
        None => {}
    }
    if IS_FULL.load(Ordering::Relaxed) {
        return false;
    }
    if !CODE.with(Images::make_room) {
        PASSED_OVER.fetch_add(1, Ordering::Relaxed);
        if found.hide().is_err() {
            IS_FULL.store(true, Ordering::Relaxed);
        }
        return false;
    }
    let seeds = seeds::of_library(wanted.seeds, found.file_name());
    let (code, refused) = match wanted.code.then(|| prepare(wanted, found, seeds)).flatten() {
        Some(Ok(code)) => (Some(code), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, None),
    };
    let space = code.as_ref().map(|code| code.space().clone());
    let padded = wanted.stack && give_pads(found, seeds.stack);
    stack::expect_frames_of(found.image.functions, found.image.functions_end);
    let library = Library {
        base: found.base,
        image: found.image,
        table_digest: found.table_digest,
        code,
        refused,
        padded,
        seeds,
        detaching: false,
    };
    let Some(slot) = CODE.with(|images| images.add(library)) else { return false };
    if let Some(space) = space {
        // SAFETY: nobody runs code of the library before its constructors have.
        if let Err(reason) = unsafe { take_over(&space.image) } {
            refuse(slot, reason);
        }
    }
    true
}

/// The slot whose library has the same base, and whether it is the same library.
fn known(found: &Found<'_>, newcomer: Option<&LibraryImage>) -> Option<(usize, bool)> {
    CODE.with(|images| {
        (0..images.slots()).find_map(|slot| {
            let library = images.library_mut(slot).filter(|library| library.base == found.base)?;
            let alike = library.image == found.image && library.table_digest == found.table_digest;
            let same = match &library.code {
                // SAFETY: an image with the same table is loaded there: its functions are mapped.
                Some(code) => alike && unsafe { code.image().is_redirected() },
                // Of one that was closed and loaded again nothing may have changed.
                None => {
                    let is_new = library.detaching && newcomer == Some(&library.image);
                    let has_pads = || offset_of_pads(found).load(Ordering::Relaxed) != 0;
                    alike && !is_new && (!library.padded || has_pads())
                }
            };
            Some((slot, same))
        })
    })
}

/// Draws the first layout of a library; nothing if it has no table.
fn prepare(wanted: &Wanted, found: &Found<'_>, seeds: Seeds) -> Option<Result<Code, Refused>> {
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
    let (budget, taken) = (wanted.budget, CODE.with(|images| images.library_bytes()));
    let mut was_refused = false;
    let budget = |refused: Option<Unavailable>| {
        let granted = match refused {
            None => Some(budget_share::share(budget, taken)),
            Some(_) if was_refused => None,
            // A large library may have all of the budget rather than nothing.
            Some(Unavailable::Budget) => Some(budget_share::all(budget)),
            // Where little is free there may be room for few layouts.
            Some(Unavailable::Addresses) => Some(budget_share::least(budget)),
            Some(_) => None,
        };
        was_refused = refused.is_some();
        granted
    };
    let image = (found.base, found.path);
    // SAFETY: the table is that of the library, whose code has not run.
    Some(unsafe { registration::begin(image, table, seeds, wanted.shape, budget) })
}

/// The library's entries could not be changed.
fn refuse(slot: usize, reason: Refused) {
    let code = CODE.with(|images| {
        let library = images.library_mut(slot)?;
        library.refused = Some(reason);
        // SAFETY: no entry leads there.
        unsafe { images.take_code(slot) }
    });
    if let Some(code) = code {
        registration::end(code);
    }
}

/// The library's variable that says where a thread's pad state is.
fn offset_of_pads<'a>(found: &Found<'a>) -> &'a AtomicUsize {
    // SAFETY: `found` made sure that the address lies in the image; the library reads the aligned
    // word.
    unsafe { AtomicUsize::from_ptr(found.image.pad_state_offset as *mut usize) }
}

/// Gives the library's frames pads, if they were compiled for that.
fn give_pads(found: &Found<'_>, seed: u64) -> bool {
    // SAFETY: the library was found a moment ago; whoever loads it waits for this.
    let tables = unsafe { tables_of(&found.image) };
    if tables.is_empty() || found.image.pad_state_offset == 0 {
        return false;
    }
    tables.fill(seed, stack::epoch());
    let distance = (pad_state() as usize).wrapping_sub(thread_pointer());
    offset_of_pads(found).store(distance, Ordering::Relaxed);
    true
}
