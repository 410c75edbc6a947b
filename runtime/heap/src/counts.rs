//! What the log says about the heap: of this process, without what it has from its parent.

use super::config::{Config, HeapBase};
use super::draws::{UNITS, bytes_of};
use super::memory;
use super::sites;
use super::thread::heaps::HEAPS;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the log says about the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapCounts {
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks given back.
    pub frees: u64,
    /// Size classes in use.
    pub classes: u64,
    /// Blocks that were mapped on their own.
    pub large: u64,
    /// Most bytes that the heap held from the kernel at any time.
    pub peak_bytes: u64,
    /// The allocator under the shuffle layer.
    pub base: HeapBase,
    /// Blocks that wait in each shuffle array.
    pub shuffle: u32,
}

/// Blocks of sizes that have a draw in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The least size.
    pub least: usize,
    /// The greatest; those that are mapped on their own may have any.
    pub most: Option<usize>,
    /// Their draw.
    pub draw: u32,
    /// Of how many.
    pub draws: u32,
    /// Blocks handed out.
    pub allocations: u64,
}

/// Code that asked for blocks of sizes that have a draw in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Where it goes on.
    pub return_address: usize,
    /// The least size.
    pub least: usize,
    /// How often.
    pub count: u64,
}

/// Looks at all code that asked for blocks, as far as it was counted.
pub fn each_asked(mut look: impl FnMut(Asked)) {
    sites::each(|return_address, unit, count| {
        look(Asked { return_address, least: bytes_of(unit).0, count });
    });
}

/// Looks at all sizes of which there were blocks, if they have draws of their own.
pub fn each_drawn(config: Config, mut look: impl FnMut(Drawn)) {
    let Some(draws) = config.draws else { return };
    for unit in 0..UNITS {
        let allocations = HEAPS.allocations_of(unit);
        if allocations > 0 {
            let (least, most) = bytes_of(unit);
            let draw = draws.of(config.seed, unit);
            look(Drawn { least, most, draw, draws: draws.count, allocations });
        }
    }
}

/// Counts that a forked child has from its parent, and does not report as its own.
struct Inherited {
    allocations: AtomicU64,
    frees: AtomicU64,
    large: AtomicU64,
}

static INHERITED: Inherited = Inherited {
    allocations: AtomicU64::new(0),
    frees: AtomicU64::new(0),
    large: AtomicU64::new(0),
};

/// The counts up to now.
pub fn of(config: Config) -> HeapCounts {
    let sums = HEAPS.sums();
    let before = |count: &AtomicU64| count.load(Ordering::Relaxed);
    HeapCounts {
        allocations: sums.allocations.saturating_sub(before(&INHERITED.allocations)),
        frees: sums.frees.saturating_sub(before(&INHERITED.frees)),
        classes: sums.classes,
        large: sums.large.saturating_sub(before(&INHERITED.large)),
        peak_bytes: memory::peak_bytes() as u64,
        base: config.base,
        shuffle: config.max_entries,
    }
}

/// Somebody will ask for counts.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Somebody will ask for counts, in this process or in one that it makes.
pub fn want() {
    WANTED.store(true, Ordering::Relaxed);
}

/// Begins anew, in a forked child.
pub fn begin_anew() {
    if !WANTED.load(Ordering::Relaxed) {
        return;
    }
    let sums = HEAPS.sums();
    INHERITED.allocations.store(sums.allocations, Ordering::Relaxed);
    INHERITED.frees.store(sums.frees, Ordering::Relaxed);
    INHERITED.large.store(sums.large, Ordering::Relaxed);
    memory::begin_new_peak();
}
