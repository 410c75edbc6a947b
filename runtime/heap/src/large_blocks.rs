//! What is known of blocks that are mapped on their own: a table of those in use, a cache of
//! mappings with their memory for the next blocks of about their size, and mappings that are
//! decommitted, which have none.
//!
//! Mappings are decommitted instead of unmapped while there are very many, because a hole between
//! mappings costs the kernel one of a limited number of areas (`vm.max_map_count`), and programs
//! with 100,000 such blocks work with glibc. The lock of [`super::large`] guards all this; nothing
//! here unmaps a block's mapping.

use super::decommitted::Decommitted;
use super::large_mapping::{
    FIRST_ENTRIES, LINE_BYTES, MAX_CACHED_BYTES, Mapping, placed, room_for,
};
use super::memory::map_table;
use super::random::Random;
use szc_sys::os::{self, PAGE_BYTES};

/// Most cached mappings.
const MAX_CACHED: usize = 32;
/// Bytes that may always be cached.
const MIN_CACHE_BYTES: usize = 128 << 10;
/// Bytes of memory that all blocks together may have and not need, because their mappings served
/// larger blocks before: so much, or one part in so many of what is in use.
const SLACK_BYTES: usize = 256 << 10;
const BYTES_PER_SLACK: usize = 16;
/// Bytes that may be copied for each byte of memory that a block gains by that. A page fault costs
/// several times what it costs to copy a page.
const COPIED_PER_GAINED: usize = 2;
/// Most bytes of a block that are copied. Of larger ones perhaps not all has memory, and the kernel
/// moves the pages of those that have.
const MAX_COPIED_BYTES: usize = 1 << 20;
/// Blocks in use above which mappings are decommitted; below half of them, they are unmapped again.
const MANY_BLOCKS: usize = 8192;

/// The blocks, under their lock.
pub struct Blocks {
    /// Linear probing; a power of two of entries, at most half in use.
    table: *mut Mapping,
    entries: usize,
    used: usize,
    /// Cached mappings, oldest first; one more than may stay, so that the newest has a place at
    /// first.
    cached: [Mapping; MAX_CACHED + 1],
    cached_count: usize,
    cached_bytes: usize,
    /// Mappings without memory.
    decommitted: Decommitted,
    /// Bytes in use now, and at most.
    live_bytes: usize,
    peak_bytes: usize,
    /// Sum of [`Mapping::slack`] of those in use.
    slack_bytes: usize,
}

impl Blocks {
    /// No blocks.
    pub const fn new() -> Self {
        Self {
            table: os::null(),
            entries: 0,
            used: 0,
            cached: [Mapping::NONE; MAX_CACHED + 1],
            cached_count: 0,
            cached_bytes: 0,
            decommitted: Decommitted::new(),
            live_bytes: 0,
            peak_bytes: 0,
            slack_bytes: 0,
        }
    }

    /// An entry of the table.
    pub fn at(&self, index: usize) -> Mapping {
        // SAFETY: callers stay below the number of entries.
        unsafe { self.table.add(index).read() }
    }

    fn put(&mut self, index: usize, entry: Mapping) {
        // SAFETY: as `at`.
        unsafe { self.table.add(index).write(entry) };
    }

