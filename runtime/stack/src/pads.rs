//! Pad tables: each a random order of the numbers 0 to 255, so that in one turn of the index every
//! pad occurs once and the mean pad is the same in every layout.
//!
//! A table is written by the start, then by the maintenance task alone, and read by the padded code
//! of all threads, byte by byte. Nothing makes the one visible to the other: a reader that finds an
//! old byte, or a table of both old and new ones, pads as well.

use core::sync::atomic::{AtomicU64, Ordering};
use szc_abi::stack::{PAD_GRAIN_BYTES, PAD_TABLE_BYTES};
use szc_layout::pads::permutation;
use szc_layout::rng::{Purpose, Stream};
use szc_sys::arch::pads::sections;

/// Words of a table, which is stored word by word.
const TABLE_WORDS: usize = PAD_TABLE_BYTES / size_of::<u64>();

/// One pad table.
pub type Table = [AtomicU64; TABLE_WORDS];

/// The pad tables of an image.
pub struct Tables<'a>(&'a [Table]);

impl Tables<'static> {
    /// The program's: one, or one for each padded function.
    pub fn of_image() -> Self {
        let sections = sections();
        // SAFETY: the linker's bounds of a section of the program, which stays.
        unsafe { Self::between(sections.tables, sections.tables_end) }
    }

    /// Those between two addresses.
    ///
    /// # Safety
    /// The addresses must be the linker's bounds of an image's section of tables, and the image
    /// must stay as long as they are used.
    pub unsafe fn between(first: *mut u8, end: *mut u8) -> Self {
        let bytes = (end as usize).saturating_sub(first as usize);
        if bytes < PAD_TABLE_BYTES || !first.cast::<Table>().is_aligned() {
            return Self(&[]);
        }
        // SAFETY: the caller's promise. The pass aligns tables to a cache line; the runtime reaches
        // them through atomics alone.
        Self(unsafe { core::slice::from_raw_parts(first.cast(), bytes / PAD_TABLE_BYTES) })
    }
}

impl<'a> Tables<'a> {
    /// Wraps tables.
    #[cfg(test)]
    pub fn new(tables: &'a [Table]) -> Self {
        Self(tables)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts the tables of an epoch in place, which depend on seed, epoch and the number of tables
    /// alone.
    pub fn fill(&self, seed: u64, epoch: u64) {
        let mut stream = Stream::of(Purpose::Pads, seed, epoch);
        for table in self.0 {
            store(table, &permutation(&mut stream));
        }
    }

    /// Mean of all entries, in bytes of pad.
    pub fn mean_bytes(&self) -> u64 {
        let entries = (self.0.len() * PAD_TABLE_BYTES) as u64;
        let mut sum = 0;
        for word in self.0.iter().flatten() {
            // Relaxed: the sum only has to be of numbers that were there.
            for entry in word.load(Ordering::Relaxed).to_le_bytes() {
                sum += u64::from(entry);
            }
        }
        (sum * u64::from(PAD_GRAIN_BYTES)).checked_div(entries).unwrap_or(0)
    }
}

/// Relaxed: see the top of this file.
fn store(table: &Table, entries: &[u8; PAD_TABLE_BYTES]) {
    for (word, bytes) in table.iter().zip(entries.as_chunks().0) {
        word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(count: usize) -> Vec<Table> {
        (0..count).map(|_| Table::default()).collect()
    }

    fn entries(tables: &[Table]) -> Vec<u8> {
        tables
            .iter()
            .flatten()
            .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
            .collect()
    }

    #[test]
    fn every_table_has_every_pad_once_and_so_a_mean_of_2040_bytes() {
        let memory = tables(5);
        Tables::new(&memory).fill(3, 8);
        for table in &memory {
            let mut entries = entries(core::slice::from_ref(table));
            entries.sort_unstable();
            assert!(entries.iter().copied().eq(0..=255));
        }
        assert_eq!(Tables::new(&memory).mean_bytes(), 2040);
        assert_eq!(Tables::new(&[]).mean_bytes(), 0);
    }

    #[test]
    fn tables_depend_on_seed_and_epoch_alone() {
        let memory = tables(2);
        let filled = |seed, epoch| {
            Tables::new(&memory).fill(seed, epoch);
            entries(&memory)
        };
        let first = filled(1, 0);
        assert_ne!(first[..256], first[256..]);
        assert_ne!(filled(1, 1), first);
        assert_ne!(filled(2, 0), first);
        assert_eq!(filled(1, 0), first);
    }
}
