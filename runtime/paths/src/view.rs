//! A profile as others read it: while it is written, or from a file.

use crate::hot_list::get_u64;
use crate::shape::{ENTRY_WORDS, MAGIC, MAX_LENGTH, Parts, list_at, word};

/// A subpath of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subpath<'a> {
    /// Its blocks.
    pub blocks: &'a [u32],
    /// Its first block comes again behind the last one; which of its blocks is the first says
    /// nothing.
    pub is_loop: bool,
    /// How often the sample has it.
    pub count: u32,
}

/// A profile that is read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    header: &'a [u32],
    list: &'a [u32],
    parts: Parts,
}

impl<'a> View<'a> {
    /// The profile that lies in words; nothing if it is none.
    #[must_use]
    pub fn of(words: &'a [u32]) -> Option<Self> {
        let log = *words.get(word::LOG_LENGTH)?;
        let is_exact = *words.get(word::IS_EXACT)? != 0;
        if words[word::MAGIC] != MAGIC || log > MAX_LENGTH.trailing_zeros() {
            return None;
        }
        let (header, list) = words.split_at_checked(list_at(1 << log, is_exact))?;
        let parts = Parts::of(words.len(), 1 << log, is_exact);
        let view = Self { header, list, parts };
        let entries = view.header[word::ENTRIES] as usize;
        (entries <= parts.max_entries && parts.blocks <= list.len()).then_some(view)
    }

    /// Blocks that the thread has executed: those of windows, each for as many as it stands for.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        get_u64(self.header, word::BLOCKS)
    }

    /// Mean number of blocks from one beginning of a subpath to the next; 1 if all are counted.
    #[must_use]
    pub fn spacing(&self) -> u32 {
        self.header[word::SPACING]
    }

    /// Whether all subpaths were counted.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.header[word::IS_EXACT] != 0
    }

    /// Length of the longest subpaths.
    #[must_use]
    pub fn longest(&self) -> u32 {
        1 << self.header[word::LOG_LENGTH]
    }

    /// Subpaths for which there was no room: if any, an exact profile is none. A sample has such
    /// ones only if very many were under way at a time.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.header[word::LOST]
    }

    /// How often the list was full.
    #[must_use]
    pub fn thinned(&self) -> u32 {
        self.header[word::THINNED]
    }

    /// The subpaths of the list.
    pub fn subpaths(&self) -> impl Iterator<Item = Subpath<'a>> + use<'a> {
        let (list, parts) = (self.list, self.parts);
        let entries = list.as_chunks::<ENTRY_WORDS>().0;
        let entries = entries.iter().take(self.header[word::ENTRIES] as usize);
        entries.filter_map(move |&[_, _, count, offset, kind]| {
            let start = parts.blocks + offset as usize;
            let blocks = list.get(start..start.checked_add((kind >> 1) as usize)?)?;
            let is_loop = kind & 1 != 0;
            (!blocks.is_empty()).then_some(Subpath { blocks, is_loop, count })
        })
    }
}
