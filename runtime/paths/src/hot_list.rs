//! The list of subpaths, a concise sample: each that is in it once, with its count. When it is
//! full, each subpath that it stands for is kept with probability ½.

use crate::identity::Canonical;
use crate::random;
use crate::shape::{BUFFER, ENTRY_WORDS, Parts, list_at, word};

/// How often the list may be halved to make room for one subpath.
const MAX_HALVINGS: u32 = 64;

/// The list in the words of a profile.
pub(crate) struct HotList<'a> {
    /// The profile's.
    pub header: &'a mut [u32],
    words: &'a mut [u32],
    parts: Parts,
}

impl<'a> HotList<'a> {
    /// The list of a profile, and the blocks of the subpath that is under way.
    pub fn of(profile: &'a mut [u32]) -> (Self, &'a mut [u32]) {
        let (longest, is_exact) = (1 << profile[word::LOG_LENGTH], profile[word::IS_EXACT] != 0);
        let parts = Parts::of(profile.len(), longest, is_exact);
        let (front, words) = profile.split_at_mut(list_at(longest, is_exact));
        let (header, buffer) = front.split_at_mut(BUFFER);
        (Self { header, words, parts }, buffer)
    }

    /// Counts a subpath of the sample.
    pub fn count(&mut self, subpath: Canonical<'_>) {
        let hash = subpath.hash();
        if let Ok(entry) = self.find(&subpath, hash) {
            self.words[entry + 2] = self.words[entry + 2].saturating_add(1);
            return;
        }
        let is_exact = self.header[word::IS_EXACT] != 0;
        for _ in 0..MAX_HALVINGS {
            if self.has_room(subpath.length()) {
                // The index may have been made anew.
                if let Err(slot) = self.find(&subpath, hash) {
                    self.add(&subpath, hash, slot);
                }
                return;
            }
            if is_exact {
                break;
            }
            self.halve();
            // The new one is of the sample, too.
            if self.half_of(1) == 0 {
                return;
            }
        }
        self.header[word::LOST] = self.header[word::LOST].saturating_add(1);
    }

    fn has_room(&self, length: usize) -> bool {
        let used = self.header[word::USED] as usize;
        (self.header[word::ENTRIES] as usize) < self.parts.max_entries
            && self.parts.blocks + used + length <= self.parts.end
    }

    fn entry(index: u32) -> usize {
        index as usize * ENTRY_WORDS
    }

    /// The words of a subpath's entry, or the word of the index that one would have.
    fn find(&self, subpath: &Canonical<'_>, hash: u64) -> Result<usize, usize> {
        let mask = self.parts.index_words - 1;
        let mut slot = hash as usize & mask;
        loop {
            let at = self.parts.index + slot;
            let Some(index) = self.words[at].checked_sub(1) else { return Err(at) };
            let entry = Self::entry(index);
            if self.is(entry, subpath, hash) {
                return Ok(entry);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn is(&self, entry: usize, subpath: &Canonical<'_>, hash: u64) -> bool {
        let at = self.parts.blocks + self.words[entry + 3] as usize;
        self.words[entry] == hash as u32
            && self.words[entry + 1] == (hash >> 32) as u32
            && self.words[entry + 4] == kind(subpath)
            && subpath.blocks().eq(self.words[at..at + subpath.length()].iter().copied())
    }

    fn add(&mut self, subpath: &Canonical<'_>, hash: u64, slot: usize) {
        let (index, used) = (self.header[word::ENTRIES], self.header[word::USED]);
        let entry = Self::entry(index);
        let fields = [hash as u32, (hash >> 32) as u32, 1, used, kind(subpath)];
        self.words[entry..entry + ENTRY_WORDS].copy_from_slice(&fields);
        let start = self.parts.blocks + used as usize;
        for (at, block) in subpath.blocks().enumerate() {
            self.words[start + at] = block;
        }
        self.header[word::USED] = used + subpath.length() as u32;
        self.header[word::ENTRIES] = index + 1;
        self.words[slot] = index + 1;
    }

    fn half_of(&mut self, count: u32) -> u32 {
        let mut state = get_u64(self.header, word::RANDOM);
        let kept = random::half_of(&mut state, count);
        put_u64(self.header, word::RANDOM, state);
        kept
    }

    /// Keeps each subpath that was counted with probability ½; entries without any go.
    fn halve(&mut self) {
        let (mut kept, mut used) = (0, 0);
        for index in 0..self.header[word::ENTRIES] {
            let from = Self::entry(index);
            let count = self.half_of(self.words[from + 2]);
            if count == 0 {
                continue;
            }
            // Entries and their blocks lie in the same order: both move to smaller addresses.
            let (offset, length) = (self.words[from + 3], self.words[from + 4] >> 1);
            for at in 0..length {
                let block = self.words[self.parts.blocks + (offset + at) as usize];
                self.words[self.parts.blocks + (used + at) as usize] = block;
            }
            let to = Self::entry(kept);
            for field in 0..ENTRY_WORDS {
                self.words[to + field] = self.words[from + field];
            }
            self.words[to + 2] = count;
            self.words[to + 3] = used;
            kept += 1;
            used += length;
        }
        self.header[word::ENTRIES] = kept;
        self.header[word::USED] = used;
        self.header[word::SPACING] = self.header[word::SPACING].saturating_mul(2);
        self.header[word::THINNED] += 1;
        self.make_index();
    }

    fn make_index(&mut self) {
        let Parts { index: start, index_words, .. } = self.parts;
        for slot in &mut self.words[start..start + index_words] {
            *slot = 0;
        }
        for index in 0..self.header[word::ENTRIES] {
            let mut slot = self.words[Self::entry(index)] as usize & (index_words - 1);
            while self.words[start + slot] != 0 {
                slot = (slot + 1) & (index_words - 1);
            }
            self.words[start + slot] = index + 1;
        }
    }
}

/// Length, and whether it is a loop.
fn kind(subpath: &Canonical<'_>) -> u32 {
    (subpath.length() as u32) << 1 | u32::from(subpath.is_loop)
}

/// A number of 64 bits in two words.
pub(crate) fn get_u64(words: &[u32], at: usize) -> u64 {
    u64::from(words[at]) | u64::from(words[at + 1]) << 32
}

/// Sets it.
pub(crate) fn put_u64(words: &mut [u32], at: usize, value: u64) {
    words[at] = value as u32;
    words[at + 1] = (value >> 32) as u32;
}
