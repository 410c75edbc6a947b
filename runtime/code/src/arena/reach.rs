//! Where an arena can lie: within reach of its image's 32-bit fields.

use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::os::{self, Mapping, PAGE_BYTES};

/// Keeps clear of what the loader puts right below an image.
const BELOW_GAP_BYTES: usize = 16 << 20;

/// Left to `brk` above an image at a fixed address, if there is a choice.
const HEAP_GAP_BYTES: usize = 64 << 20;

/// Addresses that an instruction's absolute 32-bit field can name.
const ABSOLUTE_END: usize = 1 << 31;

/// Programs at fixed addresses begin at a few megabytes; nothing is put below this.
const LOWEST_ADDRESS: usize = 1 << 16;

/// Farthest that any byte of the arena may be from any byte of the image.
pub(super) const REACH_BYTES: usize = (1 << 31) - (1 << 20);

/// Distance between the places for an arena that are tried where all better ones are taken: at
/// most, and at least.
const MAX_STEP_BYTES: usize = 16 << 20;
const MIN_STEP_BYTES: usize = 2 << 20;

/// Where the last arena begins. Relaxed: a hint, which only whoever maps the next one reads, under
/// a lock.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// Reserves private writable memory within reach of the image.
pub(super) fn reserve_within_reach(
    image_start: usize,
    image_end: usize,
    bytes: usize,
) -> Option<Mapping> {
    let page = |address: usize| address & !(PAGE_BYTES - 1);
    let below = |gap: usize| image_start.checked_sub(gap + bytes).map(page);
    // Above lies the heap: as far away from it as the fields of an image reach.
    let farthest_end = image_start.saturating_add(REACH_BYTES - PAGE_BYTES);
    let farthest_end =
        if image_end <= ABSOLUTE_END { farthest_end.min(ABSOLUTE_END) } else { farthest_end };
    let lowest_above = os::heap_end().max(image_end).saturating_add(HEAP_GAP_BYTES);
    let above = |less: usize| {
        farthest_end.checked_sub(bytes + less).map(page).filter(|&start| start >= lowest_above)
    };
    let reaches = |start: usize| {
        let low = start.min(image_start);
        let high = (start + bytes).max(image_end);
        start >= LOWEST_ADDRESS && high - low < REACH_BYTES
    };
    let candidates = [
        below(BELOW_GAP_BYTES),
        below(BELOW_GAP_BYTES + (256 << 20)),
        below(BELOW_GAP_BYTES + (512 << 20)),
        above(0),
        above(128 << 20),
        above(256 << 20),
    ];
    // Libraries lie side by side, and so do their arenas.
    let beside = LAST.load(Ordering::Relaxed).checked_sub(bytes + PAGE_BYTES).map(page);
    let step = bytes.clamp(MIN_STEP_BYTES, MAX_STEP_BYTES);
    let farther = (1..REACH_BYTES / step).map(|n| below(BELOW_GAP_BYTES + n * step));
    let all = candidates.into_iter().chain([beside]).chain(farther).flatten();
    let found = all.filter(|&start| reaches(start)).find_map(|start| {
        let flags =
            os::MAP_PRIVATE | os::MAP_ANONYMOUS | os::MAP_FIXED_NOREPLACE | os::MAP_NORESERVE;
        let protection = os::PROT_READ | os::PROT_WRITE;
        // SAFETY: NOREPLACE never touches an existing mapping, and what is new is the owner's.
        // Kernels before 4.17 take the address as a hint, so the result is compared with it.
        let mapping = unsafe {
            let address = os::map(start, bytes, protection, flags, -1, 0).ok()?;
            Mapping::from_raw(address, bytes)
        };
        (mapping.start() as usize == start).then_some(mapping)
    });
    LAST.store(found.as_ref().map_or(0, |found| found.start() as usize), Ordering::Relaxed);
    found
}
