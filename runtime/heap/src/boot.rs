//! Memory before the runtime has started: the dynamic loader and a static program's C library
//! allocate a little before the first line of the program runs.
//!
//! Blocks of this arena stay valid for ever; to free one does nothing.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the arena. A static program of glibc 2.36 uses less than a hundred.
const ARENA_BYTES: usize = 32 << 10;
/// Bytes in front of a block that hold its size.
const HEADER_BYTES: usize = 16;

#[repr(C, align(64))]
struct Arena(UnsafeCell<[u8; ARENA_BYTES]>);

// SAFETY: parts of the arena are given out once each, by an atomic addition.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(UnsafeCell::new([0; ARENA_BYTES]));
/// Bytes given out.
static USED: AtomicUsize = AtomicUsize::new(0);

/// A zeroed block, aligned to `alignment` (a power of two), or nothing if the arena is too small.
pub fn allocate(bytes: usize, alignment: usize) -> Option<*mut u8> {
    let room = bytes.checked_add(alignment.max(HEADER_BYTES))?.checked_add(HEADER_BYTES)?;
    let room = room.checked_next_multiple_of(HEADER_BYTES)?;
    // Relaxed: only the number is shared, each caller has its own part.
    let from = USED
        .try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(room).filter(|&end| end <= ARENA_BYTES)
        })
        .ok()?;
    let start = ARENA.0.get().cast::<u8>();
    // SAFETY: the part lies in the arena and is nobody else's; the size lies in front of the block.
    unsafe {
        let first = start.add(from + HEADER_BYTES);
        let block = first.add(first.align_offset(alignment.max(HEADER_BYTES)));
        block.sub(HEADER_BYTES).cast::<usize>().write(bytes);
        Some(block)
    }
}

/// Whether a pointer lies in the arena.
pub fn contains(pointer: *mut u8) -> bool {
    let start = ARENA.0.get().addr();
    (start..start + ARENA_BYTES).contains(&pointer.addr())
}

/// Bytes that were asked for.
///
/// # Safety
/// The block must be one of the arena.
pub unsafe fn bytes(block: *mut u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { block.sub(HEADER_BYTES).cast::<usize>().read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_zeroed_apart_and_know_their_size() {
        let blocks: Vec<_> = [(1, 16), (100, 64), (0, 1), (33, 4096)]
            .into_iter()
            .map(|(bytes, alignment)| (allocate(bytes, alignment).unwrap(), bytes, alignment))
            .collect();
        for &(block, bytes, alignment) in &blocks {
            assert_eq!(block.addr() % alignment, 0);
            assert!(contains(block));
            // SAFETY: a block of the arena.
            unsafe {
                assert_eq!(super::bytes(block), bytes);
                for index in 0..bytes {
                    assert_eq!(block.add(index).replace(1), 0);
                }
            }
        }
        assert!(allocate(ARENA_BYTES, 16).is_none() && allocate(usize::MAX, 16).is_none());
    }
}
