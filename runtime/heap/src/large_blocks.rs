//! What is known of blocks that are mapped on their own: a table of those in use, mappings that
//! wait with their memory for the next block of about their size, and mappings that are parked
//! without memory.
//!
//! Mappings are parked instead of unmapped while there are very many, because a hole between
//! mappings costs the kernel one of a limited number of areas (`vm.max_map_count`), and programs
//! with 100,000 such blocks work with glibc. The lock of [`super::large`] guards all this; nothing
//! here unmaps a block's mapping.

use super::large::{Entry, KEPT_BLOCK_BYTES, LINE_BYTES};
use super::large_mapping::{placed, room_for};
use super::memory::map_table;
use super::random::Random;
use szc_sys::os::{self, PAGE_BYTES};

/// Most mappings that wait.
const KEPT: usize = 32;
/// Bytes that may always wait.
const KEPT_LEAST_BYTES: usize = 128 << 10;
/// Bytes of memory that all blocks together may have and not need, because their mappings served
/// larger blocks before: so much, or one part in so many of what is in use.
const SLACK_BYTES: usize = 256 << 10;
const BYTES_PER_SLACK: usize = 16;
/// Bytes that may be copied for each byte of memory that a block gains by that. A page fault costs
/// several times what it costs to copy a page.
const COPIED_PER_GAINED: usize = 2;
/// Most bytes of a block that are copied. Of larger ones perhaps not all has memory, and the kernel
/// moves the pages of those that have.
const MOST_COPIED_BYTES: usize = 1 << 20;
/// Entries of the first table.
const FIRST_ENTRIES: usize = 128;
/// Blocks in use above which mappings are parked; below half of them parked ones are unmapped.
const MANY_BLOCKS: usize = 8192;
/// Parked mappings that are looked at for a block.
const LOOKED_AT: usize = 8;

/// The blocks, under their lock.
pub struct Blocks {
    /// Linear probing; a power of two of entries, at most half in use.
    table: *mut Entry,
    entries: usize,
    used: usize,
    /// Mappings that wait, oldest first; one more than may wait, so that the newest has a place at
    /// first.
    kept: [Entry; KEPT + 1],
    kept_count: usize,
    kept_bytes: usize,
    /// Mappings without memory, in a table of their own.
    parked: *mut Entry,
    parked_room: usize,
    parked_count: usize,
    /// Bytes in use now, and at most.
    live_bytes: usize,
    peak_bytes: usize,
    /// Sum of [`Entry::slack`] of those in use.
    slack_bytes: usize,
}

impl Blocks {
    /// No blocks.
    pub const fn new() -> Self {
        Self {
            table: os::null(),
            entries: 0,
            used: 0,
            kept: [Entry::NONE; KEPT + 1],
            kept_count: 0,
            kept_bytes: 0,
            parked: os::null(),
            parked_room: 0,
            parked_count: 0,
            live_bytes: 0,
            peak_bytes: 0,
            slack_bytes: 0,
        }
    }

