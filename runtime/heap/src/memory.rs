//! Memory from the kernel, and how much of it the heap holds.

use super::chunk::CHUNK_BYTES;
use super::map;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::os;

/// Bytes that the heap holds now, and the most it ever held. Counters only: no order needed.
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Chunks mapped up to now. A counter only.
static CHUNKS: AtomicUsize = AtomicUsize::new(0);

/// Chunks that any thread mapped up to now.
pub fn chunks_mapped() -> usize {
    CHUNKS.load(Ordering::Relaxed)
}

/// Counts bytes that came from the kernel.
pub fn count_mapped(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
}

/// Counts bytes that went back.
pub fn count_unmapped(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

/// The most bytes that the heap held at any time.
pub fn peak_bytes() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Forgets what was held before now.
pub fn begin_new_peak() {
    PEAK.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Zeroed memory for the heap's own tables.
pub fn map_table(bytes: usize) -> Option<*mut u8> {
    os::map_anonymous(bytes).ok()
}

/// A zeroed chunk, aligned to its size, entered in the map.
pub fn map_chunk() -> Option<*mut u8> {
    let chunk = map_aligned()?;
    if !map::set_chunk(chunk as usize, true) {
        // SAFETY: nobody has seen it yet.
        unsafe { os::unmap(chunk, CHUNK_BYTES) };
        return None;
    }
    // Slabs lie at random places of a chunk: huge pages would make each of them take two megabytes.
    os::advise_small_pages(chunk, CHUNK_BYTES);
    count_mapped(CHUNK_BYTES);
    CHUNKS.fetch_add(1, Ordering::Relaxed);
    Some(chunk)
}

fn map_aligned() -> Option<*mut u8> {
    let first = os::map_accounted(CHUNK_BYTES).ok()?;
    if (first as usize).is_multiple_of(CHUNK_BYTES) {
        // The kernel puts mappings next to each other, so this is the usual case after the first.
        return Some(first);
    }
    // SAFETY: mapped a moment ago.
    unsafe { os::unmap(first, CHUNK_BYTES) };
    let whole = 2 * CHUNK_BYTES - os::PAGE_BYTES;
    let start = os::map_accounted(whole).ok()?;
    let before = (start as usize).next_multiple_of(CHUNK_BYTES) - start as usize;
    let behind = whole - before - CHUNK_BYTES;
    // SAFETY: both parts lie in the mapping of a moment ago, outside the chunk.
    unsafe {
        let chunk = start.add(before);
        if before > 0 {
            os::unmap(start, before);
        }
        if behind > 0 {
            os::unmap(chunk.add(CHUNK_BYTES), behind);
        }
        Some(chunk)
    }
}

/// Gives a chunk back.
///
/// # Safety
/// No block of it may be in use or wait anywhere, and no thread may touch it any more.
pub unsafe fn unmap_chunk(chunk: *mut u8) {
    map::set_chunk(chunk as usize, false);
    // SAFETY: the caller's promise.
    unsafe { os::unmap(chunk, CHUNK_BYTES) };
    count_unmapped(CHUNK_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_aligned_zeroed_and_known() {
        let chunks: Vec<_> = (0..5).map(|_| map_chunk().unwrap()).collect();
        for &chunk in &chunks {
            assert_eq!(chunk as usize % CHUNK_BYTES, 0);
            assert!(map::is_chunk(chunk as usize + CHUNK_BYTES - 1));
            // SAFETY: a chunk is readable to its end.
            assert_eq!(unsafe { chunk.add(CHUNK_BYTES - 1).read() }, 0);
        }
    }
}
