//! Blocks that are mapped on their own, each with a random colour.
//!
//! A mapping is 256 KiB longer than its block, and the block begins at a random cache line of that
//! room: all index bits of its address are random, and no spare blocks are kept. The room takes
//! address space only, and where that is limited, it is a page. What is known of a block lies in a
//! table, under a lock; a few mappings that were freed are cached there for the next block of about
//! their size, because a mapping and its page faults cost more than most programs do with such a
//! block.
//! The lock is never held over a system call but those that enlarge a table.

use super::large_blocks::Blocks;
use super::large_mapping::{LINE_BYTES, Mapping, elsewhere, map, unmap};
use super::memory::{count_mapped, count_unmapped};
use super::random::Random;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use szc_sys::arch;
use szc_sys::os::{self, Lock, PAGE_BYTES};

/// Decommitted mappings that are unmapped with each block that is freed, when few are left in use.
const UNMAPPED_AT_A_TIME: usize = 2;

/// Those of this process.
pub static LARGE: Large = Large::new();

/// All blocks of a process that are mapped on their own.
pub struct Large {
    lock: Lock,
    blocks: UnsafeCell<Blocks>,
    /// There has been one.
    any: AtomicBool,
}

// SAFETY: the blocks are reached through `with` alone, under the lock.
unsafe impl Sync for Large {}

/// What there is for a block without a new mapping.
enum Found {
    Nothing,
    /// A cached mapping, which is in the table again.
    Entered(Mapping),
    /// A cached one, which is in no table and is to move.
    ToMove(Mapping),
    /// One without memory, which is in the table again.
    Recommitted(Mapping),
}

/// What becomes of a block that is to have another size.
enum Resized {
    /// It is in the table again, in its mapping.
    Stays,
    /// It moves to a cached mapping. Neither is in the table.
    MovesTo(Mapping, Mapping),
    /// Its mapping has too little room, or too much memory. It is in no table.
    NeedsKernel(Mapping),
}

/// What became of a pointer that was to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// The block was freed.
    Now,
    /// It was freed before, and its mapping is cached.
    Before,
    /// There is no such block.
    Unknown,
}

impl Large {
    /// No blocks.
    pub const fn new() -> Self {
        Self {
            lock: Lock::new(),
            blocks: UnsafeCell::new(Blocks::new()),
            any: AtomicBool::new(false),
        }
    }

    /// The lock, for `fork`.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Whether there has been a block at all.
    pub fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    fn with<T>(&self, action: impl FnOnce(&mut Blocks) -> T) -> T {
        // SAFETY: the lock makes this the only reference.
        self.lock.with(|| action(unsafe { &mut *self.blocks.get() }))
    }

    /// A block of `bytes` at a multiple of `alignment`, a power of two, and whether it is all
    /// zeros.
    pub fn allocate(
        &self,
        bytes: usize,
        alignment: usize,
        random: &mut Random,
    ) -> Option<(*mut u8, bool)> {
        let found = self.with(|blocks| {
            if !blocks.make_room_for_entry() {
                return None;
            }
            if alignment <= LINE_BYTES
                && let Some(entry) = blocks.take_cached(bytes, random)
            {
                if entry.is_to_move(random) {
                    return Some(Found::ToMove(entry));
                }
                blocks.enter(entry);
                return Some(Found::Entered(entry));
            }
            Some(
                blocks
                    .recommit(bytes, alignment, random)
                    .map_or(Found::Nothing, Found::Recommitted),
            )
        })?;
        self.any.store(true, Ordering::Relaxed);
        let reused = match found {
            Found::Nothing => None,
            Found::Entered(entry) => Some(entry),
            Found::Recommitted(entry) => {
                count_mapped(entry.length);
                Some(entry)
            }
            Found::ToMove(entry) => Some(self.entered(elsewhere(entry, random))?),
        };
        if let Some(entry) = reused {
            // Locked memory cannot be emptied, so a decommitted mapping is perhaps not all zeros.
            return Some((core::ptr::with_exposed_provenance_mut(entry.block), false));
        }
        self.drop_surplus(bytes);
        let entry = map(bytes, alignment, random).or_else(|| {
            // The kernel has nothing left: what is cached is worth less than what is asked for.
            self.drop_cached();
            map(bytes, alignment, random)
        })?;
        let entry = self.entered(entry)?;
        Some((core::ptr::with_exposed_provenance_mut(entry.block), true))
    }

    /// A block that is in no table, entered; nothing if there is no memory for that, and the block
    /// is gone.
    fn entered(&self, entry: Mapping) -> Option<Mapping> {
        let entered = self.with(|blocks| {
            let room = blocks.make_room_for_entry();
            if room {
                blocks.enter(entry);
            }
            room
        });
        if !entered {
            self.retire(&entry, false);
        }
        entered.then_some(entry)
    }

    /// Frees a block.
    pub fn free(&self, pointer: *mut u8) -> Freed {
        let removed = self.with(|blocks| {
            let Some(entry) = blocks.remove(pointer.addr()) else {
                let cached = blocks.is_cached(pointer.addr());
                return Err(if cached { Freed::Before } else { Freed::Unknown });
            };
            Ok((!blocks.cache(entry)).then_some(entry))
        });
        match removed {
            Ok(gone) => {
                self.drop_freed(gone);
                self.unmap_decommitted();
                Freed::Now
            }
            Err(freed) => freed,
        }
    }

    /// Lets go of the mapping of a block that was freed and may not be cached, and of others that
    /// may not stay cached.
    fn drop_freed(&self, gone: Option<Mapping>) {
        if let Some(entry) = gone {
            self.retire(&entry, self.with(|blocks| blocks.are_many()));
        }
        self.drop_surplus(0);
    }

