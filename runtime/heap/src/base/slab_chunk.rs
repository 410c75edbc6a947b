//! A chunk of slabs: its header, and where its groups of blocks lie.

use super::shared::Shared;
use super::slab::Slab;
use crate::chunk::{CHUNK_BYTES, States, chunk_of};
use crate::sequence::{POINT_BITS, POINT_SHIFT};
use crate::size_class::{MIN_PITCH_BYTES, block_bytes, block_index, group_index, pitch_bytes};
use core::sync::atomic::{AtomicU32, Ordering};
use szc_sys::os::{self, PAGE_BYTES};

/// Bytes that the index bits 6 to 17 of an address tell apart.
pub const SPAN_BYTES: usize = 1 << (POINT_SHIFT + POINT_BITS);
/// Room for the header and for the distance of the first group from it, which is drawn at random:
/// what is left behind the last group is then missing anywhere, and not always at the same index
/// bits. Between them lie whole spans.
pub const FIRST_MAX_BYTES: usize = SPAN_BYTES;
/// Least distance of the first group.
pub const FIRST_MIN_BYTES: usize = 64 << 10;
pub const BLOCKS_BYTES: usize = CHUNK_BYTES - FIRST_MAX_BYTES;
/// Most groups of a chunk.
pub const CHUNK_GROUPS: usize = BLOCKS_BYTES / MIN_PITCH_BYTES;
pub const WORDS: usize = CHUNK_GROUPS.div_ceil(64);
/// A chunk of slabs of one pool: a class, or a nursery.
#[repr(C)]
pub struct SlabChunk {
    pub _states: States,
    pub owner: *const Shared,
    /// Threads that are giving a block of this chunk to its owner: until they are done it must stay
    /// mapped.
    pub visitors: AtomicU32,
    /// Its class, or a nursery.
    pub pool: usize,
    /// Distance of the first group from the chunk's beginning.
    pub first: usize,
    pub groups: usize,
    pub free_groups: u32,
    /// Free groups whose memory was used.
    pub used_groups: u32,
    pub listed: bool,
    pub free: [u64; WORDS],
    pub used: [u64; WORDS],
    pub next: *mut SlabChunk,
    pub previous: *mut SlabChunk,
    pub slabs: [Slab; CHUNK_GROUPS],
}

const _: () = assert!(size_of::<SlabChunk>() <= FIRST_MIN_BYTES);
/// The slab of a block.
///
/// # Safety
/// The block must lie in a chunk of slabs.
#[inline]
pub unsafe fn slab_of(block: *mut u8) -> *mut Slab {
    let chunk = chunk_of(block).cast::<SlabChunk>();
    // SAFETY: the caller's promise; pool and place of the first group never change.
    unsafe {
        let first = (&raw const (*chunk).first).read();
        let pool = (&raw const (*chunk).pool).read();
        let group = group_index(pool, block.addr() - chunk.addr() - first);
        (&raw mut (*chunk).slabs).cast::<Slab>().add(group)
    }
}

/// Whether a block begins here, in use or not.
///
/// # Safety
/// The address must lie in a chunk of slabs.
pub unsafe fn is_block_start(address: *mut u8) -> bool {
    let chunk = chunk_of(address).cast::<SlabChunk>();
    // SAFETY: the caller's promise; pool, first and number of groups never change, and what is read
    // of the slab only chooses the words of a message.
    unsafe {
        let distance = (address.addr() - chunk.addr()).checked_sub((*chunk).first);
        let Some(distance) = distance else { return false };
        let group = group_index((*chunk).pool, distance);
        if group >= (*chunk).groups {
            return false;
        }
        let slab = (&raw mut (*chunk).slabs).cast::<Slab>().add(group);
        let (class, start) = (usize::from((*slab).class), (*slab).start);
        let Some(inside) = address.addr().checked_sub(start.addr()) else { return false };
        let index = block_index(class, inside);
        !start.is_null()
            && index < usize::from((*slab).capacity)
            && index * block_bytes(class) == inside
    }
}
/// Groups of a chunk at this place, one in each span.
///
/// Groups of a page each begin somewhere in a page, the first one at random. Places in different
/// pages are to have different groups, so a place has the one that begins in its page, even if that
/// is behind the place.
///
/// # Safety
/// The chunk must be the calling base's; likewise below.
pub unsafe fn groups_at(chunk: *mut SlabChunk, place: usize) -> impl Iterator<Item = usize> {
    // SAFETY: the caller's promise.
    let (pool, first, groups) = unsafe { ((*chunk).pool, (*chunk).first, (*chunk).groups) };
    let distance = place.wrapping_sub(first - first % PAGE_BYTES) % SPAN_BYTES;
    (0..BLOCKS_BYTES / SPAN_BYTES)
        .map(move |span| group_index(pool, distance + span * SPAN_BYTES))
        .filter(move |&group| group < groups)
}

pub unsafe fn is_free(chunk: *mut SlabChunk, group: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*chunk).free[group / 64] >> (group % 64) & 1 != 0 }
}

pub unsafe fn group_at(chunk: *mut SlabChunk, place: usize) -> Option<usize> {
    // SAFETY: the caller's promise.
    unsafe { groups_at(chunk, place).find(|&group| is_free(chunk, group)) }
}

/// The next free group behind a place.
pub unsafe fn group_near(chunk: *mut SlabChunk, place: usize) -> Option<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        let start = groups_at(chunk, place).next().unwrap_or(0);
        (start..(*chunk).groups).chain(0..start).find(|&group| is_free(chunk, group))
    }
}

/// Whether no other thread touches a chunk any more, all of whose blocks are free: none is on its
/// way to the queue with one of its slabs, and none of them is in the queue.
///
/// Other threads touch a chunk to free a block of it, and while they do they are counted. A visitor
/// is counted before its block's bit is set (release), and the owner, who found all blocks free,
/// took each bit (acquire): so it sees all visitors of these blocks counted, and there are no other
/// blocks. If it sees the count at 0 (acquire, with the release of each visitor's end), all of them
/// have left, and the flags that they set are visible.
pub unsafe fn is_quiet(chunk: *mut SlabChunk) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        // Acquire: pairs with the release at the end of `give`; the flags are read after it.
        (*chunk).visitors.load(Ordering::Acquire) == 0
            && (0..(*chunk).groups)
                .all(|group| !(*chunk).slabs[group].queued.load(Ordering::Relaxed))
    }
}

/// Gives the kernel back the whole pages that only free groups lie in.
///
/// # Safety
/// The chunk must be the calling base's.
pub unsafe fn release(chunk: *mut SlabChunk) {
    // SAFETY: the caller's promise; no block of a free group is in use.
    unsafe {
        let (pitch, origin) = (pitch_bytes((*chunk).pool), (*chunk).first);
        let groups = (*chunk).groups;
        let mut group = 0;
        while group < groups {
            let first = group;
            while group < groups && is_free(chunk, group) {
                group += 1;
            }
            let start = (origin + first * pitch).next_multiple_of(PAGE_BYTES);
            let end = (origin + group * pitch) & !(PAGE_BYTES - 1);
            if start < end {
                os::release_pages(chunk.cast::<u8>().add(start), end - start);
            }
            group += 1;
        }
        (*chunk).used = [0; WORDS];
        (*chunk).used_groups = 0;
    }
}
