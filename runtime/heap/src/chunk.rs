//! A chunk: one megabyte of blocks, with the state of each block beside it.
//!
//! The state lies outside of the blocks: one byte for every grain of 32 bytes, which is not 0 where
//! a block begins that the program holds. It is what tells a pointer that malloc returned from one
//! that it did not, and a first free from a second. It also holds the block's class, so that `free`
//! needs one look. A byte, not a bit: two threads may change the states of neighbours at the same
//! time, each by a plain store.

use super::size_class::{CLASSES, GRAIN_BYTES};
use core::sync::atomic::{AtomicU8, Ordering};

/// Binary logarithm of a chunk's size. A megabyte, so that a seed determines all index bits of
/// addresses (6 to 17).
pub const CHUNK_SHIFT: u32 = 20;
/// Size and alignment of a chunk.
pub const CHUNK_BYTES: usize = 1 << CHUNK_SHIFT;

/// The states of all grains of a chunk. Every chunk begins with them.
#[repr(C)]
pub struct States([AtomicU8; CHUNK_BYTES / GRAIN_BYTES]);

/// Bytes of the states.
pub const STATES_BYTES: usize = size_of::<States>();

/// No block that the program holds begins here.
pub const STATE_NONE: u8 = 0;
/// A block begins here that the program holds by a pointer behind its beginning (see
/// [`STATE_ALIGNED`]).
pub const STATE_HOLDER: u8 = 0x7f;
const _: () = assert!(state_of(CLASSES - 1) < STATE_HOLDER);
/// Added to the state where the program's pointer is not the block's beginning: it asked for an
/// alignment.
pub const STATE_ALIGNED: u8 = 0x80;

/// The program held a block by this pointer behind its beginning, and freed it. Means nothing once
/// the block was handed out again; it only chooses the words of a message.
pub const STATE_ALIGNED_FREED: u8 = 0xff;

/// The state of a block of this class.
#[inline]
pub const fn state_of(class: usize) -> u8 {
    class as u8 + 1
}

/// First byte of the chunk that contains an address.
#[inline]
pub fn chunk_of(block: *mut u8) -> *mut u8 {
    block.map_addr(|address| address & !(CHUNK_BYTES - 1))
}

/// The state of the grain that contains an address.
///
/// # Safety
/// The address must lie in a chunk.
#[inline]
pub unsafe fn state(block: *mut u8) -> &'static AtomicU8 {
    let grain = (block.addr() & (CHUNK_BYTES - 1)) / GRAIN_BYTES;
    // SAFETY: the caller's promise; a chunk begins with its states.
    unsafe { &*chunk_of(block).add(grain).cast::<AtomicU8>() }
}

/// Marks a block as held by the program.
///
/// # Safety
/// The block must be one of a chunk, and nobody else's.
#[inline]
pub unsafe fn hold(block: *mut u8, class: usize) {
    // Relaxed: whoever frees the block was handed it by this thread, with an order of its own.
    // SAFETY: the caller's promise.
    unsafe { state(block) }.store(state_of(class), Ordering::Relaxed);
}

/// Makes a pointer inside a block the one that the program holds.
///
/// # Safety
/// As [`hold`]; `pointer` must lie in the block, in another grain than its beginning.
pub unsafe fn hold_inside(block: *mut u8, pointer: *mut u8, class: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        state(block).store(STATE_HOLDER, Ordering::Relaxed);
        state(pointer).store(state_of(class) | STATE_ALIGNED, Ordering::Relaxed);
    }
}

/// The beginning of the block that the program holds by `pointer`; blocks begin `phase` bytes
/// behind a grain's beginning.
///
/// # Safety
/// The pointer's state must have [`STATE_ALIGNED`].
pub unsafe fn holder_of(pointer: *mut u8, phase: usize) -> *mut u8 {
    let mut grain = pointer.map_addr(|address| address & !(GRAIN_BYTES - 1));
    loop {
        // SAFETY: the holder lies before the pointer, in the same chunk.
        unsafe {
            grain = grain.sub(GRAIN_BYTES);
            if state(grain).load(Ordering::Relaxed) == STATE_HOLDER {
                return grain.add(phase);
            }
        }
    }
}