    /// Lets go of cached mappings, because there are too many or `more` bytes come into use.
    fn drop_surplus(&self, more: usize) {
        while let Some((entry, many)) =
            self.with(|blocks| blocks.surplus(more).map(|entry| (entry, blocks.are_many())))
        {
            self.retire(&entry, many);
        }
    }

    /// Lets go of cached mappings, oldest first, until they come to this many bytes.
    pub fn drop_bytes(&self, bytes: usize) {
        let mut dropped = 0;
        while dropped < bytes
            && let Some((entry, many)) =
                self.with(|blocks| blocks.oldest_cached().map(|entry| (entry, blocks.are_many())))
        {
            dropped += entry.bytes;
            self.retire(&entry, many);
        }
    }

    /// Gives the kernel everything that is cached or decommitted.
    fn drop_cached(&self) {
        while let Some((entry, has_memory)) = self.with(Blocks::any_cached_or_decommitted) {
            if has_memory {
                self.retire(&entry, false);
            } else if !unmap(&entry) {
                self.with(|blocks| blocks.decommit(entry));
                return;
            }
        }
    }

    /// Unmaps a few of the decommitted mappings if few blocks are in use.
    fn unmap_decommitted(&self) {
        for _ in 0..UNMAPPED_AT_A_TIME {
            let Some(entry) = self.with(Blocks::superfluous) else { return };
            if !unmap(&entry) {
                self.with(|blocks| blocks.decommit(entry));
                return;
            }
        }
    }

    /// Gives the memory of a mapping back that no block has; its address space, too, unless it is
    /// to be decommitted or the kernel cannot divide an area any more.
    fn retire(&self, entry: &Mapping, decommit: bool) {
        count_unmapped(entry.length);
        if !decommit && unmap(entry) {
            return;
        }
        // SAFETY: the mapping belongs to the entry, which left the table.
        unsafe {
            let start = core::ptr::with_exposed_provenance_mut(entry.start);
            os::release_pages(start, entry.length);
        }
        // Without room for the entry the address space is lost, and no memory.
        self.with(|blocks| blocks.decommit(*entry));
    }

    /// Bytes that a block may use; nothing if there is no such block.
    pub fn usable(&self, pointer: *mut u8) -> Option<usize> {
        self.with(|blocks| blocks.find(pointer.addr()).map(|at| blocks.at(at).usable()))
    }

    /// Makes a block longer or shorter: in its mapping; in a cached one that has the memory that
    /// this one would have to get; or if the kernel can, in a longer or shorter one, where it keeps
    /// its colour. The block may move.
    pub fn resize(&self, pointer: *mut u8, bytes: usize, random: &mut Random) -> Option<*mut u8> {
        // The entry leaves the table while it is worked on: the old address may become another
        // thread's.
        let resized = self.with(|blocks| {
            let entry = blocks.remove(pointer.addr())?;
            if let Some(larger) = blocks.take_for_growth(&entry, bytes, random) {
                return Some(Resized::MovesTo(entry, larger));
            }
            if !entry.suits(bytes) {
                return Some(Resized::NeedsKernel(entry));
            }
            blocks.enter(Mapping { asked: bytes, bytes: entry.bytes.max(bytes), ..entry });
            Some(Resized::Stays)
        })?;
        let entry = match resized {
            Resized::Stays => return Some(pointer),
            Resized::MovesTo(entry, larger) => return Some(self.move_to(entry, larger, random)),
            Resized::NeedsKernel(entry) => entry,
        };
        let colour = entry.block - entry.start;
        // An eighth more, so that a block that grows by little does not need the kernel each time.
        let more = if bytes > entry.room() { bytes / 8 } else { 0 };
        let length_with = |more: usize| (colour + bytes + more).next_multiple_of(PAGE_BYTES);
        let start = core::ptr::with_exposed_provenance_mut::<u8>(entry.start);
        // SAFETY: the mapping is this block's; the program gave it up for the new one by calling
        // realloc.
        let remapped = |length| unsafe { os::remap(start, entry.length, length) };
        let mut length = length_with(more);
        let mut moved = remapped(length);
        if moved.is_err() && more > 0 {
            length = length_with(0);
            moved = remapped(length);
        }
        let new = match moved {
            Ok(start) => {
                count_unmapped(entry.length);
                count_mapped(length);
                let start = start.expose_provenance();
                Mapping { block: start + colour, asked: bytes, bytes, start, length, ..entry }
            }
            Err(_) => entry,
        };
        self.with(|blocks| blocks.enter_again(new));
        moved.is_ok().then(|| core::ptr::with_exposed_provenance_mut(new.block))
    }

    /// Copies what a block holds to another mapping, and caches its own. Neither is in the
    /// table.
    fn move_to(&self, entry: Mapping, larger: Mapping, random: &mut Random) -> *mut u8 {
        let larger = if larger.is_to_move(random) { elsewhere(larger, random) } else { larger };
        let block = core::ptr::with_exposed_provenance_mut::<u8>(larger.block);
        let from = core::ptr::with_exposed_provenance::<u8>(entry.block);
        // The program may have asked how much it may use, and does. SAFETY: both mappings are this
        // call's alone, and the larger has room for more than the other's block.
        unsafe { arch::copy_words(block, from, entry.usable()) };
        let gone = self.with(|blocks| {
            blocks.enter_again(larger);
            (!blocks.cache(entry)).then_some(entry)
        });
        self.drop_freed(gone);
        block
    }
}

#[cfg(test)]
mod tests;