    /// An entry of the table.
    pub fn at(&self, index: usize) -> Entry {
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
    pub fn enter(&mut self, entry: Entry) {
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
    pub fn remove(&mut self, block: usize) -> Option<Entry> {
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
        self.slack_bytes -= entry.slack();
        Some(entry)
    }

    /// Makes sure that one more entry fits; false if there is no memory.
    pub fn make_room_for_entry(&mut self) -> bool {
        if (self.used + 1) * 2 <= self.entries {
            return true;
        }
        let entries = if self.entries == 0 { FIRST_ENTRIES } else { self.entries * 2 };
        let Some(table) = map_table(entries * size_of::<Entry>()) else { return false };
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
            unsafe { os::unmap(old.cast(), count * size_of::<Entry>()) };
        }
        true
    }

    /// Enters a block after its entry, or another's, left the table a moment ago: there is room,
    /// though the table may be fuller than it should be.
    pub fn enter_again(&mut self, entry: Entry) {
        if self.make_room_for_entry() || self.used + 1 < self.entries {
            self.enter(entry);
        }
    }

    /// A mapping that waits and suits, chosen at random among those that do, for a block that is
    /// not entered yet; it gets another line of its page. One of about the block's size, or else a
    /// larger one: a block that grows then finds the memory that its predecessor had grown to.
    pub fn take_waiting(&mut self, bytes: usize, random: &mut Random) -> Option<Entry> {
        let has_room =
            |kept: &Entry| kept.has_room_for(bytes) && bytes <= kept.bytes + kept.bytes / 4;
        let left = self.slack_left();
        let is_near = |kept: &Entry| has_room(kept) && kept.bytes / 2 <= bytes;
        let is_larger = |kept: &Entry| has_room(kept) && kept.bytes.saturating_sub(bytes) <= left;
        let index = self.any_kept(is_near, random).or_else(|| self.any_kept(is_larger, random))?;
        let line = random.below((PAGE_BYTES / LINE_BYTES) as u32) * LINE_BYTES;
        Some(self.forget(index).serving(bytes, line))
    }

    /// A mapping for a block that grows beyond the memory it has, if one waits that has all of it
    /// already, and the block is so small that to copy it costs less than the page faults would.
    /// The block keeps its place in a page; it is not entered yet.
    pub fn take_for_growth(
        &mut self,
        grows: &Entry,
        bytes: usize,
        random: &mut Random,
    ) -> Option<Entry> {
        let least = grows.bytes + grows.bytes / COPIED_PER_GAINED;
        if grows.bytes > MOST_COPIED_BYTES || bytes < least {
            return None;
        }
        let left = self.slack_left();
        let has_memory = |kept: &Entry| {
            kept.has_room_for(bytes) && (bytes..=bytes.saturating_add(left)).contains(&kept.bytes)
        };
        let index = self.any_kept(has_memory, random)?;
        Some(self.forget(index).serving(bytes, grows.block % PAGE_BYTES))
    }

    /// Bytes that blocks may have yet and not need.
    fn slack_left(&self) -> usize {
        SLACK_BYTES.max(self.live_bytes / BYTES_PER_SLACK).saturating_sub(self.slack_bytes)
    }

    /// A mapping that waits and suits, each with the same probability.
    fn any_kept(&self, suits: impl Fn(&Entry) -> bool, random: &mut Random) -> Option<usize> {
        let suitable = || (0..self.kept_count).filter(|&index| suits(&self.kept[index]));
        let count = suitable().count();
        if count == 0 {
            return None;
        }
        suitable().nth(random.below(count as u32))
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

    /// Whether no block is in use, and none is counted.
    #[cfg(test)]
    pub fn has_none_in_use(&self) -> bool {
        let kept: usize = self.kept[..self.kept_count].iter().map(|kept| kept.bytes).sum();
        (self.used, self.live_bytes, self.slack_bytes) == (0, 0, 0) && kept == self.kept_bytes
    }

    /// Whether the block of a mapping that waits begins here.
    pub fn waits(&self, block: usize) -> bool {
        self.kept[..self.kept_count].iter().any(|kept| kept.block == block)
            || (0..self.parked_count).any(|index| self.parked_at(index).block == block)
    }

    /// Bytes that may wait beside `more` in use: what is not in use of the most ever, and an eighth
    /// of that.
    fn allowance(&self, more: usize) -> usize {
        let most = self.peak_bytes + self.peak_bytes / 8;
        most.saturating_sub(self.live_bytes + more).max(KEPT_LEAST_BYTES)
    }

    /// Lets a mapping wait; false if it is too large for that.
    pub fn keep(&mut self, entry: Entry) -> bool {
        let waits = entry.bytes <= KEPT_BLOCK_BYTES
            && entry.bytes <= self.allowance(0)
            && self.kept_count < self.kept.len();
        if waits {
            self.kept[self.kept_count] = entry;
            self.kept_count += 1;
            self.kept_bytes += entry.bytes;
        }
        waits
    }

    /// A mapping that may not wait any longer, because there are too many, or `more` bytes come
    /// into use.
    pub fn surplus(&mut self, more: usize) -> Option<Entry> {
        let many = self.kept_count > KEPT || self.kept_bytes > self.allowance(more);
        (many && self.kept_count > 0).then(|| self.forget(0))
    }

    /// The mapping that has waited longest.
    pub fn oldest_waiting(&mut self) -> Option<Entry> {
        (self.kept_count > 0).then(|| self.forget(0))
    }

    /// Any mapping that waits or is parked; the first kind still has memory.
    pub fn any_waiting(&mut self) -> Option<(Entry, bool)> {
        match self.oldest_waiting() {
            Some(entry) => Some((entry, true)),
            None => self.last_parked().map(|entry| (entry, false)),
        }
    }

    /// Whether mappings are to be parked rather than unmapped.
    pub fn are_many(&self) -> bool {
        self.used >= MANY_BLOCKS
    }

    /// A parked mapping that may be unmapped, because there are few blocks again.
    pub fn superfluous(&mut self) -> Option<Entry> {
        if self.used < MANY_BLOCKS / 2 { self.last_parked() } else { None }
    }

    fn parked_at(&self, index: usize) -> Entry {
        // SAFETY: callers stay below the number of parked mappings.
        unsafe { self.parked.add(index).read() }
    }

    fn last_parked(&mut self) -> Option<Entry> {
        self.parked_count = self.parked_count.checked_sub(1)?;
        Some(self.parked_at(self.parked_count))
    }

    /// Parks a mapping without memory; false if there is no room for its entry.
    pub fn park(&mut self, entry: Entry) -> bool {
        if self.parked_count == self.parked_room {
            let room = if self.parked_room == 0 { FIRST_ENTRIES } else { self.parked_room * 2 };
            let Some(table) = map_table(room * size_of::<Entry>()) else { return false };
            let table = table.cast::<Entry>();
            for index in 0..self.parked_count {
                // SAFETY: the new table has room for more.
                unsafe { table.add(index).write(self.parked_at(index)) };
            }
            if self.parked_room > 0 {
                // SAFETY: the old table is this one's alone.
                unsafe { os::unmap(self.parked.cast(), self.parked_room * size_of::<Entry>()) };
            }
            (self.parked, self.parked_room) = (table, room);
        }
        // SAFETY: there is room.
        unsafe { self.parked.add(self.parked_count).write(entry) };
        self.parked_count += 1;
        true
    }

    /// A parked mapping for a block.
    pub fn unpark(&mut self, bytes: usize, alignment: usize, random: &mut Random) -> Option<Entry> {
        let wanted = room_for(bytes, alignment)?;
        let first = self.parked_count.saturating_sub(LOOKED_AT);
        let index = (first..self.parked_count)
            .find(|&index| (wanted..=2 * wanted).contains(&self.parked_at(index).length))?;
        let Entry { start, length, .. } = self.parked_at(index);
        let last = self.last_parked()?;
        if index < self.parked_count {
            // SAFETY: below the number of parked mappings.
            unsafe { self.parked.add(index).write(last) };
        }
        let entry = placed(start, length, bytes, alignment, random);
        self.enter(entry);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(block: usize, bytes: usize) -> Entry {
        Entry { block, asked: bytes, bytes, start: block, length: bytes + (256 << 10) }
    }

    /// A new block takes over the mapping of one that was freed.
    fn follow(blocks: &mut Blocks, number: usize, before: usize, bytes: usize) -> Option<Entry> {
        assert!(blocks.make_room_for_entry());
        let at = (number + 1) << 30;
        blocks.enter(entry(at, before));
        let freed = blocks.remove(at).expect("it was entered a moment ago");
        assert!(blocks.keep(freed));
        let found = blocks.take_waiting(bytes, &mut Random::new(number as u64))?;
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
                assert!(blocks.oldest_waiting().is_some());
            }
            assert!(blocks.slack_bytes <= SLACK_BYTES.max(blocks.live_bytes / BYTES_PER_SLACK));
        }
        assert!(fresh > 90, "{fresh}");
    }
}
