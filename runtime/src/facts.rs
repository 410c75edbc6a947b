//! What does not change while the program runs, and whether this process has a log to write.
#![forbid(unsafe_code)]

use crate::path::Path;
use crate::settings::Clock;
use core::sync::atomic::{AtomicU32, Ordering};
use szc_sys::once::Once;
use szc_sys::os;

/// What does not change while the program runs.
pub struct Facts {
    /// `SZC_LOG`, absolute.
    pub log: Option<Path>,
    /// `SZC_MAP`, absolute.
    pub map: Option<Path>,
    /// `SZC_PATHS`, absolute.
    pub paths: Option<Path>,
    /// Seed of all layouts.
    pub seed: u64,
    /// Time between epochs; 0 if there is one only.
    pub interval_ms: u32,
    /// What it is counted in.
    pub clock: Clock,
    /// Code is randomized.
    pub code: bool,
    /// Code of libraries is randomized, if there are any.
    pub libraries_move: bool,
    /// Why it is not, if it should be.
    pub refused: Option<&'static str>,
    /// The stack is randomized.
    pub stack: bool,
    /// The heap is randomized.
    pub heap: bool,
    /// Why the heap is not, if it should be.
    pub heap_refused: Option<&'static str>,
    /// Functions that may move.
    pub movable: u32,
    /// Functions that stay.
    pub pinned: u32,
}

/// The facts, set at start.
pub static FACTS: Once<Facts> = Once::new();

/// Process whose log is still to be written; 0 when there is none. A child that shares memory with
/// its parent (vfork) has another number and writes nothing.
static UNWRITTEN: AtomicU32 = AtomicU32::new(0);

/// Makes this process write a log when it ends: the program at start, and each forked child.
pub fn expect_log() {
    let writes =
        |facts: &Facts| facts.log.is_some() || facts.map.is_some() || facts.paths.is_some();
    if FACTS.get().is_some_and(writes) {
        UNWRITTEN.store(os::process_id(), Ordering::Relaxed);
    }
}

/// Whether this process will write a log when it ends.
pub fn expects_log() -> bool {
    UNWRITTEN.load(Ordering::Relaxed) == os::process_id()
}

/// The number of this process, if its log is still to be written: by the caller, and nobody else.
pub fn take_log() -> Option<u32> {
    // Otherwise not even the process's number is asked for: a system call filter may kill for it.
    (UNWRITTEN.load(Ordering::Relaxed) != 0).then_some(())?;
    let process = os::process_id();
    UNWRITTEN
        .compare_exchange(process, 0, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok()
        .then_some(process)
}