    fn home(&self, block: usize) -> usize {
        let hash = (block as u64 / LINE_BYTES as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize & (self.entries - 1)
    }

    /// The place of a block's entry.
    pub fn find(&self, block: usize) -> Option<usize> {
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

    /// Enters a block, for which there must be room.
    pub fn enter(&mut self, entry: Mapping) {
        let mut index = self.home(entry.block);
        while self.at(index).block != 0 {
            index = (index + 1) & (self.entries - 1);
        }
        self.put(index, entry);
        self.used += 1;
        self.live_bytes += entry.bytes;
        self.slack_bytes += entry.slack();
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    /// Takes an entry out, and moves those behind it that would not be found over the hole (Knuth,
    /// "The Art of Computer Programming" 3, 6.4, algorithm R).
    pub fn remove(&mut self, block: usize) -> Option<Mapping> {
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
        self.put(hole, Mapping::default());
        self.used -= 1;
        self.live_bytes -= entry.bytes;
        self.slack_bytes -= entry.slack();
        Some(entry)
    }

    /// Makes sure that one more entry fits; false if there is no memory.
    pub fn make_room_for_entry(&mut self) -> bool {
        if (self.used + 1) * 2 <= self.entries {
            return true;
        }
        let entries = if self.entries == 0 { FIRST_ENTRIES } else { self.entries * 2 };
        let Some(table) = map_table(entries * size_of::<Mapping>()) else { return false };
        let (old, count) = (self.table, self.entries);
        (self.table, self.entries) = (table.cast(), entries);
        self.used = 0;
        let (live, slack) = (self.live_bytes, self.slack_bytes);
        for index in 0..count {
            // SAFETY: below the old number of entries.
            let entry = unsafe { old.add(index).read() };
            if entry.block != 0 {
                self.enter(entry);
            }
        }
        (self.live_bytes, self.slack_bytes) = (live, slack);
        if count > 0 {
            // SAFETY: the old table is this one's alone.
            unsafe { os::unmap(old.cast(), count * size_of::<Mapping>()) };
        }
        true
    }

    /// Enters a block after its entry, or another's, left the table a moment ago: there is room,
    /// though the table may be fuller than it should be.
    pub fn enter_again(&mut self, entry: Mapping) {
        if self.make_room_for_entry() || self.used + 1 < self.entries {
            self.enter(entry);
        }
    }

    /// A cached mapping that suits, chosen at random among those that do, for a block that is
    /// not entered yet; it gets another line of its page. One of about the block's size, or else a
    /// larger one: a block that grows then finds the memory that its predecessor had grown to.
    pub fn take_cached(&mut self, bytes: usize, random: &mut Random) -> Option<Mapping> {
        let has_room = |cached: &Mapping| {
            cached.has_room_for(bytes) && bytes <= cached.bytes + cached.bytes / 4
        };
        let left = self.slack_left();
        let is_near = |cached: &Mapping| has_room(cached) && cached.bytes / 2 <= bytes;
        let is_larger =
            |cached: &Mapping| has_room(cached) && cached.bytes.saturating_sub(bytes) <= left;
        let index =
            self.any_cached(is_near, random).or_else(|| self.any_cached(is_larger, random))?;
        let line = random.below((PAGE_BYTES / LINE_BYTES) as u32) * LINE_BYTES;
        Some(self.forget(index).serving(bytes, line))
    }

    /// A mapping for a block that grows beyond the memory it has, if a cached one has all of it
    /// already, and the block is so small that to copy it costs less than the page faults would.
    /// The block keeps its place in a page; it is not entered yet.
    pub fn take_for_growth(
        &mut self,
        grows: &Mapping,
        bytes: usize,
        random: &mut Random,
    ) -> Option<Mapping> {
        let least = grows.bytes + grows.bytes / COPIED_PER_GAINED;
        if grows.bytes > MAX_COPIED_BYTES || bytes < least {
            return None;
        }
        let left = self.slack_left();
        let has_memory = |cached: &Mapping| {
            cached.has_room_for(bytes)
                && (bytes..=bytes.saturating_add(left)).contains(&cached.bytes)
        };
        let index = self.any_cached(has_memory, random)?;
        Some(self.forget(index).serving(bytes, grows.block % PAGE_BYTES))
    }

    /// Bytes that blocks may have yet and not need.
    fn slack_left(&self) -> usize {
        SLACK_BYTES.max(self.live_bytes / BYTES_PER_SLACK).saturating_sub(self.slack_bytes)
    }

    /// A cached mapping that suits, each with the same probability.
    fn any_cached(&self, suits: impl Fn(&Mapping) -> bool, random: &mut Random) -> Option<usize> {
        let suitable = || (0..self.cached_count).filter(|&index| suits(&self.cached[index]));
        let count = suitable().count();
        if count == 0 {
            return None;
        }
        suitable().nth(random.below(count as u32))
    }

    fn forget(&mut self, index: usize) -> Mapping {
        let entry = self.cached[index];
        for later in index + 1..self.cached_count {
            self.cached[later - 1] = self.cached[later];
        }
        self.cached_count -= 1;
        self.cached_bytes -= entry.bytes;
        entry
    }

    /// Whether no block is in use, and none is counted.
    #[cfg(test)]
    pub fn has_none_in_use(&self) -> bool {
        let bytes: usize = self.cached[..self.cached_count].iter().map(|cached| cached.bytes).sum();
        (self.used, self.live_bytes, self.slack_bytes) == (0, 0, 0) && bytes == self.cached_bytes
    }

    /// Whether the block of a cached or decommitted mapping begins here.
    pub fn is_cached(&self, block: usize) -> bool {
        self.cached[..self.cached_count].iter().any(|cached| cached.block == block)
            || self.decommitted.has(block)
    }

    /// Bytes that may be cached beside `more` in use: what is not in use of the most ever, and an
    /// eighth of that.
    fn allowance(&self, more: usize) -> usize {
        let most = self.peak_bytes + self.peak_bytes / 8;
        most.saturating_sub(self.live_bytes + more).max(MIN_CACHE_BYTES)
    }

    /// Caches a mapping; false if it is too large for that.
    pub fn cache(&mut self, entry: Mapping) -> bool {
        let fits = entry.bytes <= MAX_CACHED_BYTES
            && entry.bytes <= self.allowance(0)
            && self.cached_count < self.cached.len();
        if fits {
            self.cached[self.cached_count] = entry;
            self.cached_count += 1;
            self.cached_bytes += entry.bytes;
        }
        fits
    }

    /// A mapping that may not stay cached, because there are too many, or `more` bytes come
    /// into use.
    pub fn surplus(&mut self, more: usize) -> Option<Mapping> {
        let many = self.cached_count > MAX_CACHED || self.cached_bytes > self.allowance(more);
        (many && self.cached_count > 0).then(|| self.forget(0))
    }

    /// The mapping that has been cached longest.
    pub fn oldest_cached(&mut self) -> Option<Mapping> {
        (self.cached_count > 0).then(|| self.forget(0))
    }

    /// Any cached or decommitted mapping; the first kind still has memory.
    pub fn any_cached_or_decommitted(&mut self) -> Option<(Mapping, bool)> {
        match self.oldest_cached() {
            Some(entry) => Some((entry, true)),
            None => self.decommitted.pop().map(|entry| (entry, false)),
        }
    }

    /// Whether mappings are to be decommitted rather than unmapped.
    pub fn are_many(&self) -> bool {
        self.used >= MANY_BLOCKS
    }

    /// A decommitted mapping that may be unmapped, because there are few blocks again.
    pub fn superfluous(&mut self) -> Option<Mapping> {
        if self.used < MANY_BLOCKS / 2 { self.decommitted.pop() } else { None }
    }

    /// Keeps a mapping without memory; false if there is no room for its entry.
    pub fn decommit(&mut self, entry: Mapping) -> bool {
        self.decommitted.push(entry)
    }

    /// A decommitted mapping for a block, which is entered.
    pub fn recommit(
        &mut self,
        bytes: usize,
        alignment: usize,
        random: &mut Random,
    ) -> Option<Mapping> {
        let wanted = room_for(bytes, alignment)?;
        let Mapping { start, length, .. } = self.decommitted.take(wanted..=2 * wanted)?;
        let entry = placed(start, length, bytes, alignment, random);
        self.enter(entry);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(block: usize, bytes: usize) -> Mapping {
        let length = bytes + (256 << 10);
        Mapping { block, asked: bytes, bytes, start: block, length, ..Mapping::NONE }
    }

    /// A new block takes over the mapping of one that was freed.
    fn follow(blocks: &mut Blocks, number: usize, before: usize, bytes: usize) -> Option<Mapping> {
        assert!(blocks.make_room_for_entry());
        let at = (number + 1) << 30;
        blocks.enter(entry(at, before));
        let freed = blocks.remove(at).expect("it was entered a moment ago");
        assert!(blocks.cache(freed));
        let found = blocks.take_cached(bytes, &mut Random::new(number as u64))?;
        blocks.enter(found);
        Some(found)
    }

    #[test]
    fn a_block_finds_the_memory_that_its_predecessor_had_grown_to() {
        let mut blocks = Blocks::new();
        let found = follow(&mut blocks, 0, 120 << 10, 20 << 10).expect("the larger mapping");
        assert_eq!((found.asked, found.bytes), (20 << 10, 120 << 10));
        assert!(found.suits(120 << 10) && found.usable() >= 120 << 10);
        assert_eq!(blocks.slack_bytes, 100 << 10);
    }

    #[test]
    fn memory_that_no_block_needs_stays_within_its_limit() {
        let mut blocks = Blocks::new();
        let mut fresh = 0;
        for number in 0..100 {
            if follow(&mut blocks, number, 120 << 10, 20 << 10).is_none() {
                fresh += 1;
                assert!(blocks.oldest_cached().is_some());
            }
            assert!(blocks.slack_bytes <= SLACK_BYTES.max(blocks.live_bytes / BYTES_PER_SLACK));
        }
        assert!(fresh > 90, "{fresh}");
    }
}
