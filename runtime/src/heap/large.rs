//! Blocks that are mapped on their own, each with a random colour.
//!
//! A mapping is 256 KiB longer than its block, and the block begins at a random cache line of that room: all
//! index bits of its address are random, and no spare blocks are kept. The room takes address space only. What is known of
//! a block lies in a table, under a lock; a few mappings that were freed wait there for the next block of about their
//! size, because a mapping and its page faults cost more than most programs do with such a block.

use super::memory::{count_mapped, count_unmapped, map_table};
use super::random::Random;
use crate::os::{self, Lock, PAGE_BYTES};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// Room in which a block begins at random: what address bits 6 to 17 tell apart.
const COLOUR_BYTES: usize = 256 << 10;
/// Grain of colours: a cache line.
const LINE_BYTES: usize = 64;
/// Most mappings that wait.
const KEPT: usize = 16;
/// Largest block whose mapping waits, and bytes that may always wait.
const KEPT_BLOCK_BYTES: usize = 32 << 20;
const KEPT_LEAST_BYTES: usize = 1 << 20;
/// One of so many blocks gets a new mapping though one waits, so that colours of pages change, too.
const FRESH_ONE_IN: u32 = 8;
/// Entries of the first table.
const FIRST_ENTRIES: usize = 2 * PAGE_BYTES / size_of::<Entry>();

/// A block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// Address of the block; 0: no entry.
    block: usize,
    /// Bytes that were asked for.
    bytes: usize,
    /// Its mapping.
    start: usize,
    length: usize,
}

impl Entry {
    /// Bytes that the block may use.
    pub fn usable(&self) -> usize {
        self.start + self.length - self.block
    }
}

struct Blocks {
    /// Linear probing; a power of two of entries, at most half in use.
    table: *mut Entry,
    entries: usize,
    used: usize,
    /// Mappings that wait, oldest first.
    kept: [Entry; KEPT],
    kept_count: usize,
    kept_bytes: usize,
    /// Bytes in use now, and at most.
    live_bytes: usize,
    peak_bytes: usize,
}

/// All blocks of a process that are mapped on their own.
pub struct Large {
    lock: Lock,
    blocks: UnsafeCell<Blocks>,
    /// There has been one.
    any: AtomicBool,
}

// SAFETY: the blocks are reached through `with` alone, under the lock.
unsafe impl Sync for Large {}

/// What became of a pointer that was to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// The block was freed.
    Now,
    /// It was freed before, and its mapping waits.
    Before,
    /// There is no such block.
    Unknown,
}

