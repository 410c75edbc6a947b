//! The slabs of one base: how they get blocks' memory, and how blocks come back.
//!
//! A chunk belongs to one class, or is a nursery, where the first few slabs of all classes lie, and
//! is divided into groups of blocks; a slab manages one group. Blocks that another thread frees go
//! into a bitmap of their own, by atomic operations, and the slab into a list of its owner, who
//! looks there before it takes fresh memory: no lock, no link inside a block.

use super::shared::Shared;
use super::slab::{Place, SLAB_BLOCKS, Slab};
use super::slab_chunk::{
    BLOCKS_BYTES, FIRST_MAX_BYTES, FIRST_MIN_BYTES, SPAN_BYTES, SlabChunk, group_at, group_near,
    is_quiet, release, slab_of,
};
use crate::chunk::chunk_of;
use crate::memory;
use crate::random::Random;
use crate::sequence::{POINT_SHIFT, Sequence};
use crate::size_class::{
    CLASSES, POOLS, block_bytes, block_index, colour_period, group_blocks, nursery_blocks,
    nursery_of, nursery_slabs, pitch_bytes,
};
use core::sync::atomic::Ordering;
use szc_sys::os;

/// Free groups of a chunk whose memory the kernel gets back together, at least.
const RELEASED_GROUPS: u32 = 32;
/// Memory of free groups that a base keeps, because to give it back and to get it again costs more
/// than most programs do with it: so much, and so much for each chunk.
const KEPT_BYTES: usize = 2 << 20;
const KEPT_CHUNK_BYTES: usize = 64 << 10;

/// Chunks of a class that are searched for a free group at the wanted place. A class that has but
/// one gets another.
const SEARCHED_CHUNKS: usize = 2;

/// The chunks of one base.
pub struct Chunks {
    /// What other threads push to: outside of the base, which its owner has to itself.
    pub shared: *const Shared,
    /// Where chunks' first groups begin.
    pub random: Random,
    /// Classes have nothing in common: no nursery, and groups begin where their pool says, whatever
    /// was drawn before.
    pub are_apart: bool,
    /// Chunks that have free groups, by pool.
    lists: [*mut SlabChunk; POOLS],
    /// Chunks that there are.
    count: usize,
    /// Memory of free groups that was used.
    used_bytes: usize,
}
impl Chunks {
    /// Whether a slab's chunk belongs to this base.
    ///
    /// # Safety
    /// The block must lie in a chunk of slabs.
    unsafe fn owns(&self, block: *mut u8) -> bool {
        // SAFETY: the caller's promise; the owner of a chunk never changes.
        unsafe { core::ptr::eq((*chunk_of(block).cast::<SlabChunk>()).owner, self.shared) }
    }

    /// Frees a block: of this base, and then its slab is the result; or of another, by the way
    /// through its owner's queue.
    ///
    /// # Safety
    /// Nobody may use the block, which a base of slabs gave for this class.
    pub unsafe fn give(&mut self, class: usize, block: *mut u8) -> Option<*mut Slab> {
        // SAFETY: the caller's promise.
        unsafe {
            let slab = slab_of(block);
            // The start of a slab does not change while a block of it is in use.
            let start = (&raw const (*slab).start).read();
            let index = block_index(class, block.addr() - start.addr());
            if self.owns(block) {
                Slab::put_back(slab, index);
                return Some(slab);
            }
            // Before the block is free, so that the owner, who sees the block free, sees the
            // visitor.
            let visitors = &(*chunk_of(block).cast::<SlabChunk>()).visitors;
            visitors.fetch_add(1, Ordering::Relaxed);
            // Release: what was written to the block is done before the owner reuses it (acquire in
            // `collect`).
            let elsewhere = &(*slab).freed_elsewhere[index / 64];
            elsewhere.fetch_or(1 << (index % 64), Ordering::Release);
            // If the flag was set, the owner has yet to clear it, and looks at the bitmap
            // afterwards.
            if !(*slab).queued.swap(true, Ordering::AcqRel) {
                let owner = &*(*chunk_of(block).cast::<SlabChunk>()).owner;
                owner.push(slab);
            }
            // Release: pairs with the acquire in `is_quiet`; the chunk is not touched after this.
            visitors.fetch_sub(1, Ordering::Release);
            None
        }
    }

