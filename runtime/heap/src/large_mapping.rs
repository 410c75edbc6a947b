//! Mappings of blocks that are mapped on their own: how they are made, where in them the block
//! begins, how they move, and how they are given back.

use super::memory::count_mapped;
use super::random::Random;
use szc_sys::os::{self, PAGE_BYTES};

/// Grain of colours: a cache line.
pub const LINE_BYTES: usize = 64;
/// Largest block whose mapping is cached.
pub const MAX_CACHED_BYTES: usize = 32 << 20;
/// Entries of the first table of mappings.
pub const FIRST_ENTRIES: usize = 128;
/// One of so many uses of a mapping that has not moved yet moves it.
const MOVED_ONE_IN: u32 = 8;
/// Room in which a block begins at random: what address bits 6 to 17 tell apart.
const COLOUR_BYTES: usize = 256 << 10;
/// The same where the process has a limit, of which the room would take a large part.
const COLOUR_BYTES_IF_LIMITED: usize = PAGE_BYTES;

/// A block and its mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Mapping {
    /// Address of the block; 0: no entry.
    pub block: usize,
    /// Bytes that the program asked for.
    pub asked: usize,
    /// The most that a block of this mapping was asked for with: those that may have memory.
    pub bytes: usize,
    /// Its mapping.
    pub start: usize,
    /// Bytes of the mapping.
    pub length: usize,
    /// Times that its memory moved to other addresses.
    pub moves: u32,
}

impl Mapping {
    /// No block.
    pub const NONE: Self = Self { block: 0, asked: 0, bytes: 0, start: 0, length: 0, moves: 0 };

    /// Bytes that the block may use: those that may have memory, to the end of a page. What lies
    /// behind them in the mapping is not promised, so that a block that moves has nothing there.
    pub fn usable(&self) -> usize {
        let end = (self.block + self.bytes).next_multiple_of(PAGE_BYTES);
        (end - self.block).min(self.room())
    }

    /// Bytes from the block's beginning to the end of the mapping.
    pub fn room(&self) -> usize {
        self.start + self.length - self.block
    }

    /// Bytes that may have memory and were not asked for.
    pub fn slack(&self) -> usize {
        self.bytes - self.asked
    }

    /// Address of the page in which the block begins.
    fn page(&self) -> usize {
        self.block & !(PAGE_BYTES - 1)
    }

    /// Whether a block of so many bytes fits, wherever in its first page it begins.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        let room = self.start + self.length - self.page();
        bytes.saturating_add(PAGE_BYTES) <= room
    }

    /// The same mapping for another block, so far into its first page. What was touched stays so,
    /// and counts as long as the mapping lives.
    pub fn serving(self, bytes: usize, into_page: usize) -> Self {
        Self { block: self.page() + into_page, asked: bytes, bytes: self.bytes.max(bytes), ..self }
    }

    /// Whether its memory is to move to other addresses before another block uses it, so that
    /// colours of pages change, too: one time in eight at first, then ever more rarely. Among `n`
    /// uses are some `√(2n)` moves, because a move takes four system calls and as many page table
    /// entries as the block has pages, and a program that frees and allocates such a block all the
    /// time would do little else.
    pub fn is_to_move(&self, random: &mut Random) -> bool {
        random.below(MOVED_ONE_IN.saturating_add(self.moves)) == 0
    }

    /// Whether the block may stay where it is with so many bytes: there is room, and if it becomes
    /// smaller, it needs at least half of the memory.
    pub fn suits(&self, bytes: usize) -> bool {
        bytes <= self.room() && (bytes >= self.asked || self.bytes / 2 <= bytes)
    }
}

/// Room for the colour of a block that is mapped now: all of it, or little if the address space or
/// the data of the process have a limit.
fn colour_bytes() -> usize {
    if os::memory_is_limited() { COLOUR_BYTES_IF_LIMITED } else { COLOUR_BYTES }
}

/// Bytes of a mapping for a block, its colour included.
pub fn room_for(bytes: usize, alignment: usize) -> Option<usize> {
    let room = least_room(bytes, alignment)?.checked_add(PAGE_BYTES)?;
    Some(room.checked_add(colour_bytes())? & !(PAGE_BYTES - 1))
}

/// The same without a colour, not yet rounded up to pages.
fn least_room(bytes: usize, alignment: usize) -> Option<usize> {
    let extra = if alignment > PAGE_BYTES { alignment } else { 0 };
    bytes.checked_add(extra)
}

/// A block of a random colour in a mapping of at least [`room_for`] bytes.
pub fn placed(
    start: usize,
    length: usize,
    bytes: usize,
    alignment: usize,
    random: &mut Random,
) -> Mapping {
    let grain = alignment.max(LINE_BYTES);
    let left = length.saturating_sub(least_room(bytes, alignment).unwrap_or(length));
    let colours = (left.min(COLOUR_BYTES) / grain).max(1);
    let colour = random.below(colours as u32) * grain;
    Mapping {
        block: start.next_multiple_of(alignment) + colour,
        asked: bytes,
        bytes,
        start,
        length,
        moves: 0,
    }
}

