//! Shared libraries built by szc, in a program built by szc: their code moves and their frames get
//! pads like the program's.
//!
//! A library is *attached* before any code of it runs but what the loader itself calls (ifunc
//! resolvers): those that are loaded with the program when the runtime starts, others when the
//! first of them calls [`opened`], which it does before its constructors. It is *detaching*
//! when its destructors have run. Then it may be unloaded, or the program may be ending, in which
//! case threads may still call it: nothing of it changes any more, nobody reads its bytes any more,
//! and its copies stay until it is seen to be gone, when the next library is loaded.

mod attach;
mod budget_share;
mod found;
pub mod record;
mod seeds;
mod wanted;

use crate::os;
pub use crate::state::CHANGES;
use crate::state::{self, CODE};
use crate::{fork, maintenance, unwind};
use szc_abi::library::LibraryImage;
use szc_code::code::Code;
use szc_code::refused::Refused;
use szc_layout::slot::Order;
use szc_sys::once::Once;
pub use wanted::Wanted;

static WANTED: Once<Wanted> = Once::new();

/// What the log tells about libraries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LibraryCounts {
    /// Times that a library was attached. The rest is of those that are not known to be gone.
    pub attached: u64,
    /// Libraries whose code moves.
    pub moving: u64,
    /// Their functions that may move.
    pub movable: u64,
    /// Their functions that stay.
    pub pinned: u64,
    /// Libraries whose frames have pads.
    pub padded: u64,
    /// Why the code of a library is pinned, if it should not be.
    pub refused: Option<&'static str>,
    /// Libraries whose code is pinned, though it should not be.
    pub staying: u64,
    /// Libraries for which there was no slot.
    pub passed_over: u64,
}

/// Attaches what is loaded with the program, on its only thread, and from now on whatever is loaded
/// later. Whether there is anything.
pub fn start(wanted: Wanted) -> bool {
    WANTED.set(wanted);
    attach_all(None)
}

fn attach_all(newcomer: Option<&LibraryImage>) -> bool {
    // Under a filter the kernel might answer what that takes by a signal.
    let may = !state::is_frozen();
    may && WANTED.get().is_some_and(|wanted| with_changes(|| attach::all(wanted, newcomer)))
}

/// A library was loaded, none of whose code has run: attaches it, and those that were loaded with
/// it.
pub fn opened(image: &LibraryImage) {
    unwind::find_unwinder();
    if attach_all(Some(image)) {
        maintenance::wake();
    }
}

/// The destructors of a library have run.
pub fn destroyed(image: &LibraryImage) {
    if WANTED.get().is_none() {
        return;
    }
    with_changes(|| {
        CODE.with(|images| {
            for slot in 0..images.slots() {
                if let Some(library) = images.library_mut(slot)
                    && library.image == *image
                {
                    library.detaching = true;
                }
            }
        });
    });
}

/// Runs `action` while no epoch is being prepared and no other thread attaches anything. Signals
/// are blocked, so that no handler waits for its own thread.
pub fn with_changes<T>(action: impl FnOnce() -> T) -> T {
    let before = os::signal_mask(2, Some(u64::MAX));
    // Its parent may have held the lock when the child was made.
    fork::take_over_unannounced_child();
    let result = CHANGES.with(action);
    if let Ok(before) = before {
        let _ = os::signal_mask(2, Some(before));
    }
    result
}

/// What there is to tell. All signals must be blocked.
pub fn counts() -> LibraryCounts {
    CODE.with(|images| {
        let mut counts = LibraryCounts {
            attached: images.libraries_added(),
            passed_over: attach::passed_over(),
            ..LibraryCounts::default()
        };
        for library in images.libraries().iter().flatten() {
            let by_copies = library.code.as_ref().is_some_and(|code| code.pads().0 > 0);
            counts.padded += u64::from(library.padded || by_copies);
            let moves = |code: &&Code| code.image().order() == Order::Random;
            if let Some(code) = library.code.as_ref().filter(moves) {
                let table = code.image().table();
                counts.moving += 1;
                counts.movable += table.movable_count() as u64;
                counts.pinned += table.pinned_count() as u64;
            }
            counts.refused = library.refused.map(Refused::text).or(counts.refused);
            counts.staying += u64::from(library.refused.is_some());
        }
        counts
    })
}