    /// Takes back what other threads freed: calls `found` for each slab that got free blocks, with
    /// their number.
    pub fn collect(&mut self, mut found: impl FnMut(&mut Self, *mut Slab, usize)) {
        // SAFETY: made with the base, and never unmapped.
        let shared = unsafe { &*self.shared };
        let mut slab = shared.take();
        while !slab.is_null() {
            // SAFETY: a chunk of this base is not unmapped while a slab of it is in the queue.
            unsafe {
                let next = (*slab).next_queued.load(Ordering::Relaxed);
                // Acquire and release: pairs with the swap in `give`. Who saw the flag set put its
                // bit into the bitmap before, so it is seen below; who comes later queues the slab
                // again.
                (*slab).queued.swap(false, Ordering::AcqRel);
                let low = (*slab).freed_elsewhere[0].swap(0, Ordering::Acquire);
                let high = (*slab).freed_elsewhere[1].swap(0, Ordering::Acquire);
                let freed = u128::from(high) << 64 | u128::from(low);
                (*slab).free |= freed;
                (*slab).available += freed.count_ones() as u8;
                if freed != 0 {
                    found(self, slab, freed.count_ones() as usize);
                }
                slab = next;
            }
        }
    }

    /// A new slab at the class's next place; `slabs` is the number of those that the class has.
    pub fn open(&mut self, class: usize, slabs: usize, places: &mut Sequence) -> Option<*mut Slab> {
        let place = places.next() << POINT_SHIFT;
        let is_first = slabs < nursery_slabs(class) && !self.are_apart;
        let pool = if is_first { nursery_of(class) } else { class };
        let (chunk, group) = self.take_group(pool, place)?;
        // SAFETY: the chunk is this base's.
        let distance = unsafe { (*chunk).first } + group * pitch_bytes(pool);
        // The first block taken is the one at the place, or as far into a page if the group has
        // other bytes of it.
        let inside = place.wrapping_sub(distance) % SPAN_BYTES;
        let colour = (inside % colour_period(class, pool)) & !((1 << POINT_SHIFT) - 1);
        let capacity = if is_first { nursery_blocks(class) } else { group_blocks(class) };
        let first = (inside - colour) / block_bytes(class) % capacity;
        // SAFETY: the group is this base's, and has no slab. Its atomics are left alone: the last
        // thread that freed a block of it may still be about to queue it.
        unsafe {
            let slab = (&raw mut (*chunk).slabs).cast::<Slab>().add(group);
            (*slab).start = chunk.cast::<u8>().add(distance + colour);
            (*slab).class = class as u8;
            (*slab).group = group as u16;
            (*slab).capacity = capacity as u8;
            (*slab).available = capacity as u8;
            (*slab).free = u128::MAX >> (SLAB_BLOCKS - capacity);
            (*slab).cursor = first as u8;
            (*slab).place = Place::Active;
            Some(slab)
        }
    }

    /// Gives up a slab all of whose blocks are free.
    ///
    /// # Safety
    /// The slab must be this base's, and in no list.
    pub unsafe fn close(&mut self, slab: *mut Slab) {
        // SAFETY: the caller's promise.
        unsafe {
            let chunk = chunk_of((*slab).start).cast::<SlabChunk>();
            let group = usize::from((*slab).group);
            (*slab).place = Place::Nowhere;
            (*chunk).free[group / 64] |= 1 << (group % 64);
            (*chunk).used[group / 64] |= 1 << (group % 64);
            (*chunk).free_groups += 1;
            (*chunk).used_groups += 1;
            if !(*chunk).listed {
                self.link(chunk);
            }
            self.used_bytes += pitch_bytes((*chunk).pool);
            let many = self.used_bytes > KEPT_BYTES + self.count * KEPT_CHUNK_BYTES;
            let used_groups = (*chunk).used_groups;
            let alone = (*chunk).next.is_null() && (*chunk).previous.is_null();
            let whole = (*chunk).free_groups as usize == (*chunk).groups && !alone;
            if whole && (many || used_groups < RELEASED_GROUPS) && is_quiet(chunk) {
                self.used_bytes -= used_groups as usize * pitch_bytes((*chunk).pool);
                self.count -= 1;
                self.unlink(chunk);
                memory::unmap_chunk(chunk.cast());
            } else if many && used_groups >= RELEASED_GROUPS {
                self.used_bytes -= used_groups as usize * pitch_bytes((*chunk).pool);
                release(chunk);
            }
        }
    }