/// A block in a mapping of its own.
pub fn map(bytes: usize, alignment: usize, random: &mut Random) -> Option<Mapping> {
    let wanted = room_for(bytes, alignment)?;
    if let Ok(start) = os::map_accounted(wanted) {
        count_mapped(wanted);
        return Some(placed(start.expose_provenance(), wanted, bytes, alignment, random));
    }
    if bytes <= MAX_CACHED_BYTES {
        // Not because the block alone is too large: from now on there is to be less room around
        // others.
        os::memory_ran_out();
    }
    // Little address space is left: without a colour rather than not at all.
    let least = least_room(bytes, alignment)?.checked_next_multiple_of(PAGE_BYTES)?;
    let start = os::map_accounted(least).ok()?.expose_provenance();
    count_mapped(least);
    Some(Mapping {
        block: start.next_multiple_of(alignment),
        asked: bytes,
        bytes,
        start,
        length: least,
        moves: 0,
    })
}

/// A mapping with its memory at other addresses, so that all index bits of its pages are random
/// once more, and no page has to be made: a fault costs several times what moving one does. Where
/// it was, if addresses are limited or the kernel cannot.
pub fn elsewhere(entry: Mapping, random: &mut Random) -> Mapping {
    let pages = random.below((COLOUR_BYTES / PAGE_BYTES) as u32);
    let (before, room) = (pages * PAGE_BYTES, entry.length + COLOUR_BYTES);
    if os::memory_is_limited() {
        return entry;
    }
    let Ok(around) = os::map_inaccessible(room) else { return entry };
    let from = core::ptr::with_exposed_provenance_mut(entry.start);
    let start = around.expose_provenance() + before;
    // SAFETY: the entry is in no table, so nobody uses its mapping; the other was made a moment
    // ago. What lies on both sides of the new place stays nobody's. The place itself is left alone
    // if the kernel refuses: it may have taken away what was there before it did, and another
    // thread's mapping may be there by now.
    let moved = unsafe {
        let moved = os::remap_to(from, entry.length, entry.length, start);
        if before > 0 {
            os::unmap(around, before);
        }
        os::unmap(around.add(before + entry.length), room - before - entry.length);
        moved
    };
    match moved {
        Ok(_) => {
            let moves = entry.moves.saturating_add(1);
            Mapping { block: start + (entry.block - entry.start), start, moves, ..entry }
        }
        Err(_) => entry,
    }
}

/// Gives a mapping back; false if the kernel cannot.
pub fn unmap(entry: &Mapping) -> bool {
    let start = core::ptr::with_exposed_provenance_mut(entry.start);
    // SAFETY: the mapping belongs to the entry, which left the table.
    unsafe { os::try_unmap(start, entry.length).is_ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_mapping_that_moves_keeps_its_memory_and_its_line_and_changes_its_pages() {
        let (bytes, mut random) = (100_000, Random::new(7));
        let mut entry = map(bytes, 16, &mut random).unwrap();
        let block = |entry: &Mapping| core::ptr::with_exposed_provenance_mut::<u8>(entry.block);
        // SAFETY: the block has so many bytes.
        unsafe { block(&entry).write_bytes(0x5a, bytes) };
        let mut colours = BTreeSet::new();
        for _ in 0..400 {
            let before = entry;
            entry = elsewhere(entry, &mut random);
            assert_ne!(entry.start, before.start);
            assert_eq!(entry.block - entry.start, before.block - before.start);
            assert_eq!(entry.moves, before.moves + 1);
            let moved_back =
                Mapping { start: before.start, block: before.block, moves: before.moves, ..entry };
            assert_eq!(moved_back, before);
            // SAFETY: as above.
            let contents = unsafe { core::slice::from_raw_parts(block(&entry), bytes) };
            assert!(contents.iter().all(|&byte| byte == 0x5a));
            colours.insert(entry.start / PAGE_BYTES % (COLOUR_BYTES / PAGE_BYTES));
        }
        // Of 64, one is missing with a chance of 64 · (63/64)^400, a tenth.
        assert!(colours.len() >= 60, "{}", colours.len());
        assert!(unmap(&entry));
    }

    #[test]
    fn moves_become_rarer_with_the_square_root_of_uses() {
        for (uses, least, most) in [(8, 0, 5), (100, 3, 20), (10_000, 90, 190)] {
            let mut random = Random::new(11);
            let mut entry = Mapping::NONE;
            for _ in 0..uses {
                entry.moves += u32::from(entry.is_to_move(&mut random));
            }
            // √(64 + 2n) − 8 of n.
            assert!((least..=most).contains(&entry.moves), "{} of {uses}", entry.moves);
        }
    }
}
