//! How a profile lies in its words: a header, the subpaths that are under way and their blocks, the
//! entries of the list, an index of them by hash, and the blocks of the entries.

/// Longest subpath that a profile can have.
pub const MAX_LENGTH: u32 = 1 << 16;

/// Smallest mean number of blocks from one beginning of a subpath to the next.
pub const MIN_SPACING: u32 = 128;

/// A block of a window begins a subpath with the probability 1 / this. With more beginnings counts
/// of loops would vary more, with fewer most windows would be opened for nothing.
pub const STARTS: u32 = 4;

/// Subpaths that can be under way at the same time.
pub(crate) const MAX_PENDING: usize = 32;

/// Words of the header, by name.
pub(crate) mod word {
    pub const MAGIC: usize = 0;
    pub const LOG_LENGTH: usize = 1;
    pub const IS_EXACT: usize = 2;
    /// Mean number of blocks from one beginning to the next.
    pub const SPACING: usize = 3;
    /// Blocks executed: a number of 64 bits.
    pub const BLOCKS: usize = 4;
    /// State of the generator: a number of 64 bits.
    pub const RANDOM: usize = 6;
    /// Subpaths that are under way.
    pub const PENDING_COUNT: usize = 8;
    /// Blocks that are there of them.
    pub const GATHERED: usize = 9;
    /// Checks from the last that was noted to the next.
    pub const ARMED: usize = 10;
    pub const ENTRIES: usize = 11;
    /// Words of the entries' blocks.
    pub const USED: usize = 12;
    /// Subpaths for which there was no room.
    pub const LOST: usize = 13;
    /// How often the list was full.
    pub const THINNED: usize = 14;
    /// Checks to the one that opens the next window.
    pub const GAP: usize = 15;
    /// A window is open.
    pub const IS_OPEN: usize = 16;
    /// Words of the header.
    pub const HEADER_WORDS: usize = 18;
}

/// What a profile begins with.
pub(crate) const MAGIC: u32 = 0x7a63_7031;

/// Words of an entry of the list: hash, count, offset of its blocks, length and whether it is a
/// loop.
pub(crate) const ENTRY_WORDS: usize = 5;

/// How subpaths are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A random sample of them, the first with this mean number of blocks from one beginning to the
    /// next.
    Sampled {
        /// At least [`MIN_SPACING`].
        spacing: u32,
    },
    /// All of each length at each block, as long as there is room.
    Exact,
}

/// What a profile is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Words of memory.
    pub words: usize,
    /// Length of the longest subpaths, a power of two from 2 to [`MAX_LENGTH`].
    pub length: u32,
    /// How subpaths are counted.
    pub mode: Mode,
}

/// The memory is too small for subpaths of that length, or a number is not what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall;

/// Where the parts of the list lie, in words from its start; the entries come first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub max_entries: usize,
    pub index: usize,
    /// A power of two.
    pub index_words: usize,
    pub blocks: usize,
    pub end: usize,
}

/// Where start and length of each subpath under way lie; starts are those in the buffer.
pub(crate) const PENDING: usize = word::HEADER_WORDS;

/// Where the blocks of subpaths under way lie.
pub(crate) const BUFFER: usize = PENDING + 2 * MAX_PENDING;

/// How many there may be.
pub(crate) fn buffer_words(length: u32, is_exact: bool) -> usize {
    length as usize * if is_exact { 4 } else { 2 }
}

/// Where the list lies in a profile.
pub(crate) fn list_at(length: u32, is_exact: bool) -> usize {
    BUFFER + buffer_words(length, is_exact)
}

impl Parts {
    /// Those of a profile of so many words.
    pub fn of(words: usize, length: u32, is_exact: bool) -> Self {
        let room = words.saturating_sub(list_at(length, is_exact));
        // A third for entries, a sixth to a third for the index, the rest for blocks.
        let max_entries = room / (3 * ENTRY_WORDS);
        let index_words = (2 * max_entries).next_power_of_two();
        let index = max_entries * ENTRY_WORDS;
        Self { max_entries, index, index_words, blocks: index + index_words, end: room }
    }
}

/// Words for a profile of so many KiB.
#[must_use]
pub fn words_of(memory_kib: u32) -> usize {
    memory_kib as usize * (1024 / size_of::<u32>())
}

/// What a subpath of that length counts for, if all lengths are drawn that a profile has: the
/// length 2^n has probability 2^−n, and the longest what is left.
#[must_use]
pub fn inverse_probability(length: u32, longest: u32) -> u32 {
    if length >= longest { (longest / 2).max(1) } else { length }
}

impl Default for Shape {
    fn default() -> Self {
        Self { words: words_of(64), length: 64, mode: Mode::Sampled { spacing: 4096 } }
    }
}

impl Shape {
    /// Whether there is such a profile.
    #[must_use]
    pub fn fits(self) -> bool {
        self.parts().is_ok()
    }

    /// Where its parts lie.
    ///
    /// # Errors
    /// There is no such profile.
    pub(crate) fn parts(self) -> Result<Parts, TooSmall> {
        let is_exact = self.mode == Mode::Exact;
        let fits = self.length.is_power_of_two()
            && (2..=MAX_LENGTH).contains(&self.length)
            && self.words < 1 << 30
            && !matches!(self.mode, Mode::Sampled { spacing } if spacing < MIN_SPACING);
        if !fits {
            return Err(TooSmall);
        }
        let parts = Parts::of(self.words, self.length, is_exact);
        // A list that is full must have room again for the longest when it is half empty.
        let has_room = parts.blocks + 2 * self.length as usize <= parts.end;
        if has_room && parts.max_entries >= 16 { Ok(parts) } else { Err(TooSmall) }
    }
}