    /// A free group at this place of a span, or if there is none, any near it.
    fn take_group(&mut self, pool: usize, place: usize) -> Option<(*mut SlabChunk, usize)> {
        let mut chunk = self.lists[pool];
        // A nursery's chunk is filled, wherever its groups lie, before there is another.
        let searched = if pool < CLASSES { SEARCHED_CHUNKS } else { 1 };
        for _ in 0..searched {
            if chunk.is_null() {
                // Without memory for another chunk, any group will do.
                let _ = self.add_chunk(pool);
                chunk = self.lists[pool];
            }
            if chunk.is_null() {
                return None;
            }
            // SAFETY: listed chunks are mapped and this base's.
            unsafe {
                if let Some(group) = group_at(chunk, place) {
                    self.take_from(chunk, group);
                    return Some((chunk, group));
                }
                chunk = (*chunk).next;
            }
        }
        let chunk = self.lists[pool];
        // SAFETY: as above.
        let group = unsafe { group_near(chunk, place)? };
        self.take_from(chunk, group);
        Some((chunk, group))
    }

    fn take_from(&mut self, chunk: *mut SlabChunk, group: usize) {
        // SAFETY: the chunk is this base's and listed; the group is free.
        unsafe {
            let bit = 1 << (group % 64);
            (*chunk).free[group / 64] &= !bit;
            (*chunk).free_groups -= 1;
            if (*chunk).used[group / 64] & bit != 0 {
                (*chunk).used[group / 64] &= !bit;
                (*chunk).used_groups -= 1;
                self.used_bytes -= pitch_bytes((*chunk).pool);
            }
            if (*chunk).free_groups == 0 {
                self.unlink(chunk);
            }
        }
    }

    fn add_chunk(&mut self, pool: usize) -> Option<()> {
        let chunk = memory::map_chunk()?.cast::<SlabChunk>();
        let groups = BLOCKS_BYTES / pitch_bytes(pool);
        // SAFETY: fresh zeroed memory, large enough, which nobody else knows.
        unsafe {
            (*chunk).owner = self.shared;
            (*chunk).pool = pool;
            let room = FIRST_MAX_BYTES - FIRST_MIN_BYTES;
            let nothing_left = pool >= CLASSES || BLOCKS_BYTES.is_multiple_of(pitch_bytes(pool));
            // Not the bits of the wanted place, by which the first slab lies in the chunk.
            if self.are_apart {
                self.random = Random::new(pool as u64);
            }
            let line = self.random.below((room >> POINT_SHIFT) as u32);
            let distance = if nothing_left { room } else { line << POINT_SHIFT };
            (*chunk).first = FIRST_MIN_BYTES + distance;
            (*chunk).groups = groups;
            (*chunk).free_groups = groups as u32;
            for group in 0..groups {
                (*chunk).free[group / 64] |= 1 << (group % 64);
            }
        }
        self.count += 1;
        self.link(chunk);
        Some(())
    }

    fn link(&mut self, chunk: *mut SlabChunk) {
        // SAFETY: listed chunks are mapped and this base's.
        unsafe {
            let pool = (*chunk).pool;
            let head = self.lists[pool];
            (*chunk).next = head;
            (*chunk).previous = os::null();
            if !head.is_null() {
                (*head).previous = chunk;
            }
            self.lists[pool] = chunk;
            (*chunk).listed = true;
        }
    }

    fn unlink(&mut self, chunk: *mut SlabChunk) {
        // SAFETY: as `link`.
        unsafe {
            let (next, previous) = ((*chunk).next, (*chunk).previous);
            if previous.is_null() {
                self.lists[(*chunk).pool] = next;
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
            (*chunk).next = os::null();
            (*chunk).previous = os::null();
            (*chunk).listed = false;
        }
    }
}
