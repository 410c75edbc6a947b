//! Mappings without memory: addresses that serve the next block of their size, instead of being
//! unmapped while there are very many.

use super::large_mapping::{FIRST_ENTRIES, Mapping};
use super::memory::map_table;
use core::ops::RangeInclusive;
use szc_sys::os;

/// Mappings that are looked at for a block, the last ones.
const LOOKED_AT: usize = 8;

/// The mappings, in a table that grows.
pub struct Decommitted {
    table: *mut Mapping,
    room: usize,
    count: usize,
}

impl Decommitted {
    /// None.
    pub const fn new() -> Self {
        Self { table: os::null(), room: 0, count: 0 }
    }

    fn all(&self) -> &[Mapping] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: the table is this one's alone, and its first entries are in use.
        unsafe { core::slice::from_raw_parts(self.table, self.count) }
    }

    /// Whether the block of one begins here.
    pub fn has(&self, block: usize) -> bool {
        self.all().iter().any(|entry| entry.block == block)
    }

    /// Takes the last one out.
    pub fn pop(&mut self) -> Option<Mapping> {
        let last = *self.all().last()?;
        self.count -= 1;
        Some(last)
    }

    /// Takes one of the last that has so many bytes.
    pub fn take(&mut self, lengths: RangeInclusive<usize>) -> Option<Mapping> {
        let first = self.count.saturating_sub(LOOKED_AT);
        let fits = |entry: &Mapping| lengths.contains(&entry.length);
        let index = first + self.all()[first..].iter().position(fits)?;
        let found = self.all()[index];
        let last = self.pop()?;
        if index < self.count {
            // SAFETY: below the number of entries.
            unsafe { self.table.add(index).write(last) };
        }
        Some(found)
    }

    /// Adds one; false if there is no memory for its entry.
    pub fn push(&mut self, entry: Mapping) -> bool {
        if self.count == self.room && !self.enlarge() {
            return false;
        }
        // SAFETY: there is room.
        unsafe { self.table.add(self.count).write(entry) };
        self.count += 1;
        true
    }

    fn enlarge(&mut self) -> bool {
        let room = if self.room == 0 { FIRST_ENTRIES } else { self.room * 2 };
        let Some(table) = map_table(room * size_of::<Mapping>()) else { return false };
        let table = table.cast::<Mapping>();
        for (index, &entry) in self.all().iter().enumerate() {
            // SAFETY: the new table has room for more.
            unsafe { table.add(index).write(entry) };
        }
        if self.room > 0 {
            // SAFETY: the old table is this one's alone.
            unsafe { os::unmap(self.table.cast(), self.room * size_of::<Mapping>()) };
        }
        (self.table, self.room) = (table, room);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mappings_serve_blocks_of_their_size_however_many_there_are() {
        let mut mappings = Decommitted::new();
        let one = |block| Mapping { block, length: block * 10, ..Mapping::NONE };
        for block in 1..=3 * FIRST_ENTRIES {
            assert!(mappings.push(one(block)));
        }
        assert!(mappings.has(1) && !mappings.has(3 * FIRST_ENTRIES + 1));
        let last = 3 * FIRST_ENTRIES;
        assert_eq!(mappings.take(10..=10), None, "it is not among the last");
        assert_eq!(mappings.take((last - 2) * 10..=(last - 1) * 10), Some(one(last - 2)));
        assert!(!mappings.has(last - 2));
        assert_eq!([mappings.pop(), mappings.pop()], [Some(one(last - 1)), Some(one(last))]);
    }
}
