//! A slab: a run of blocks of one class, and lists of slabs.
//!
//! Which blocks are free is a bitmap beside the blocks. Blocks that another thread frees go into a
//! second one, by atomic operations; [`super::chunks`] says how they come back.

use crate::size_class::block_bytes;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
use szc_sys::os;

/// Most blocks of a slab.
pub const SLAB_BLOCKS: usize = 128;

/// Where a slab is in its class's bookkeeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// The unit holds no slab.
    Nowhere = 0,
    /// Its blocks are being handed out.
    Active,
    /// It has free blocks and waits in a list.
    Waiting,
    /// It has no free block.
    Full,
}

/// One run of blocks.
#[repr(C)]
pub struct Slab {
    pub(super) free: u128,
    pub(super) freed_elsewhere: [AtomicU64; 2],
    pub(super) queued: AtomicBool,
    /// See [`Place`]; the class's to change.
    pub place: Place,
    pub(super) class: u8,
    pub(super) capacity: u8,
    pub(super) available: u8,
    /// Where the search for a free block begins: behind the last one taken.
    pub(super) cursor: u8,
    pub(super) group: u16,
    /// Its place in a table of the class, where the base has one.
    pub(super) index: u32,
    pub(super) next_queued: AtomicPtr<Slab>,
    pub(super) next: *mut Slab,
    pub(super) previous: *mut Slab,
    pub(super) start: *mut u8,
}

impl Slab {
    /// Its class.
    pub fn class(&self) -> usize {
        usize::from(self.class)
    }

    /// Free blocks.
    pub fn available(&self) -> usize {
        usize::from(self.available)
    }

    /// Blocks.
    pub fn capacity(&self) -> usize {
        usize::from(self.capacity)
    }

    /// Takes the next free block.
    ///
    /// # Safety
    /// The slab must be the calling base's. A pointer, because other threads may free its blocks
    /// meanwhile; likewise below.
    pub unsafe fn take(slab: *mut Self) -> Option<*mut u8> {
        // SAFETY: the caller's promise.
        unsafe {
            // The words of the bitmap one by one: shifts of both together would be most of the
            // work.
            let cursor = usize::from((*slab).cursor);
            let word = cursor / 64;
            let behind = *Self::word(slab, word);
            let ahead = behind & (u64::MAX << (cursor % 64));
            let other = *Self::word(slab, word ^ 1);
            let (word, free) = match (ahead, other, behind) {
                (0, 0, 0) => return None,
                (0, 0, _) => (word, behind),
                (0, ..) => (word ^ 1, other),
                _ => (word, ahead),
            };
            Some(Self::take_at(slab, word * 64 + free.trailing_zeros() as usize))
        }
    }

    /// Takes a block if it is free.
    ///
    /// # Safety
    /// As [`Slab::take`].
    pub unsafe fn take_if_free(slab: *mut Self, index: usize) -> Option<*mut u8> {
        // SAFETY: the caller's promise.
        unsafe { ((*slab).free >> index & 1 != 0).then(|| Self::take_at(slab, index)) }
    }

    /// Makes a block free that is in use.
    ///
    /// # Safety
    /// As [`Slab::take`]; the index is one of its blocks.
    #[inline]
    pub unsafe fn put_back(slab: *mut Self, index: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            *Self::word(slab, index / 64) |= 1 << (index % 64);
            (*slab).available += 1;
        }
    }

    /// A word of the bitmap, the low one first, as the processor stores them.
    ///
    /// # Safety
    /// As [`Slab::take`]; there are two words.
    #[inline]
    unsafe fn word(slab: *mut Self, number: usize) -> *mut u64 {
        // SAFETY: the caller's promise.
        unsafe { (&raw mut (*slab).free).cast::<u64>().add(number) }
    }

    #[inline]
    unsafe fn take_at(slab: *mut Self, index: usize) -> *mut u8 {
        // SAFETY: the caller's promise; the block lies in the slab's group.
        unsafe {
            *Self::word(slab, index / 64) &= !(1 << (index % 64));
            (*slab).available -= 1;
            (*slab).cursor = ((index + 1) % SLAB_BLOCKS) as u8;
            (*slab).start.add(index * block_bytes(usize::from((*slab).class)))
        }
    }
}

/// A list of slabs with free blocks.
#[derive(Clone, Copy)]
pub struct Waiting(*mut Slab);

impl Waiting {
    /// Adds a slab.
    ///
    /// # Safety
    /// The slab must be in no list, and this base's.
    pub unsafe fn push(&mut self, slab: *mut Slab) {
        // SAFETY: the caller's promise.
        unsafe {
            (*slab).place = Place::Waiting;
            (*slab).next = self.0;
            (*slab).previous = os::null();
            if !self.0.is_null() {
                (*self.0).previous = slab;
            }
        }
        self.0 = slab;
    }

    /// Takes a slab out.
    pub fn pop(&mut self) -> Option<*mut Slab> {
        let slab = self.0;
        if slab.is_null() {
            return None;
        }
        // SAFETY: it is in this list.
        unsafe { self.remove(slab) };
        Some(slab)
    }

    /// Takes this slab out.
    ///
    /// # Safety
    /// The slab must be in this list.
    pub unsafe fn remove(&mut self, slab: *mut Slab) {
        // SAFETY: the caller's promise.
        unsafe {
            let (next, previous) = ((*slab).next, (*slab).previous);
            if previous.is_null() {
                self.0 = next;
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
        }
    }
}

const _: () = assert!(SLAB_BLOCKS == 128 && cfg!(target_endian = "little"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_blocks_are_taken_from_the_cursor_on_and_around_the_end() {
        for (free, cursor) in
            [(0b1011u128, 1), (1 << 127 | 1 << 70 | 1, 71), (1 << 3 | 1 << 2, 100), (1 << 90, 91)]
        {
            // SAFETY: zeros are a slab; the blocks that it hands out are not touched.
            let mut slab: Slab = unsafe { core::mem::zeroed() };
            (slab.free, slab.cursor, slab.available) = (free, cursor, free.count_ones() as u8);
            let mut expected: Vec<usize> = (0..128).filter(|at| free >> at & 1 != 0).collect();
            let first = expected.iter().filter(|&&at| at < usize::from(cursor)).count();
            expected.rotate_left(first);
            // SAFETY: this test's own slab.
            let taken: Vec<usize> = core::iter::from_fn(|| unsafe { Slab::take(&raw mut slab) })
                .map(|block| block.addr() / block_bytes(0))
                .collect();
            assert_eq!(taken, expected);
            assert!(slab.free == 0 && slab.available == 0);
            // SAFETY: as above.
            unsafe { Slab::put_back(&raw mut slab, taken[0]) };
            assert!(slab.free == 1 << taken[0] && slab.available == 1);
        }
    }
}