impl Large {
    /// No blocks.
    pub const fn new() -> Self {
        const NONE: Entry = Entry { block: 0, bytes: 0, start: 0, length: 0 };
        Self {
            lock: Lock::new(),
            blocks: UnsafeCell::new(Blocks {
                table: os::null(),
                entries: 0,
                used: 0,
                kept: [NONE; KEPT],
                kept_count: 0,
                kept_bytes: 0,
                live_bytes: 0,
                peak_bytes: 0,
            }),
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

    /// A block of `bytes` at a multiple of `alignment`, a power of two, and whether it is all zeros.
    pub fn allocate(
        &self,
        bytes: usize,
        alignment: usize,
        random: &mut Random,
    ) -> Option<(*mut u8, bool)> {
        let reused = self.with(|blocks| {
            if !blocks.make_room_for_entry() {
                return None;
            }
            if alignment > LINE_BYTES || random.below(FRESH_ONE_IN) == 0 {
                return Some(None);
            }
            Some(blocks.reuse(bytes, random))
        })?;
        self.any.store(true, Ordering::Relaxed);
        if let Some(entry) = reused {
            return Some((core::ptr::with_exposed_provenance_mut(entry.block), false));
        }
        self.with(|blocks| blocks.drop_kept(bytes));
        let entry = map(bytes, alignment, random).or_else(|| {
            // The kernel has nothing left: what waits is worth less than what is asked for.
            self.with(Blocks::drop_all_kept);
            map(bytes, alignment, random)
        })?;
        let entered = self.with(|blocks| {
            let room = blocks.make_room_for_entry();
            if room {
                blocks.enter(entry);
            }
            room
        });
        if !entered {
            unmap(&entry);
            return None;
        }
        Some((core::ptr::with_exposed_provenance_mut(entry.block), true))
    }

    /// Frees a block.
    pub fn free(&self, pointer: *mut u8) -> Freed {
        let removed = self.with(|blocks| {
            let Some(entry) = blocks.remove(pointer.addr()) else {
                let waits = blocks.kept[..blocks.kept_count]
                    .iter()
                    .any(|kept| kept.block == pointer.addr());
                return Err(if waits { Freed::Before } else { Freed::Unknown });
            };
            Ok(blocks.keep(entry))
        });
        match removed {
            Ok(Some(entry)) => {
                unmap(&entry);
                Freed::Now
            }
            Ok(None) => Freed::Now,
            Err(freed) => freed,
        }
    }

    /// Bytes that a block may use; nothing if there is no such block.
    pub fn usable(&self, pointer: *mut u8) -> Option<usize> {
        self.with(|blocks| blocks.find(pointer.addr()).map(|at| blocks.at(at).usable()))
    }

    /// Makes a block longer or shorter, if the kernel can; its colour stays. The block may move.
    pub fn resize(&self, pointer: *mut u8, bytes: usize) -> Option<*mut u8> {
        // The entry leaves the table meanwhile: the old address may become another thread's.
        let entry = self.with(|blocks| blocks.remove(pointer.addr()))?;
        let colour = entry.block - entry.start;
        // An eighth more, so that a block that grows by little does not need the kernel each time.
        let more = if bytes > entry.bytes { bytes / 8 } else { 0 };
        let length = (colour + bytes + more).next_multiple_of(PAGE_BYTES);
        let start = core::ptr::with_exposed_provenance_mut::<u8>(entry.start);
        // SAFETY: the mapping is this block's; the program gave it up for the new one by calling realloc.
        let moved = unsafe { os::remap(start, entry.length, length) };
        let new = match moved {
            Ok(start) => {
                count_unmapped(entry.length);
                count_mapped(length);
                let start = start.expose_provenance();
                Entry { block: start + colour, bytes, start, length }
            }
            Err(_) => entry,
        };
        // There is room: an entry left a moment ago.
        self.with(|blocks| {
            if blocks.make_room_for_entry() || blocks.used < blocks.entries - 1 {
                blocks.enter(new);
            }
        });
        moved.is_ok().then(|| core::ptr::with_exposed_provenance_mut(new.block))
    }
}

fn map(bytes: usize, alignment: usize, random: &mut Random) -> Option<Entry> {
    let grain = alignment.max(LINE_BYTES);
    let extra = if alignment > PAGE_BYTES { alignment } else { 0 };
    let wanted =
        bytes.checked_add(extra)?.checked_add(COLOUR_BYTES + PAGE_BYTES)? & !(PAGE_BYTES - 1);
    let (start, length, colours) = match os::map_anonymous(wanted) {
        Ok(start) => (start.expose_provenance(), wanted, COLOUR_BYTES / grain),
        Err(_) => {
            // Little address space is left: without a colour rather than not at all.
            let least = bytes.checked_add(extra)?.checked_add(PAGE_BYTES - 1)? & !(PAGE_BYTES - 1);
            (os::map_anonymous(least).ok()?.expose_provenance(), least, 1)
        }
    };
    count_mapped(length);
    let first = start.next_multiple_of(alignment);
    let block = first + random.below(colours.max(1) as u32) * grain;
    Some(Entry { block, bytes, start, length })
}

fn unmap(entry: &Entry) {
    // SAFETY: the mapping belongs to the entry, which left the table.
    unsafe { os::unmap(core::ptr::with_exposed_provenance_mut(entry.start), entry.length) };
    count_unmapped(entry.length);
}

impl Blocks {
    fn at(&self, index: usize) -> Entry {
        // SAFETY: callers stay below the number of entries.
        unsafe { self.table.add(index).read() }
    }

    fn put(&mut self, index: usize, entry: Entry) {
        // SAFETY: as `at`.
        unsafe { self.table.add(index).write(entry) };
    }

    fn home(&self, block: usize) -> usize {
        let hash = (block as u64 / LINE_BYTES as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize & (self.entries - 1)
    }

    fn find(&self, block: usize) -> Option<usize> {
        if self.entries == 0 || block == 0 {
            return None;
        }
        let mut index = self.home(block);
        loop {
            let found = self.at(index).block;
            if found == block {
                return Some(index);
            }
            if found == 0 {
                return None;
            }
            index = (index + 1) & (self.entries - 1);
        }
    }

    fn enter(&mut self, entry: Entry) {
        let mut index = self.home(entry.block);
        while self.at(index).block != 0 {
            index = (index + 1) & (self.entries - 1);
        }
        self.put(index, entry);
        self.used += 1;
        self.live_bytes += entry.bytes;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    /// Takes an entry out, and moves those behind it that would not be found over the hole (Knuth, "The Art of
    /// Computer Programming" 3, 6.4, algorithm R).
    fn remove(&mut self, block: usize) -> Option<Entry> {
        let mut hole = self.find(block)?;
        let entry = self.at(hole);
        let mask = self.entries - 1;
        let mut index = hole;
        loop {
            index = (index + 1) & mask;
            let moved = self.at(index);
            if moved.block == 0 {
                break;
            }
            let home = self.home(moved.block);
            if (index.wrapping_sub(home) & mask) >= (index.wrapping_sub(hole) & mask) {
                self.put(hole, moved);
                hole = index;
            }
        }
        self.put(hole, Entry::default());
        self.used -= 1;
        self.live_bytes -= entry.bytes;
        Some(entry)
    }

    /// Makes sure that one more entry fits; false if there is no memory.
    fn make_room_for_entry(&mut self) -> bool {
        if (self.used + 1) * 2 <= self.entries {
            return true;
        }
        let entries = if self.entries == 0 { FIRST_ENTRIES } else { self.entries * 2 };
        let Some(table) = map_table(entries * size_of::<Entry>()) else { return false };
        let (old, count) = (self.table, self.entries);
        (self.table, self.entries) = (table.cast(), entries);
        self.used = 0;
        let live = core::mem::take(&mut self.live_bytes);
        for index in 0..count {
            // SAFETY: below the old number of entries.
            let entry = unsafe { old.add(index).read() };
            if entry.block != 0 {
                self.enter(entry);
            }
        }
        self.live_bytes = live;
        if count > 0 {
            // SAFETY: the old table is this one's alone.
            unsafe { os::unmap(old.cast(), count * size_of::<Entry>()) };
        }
        true
    }

    /// A mapping that waits and suits, chosen at random among those that do; its block gets another line of its
    /// page.
    fn reuse(&mut self, bytes: usize, random: &mut Random) -> Option<Entry> {
        let page = |block: usize| block & !(PAGE_BYTES - 1);
        let suits = |kept: &Entry| {
            let room = kept.start + kept.length - page(kept.block);
            bytes + PAGE_BYTES <= room
                && kept.bytes / 2 <= bytes
                && bytes <= kept.bytes + kept.bytes / 4
        };
        let count = self.kept[..self.kept_count].iter().filter(|kept| suits(kept)).count();
        if count == 0 {
            return None;
        }
        let chosen = random.below(count as u32);
        let index = (0..self.kept_count).filter(|&index| suits(&self.kept[index])).nth(chosen)?;
        let mut entry = self.forget(index);
        entry.block =
            page(entry.block) + random.below((PAGE_BYTES / LINE_BYTES) as u32) * LINE_BYTES;
        entry.bytes = bytes;
        self.enter(entry);
        Some(entry)
    }

    fn forget(&mut self, index: usize) -> Entry {
        let entry = self.kept[index];
        for later in index + 1..self.kept_count {
            self.kept[later - 1] = self.kept[later];
        }
        self.kept_count -= 1;
        self.kept_bytes -= entry.bytes;
        entry
    }

    /// Bytes that may wait beside `more` in use: what is not in use of the most ever, and an eighth of that.
    fn allowance(&self, more: usize) -> usize {
        let most = self.peak_bytes + self.peak_bytes / 8;
        most.saturating_sub(self.live_bytes + more).max(KEPT_LEAST_BYTES)
    }

    /// Lets a mapping wait; the one that has to go instead, if any.
    fn keep(&mut self, entry: Entry) -> Option<Entry> {
        if entry.bytes > KEPT_BLOCK_BYTES || entry.bytes > self.allowance(0) {
            return Some(entry);
        }
        let full = self.kept_count == KEPT || self.kept_bytes + entry.bytes > self.allowance(0);
        let gone = full.then(|| self.forget(0));
        self.kept[self.kept_count] = entry;
        self.kept_count += 1;
        self.kept_bytes += entry.bytes;
        gone
    }

    /// Lets go of mappings that wait, because `bytes` more come into use.
    fn drop_kept(&mut self, bytes: usize) {
        while self.kept_count > 0 && self.kept_bytes > self.allowance(bytes) {
            unmap(&self.forget(0));
        }
    }

    fn drop_all_kept(&mut self) {
        while self.kept_count > 0 {
            unmap(&self.forget(0));
        }
    }
}
