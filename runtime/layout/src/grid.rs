//! Which grains of a place are taken: a bit for each, in memory that the caller lends.

/// Grains of a page.
pub const PAGE_GRAINS: u32 = 256;

/// Grains of a word.
const WORD_GRAINS: u32 = u64::BITS;

/// Grains, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub start: u32,
    /// How many there are, at least one.
    pub grains: u32,
}

impl Run {
    fn end(self) -> u32 {
        self.start + self.grains
    }
}

/// The grains of a place.
pub struct Grid<'a> {
    words: &'a mut [u64],
    /// For so many grains there is no gap any more.
    hopeless: u32,
}

impl<'a> Grid<'a> {
    /// Words for so many pages.
    #[must_use]
    pub fn words(pages: u32) -> usize {
        (pages * (PAGE_GRAINS / WORD_GRAINS)) as usize
    }

    /// So many grains, all free, in words that are 0.
    pub fn new(words: &'a mut [u64], grains: u32) -> Self {
        debug_assert!(words.len() as u32 * WORD_GRAINS >= grains);
        Self { words, hopeless: u32::MAX }
    }

    /// Whether a run is free and ends before that grain.
    pub fn is_free(&self, run: Run, end: u32) -> bool {
        if run.end() > end {
            return false;
        }
        let (word, bit) = ((run.start / WORD_GRAINS) as usize, run.start % WORD_GRAINS);
        let from_start = self.words[word] >> bit;
        if run.grains + bit <= WORD_GRAINS {
            return from_start << (WORD_GRAINS - run.grains) == 0;
        }
        from_start == 0 && self.next_taken(run.start + WORD_GRAINS - bit, run.end()) == run.end()
    }

    /// Takes a run.
    pub fn take(&mut self, run: Run) {
        let (mut start, end) = (run.start, run.end());
        while start < end {
            let count = (WORD_GRAINS - start % WORD_GRAINS).min(end - start);
            let bits = u64::MAX >> (WORD_GRAINS - count) << (start % WORD_GRAINS);
            self.words[(start / WORD_GRAINS) as usize] |= bits;
            start += count;
        }
    }

    /// The first free run of so many grains from `first` on, or else from the beginning on, that
    /// ends before `end`.
    pub fn first_free(&mut self, grains: u32, first: u32, end: u32) -> Option<u32> {
        // Grains are only taken, never given back.
        if grains >= self.hopeless {
            return None;
        }
        let found = self
            .free_between(grains, first, end)
            .or_else(|| self.free_between(grains, 0, end.min(first + grains)));
        if found.is_none() {
            self.hopeless = grains;
        }
        found
    }

    fn free_between(&self, grains: u32, first: u32, end: u32) -> Option<u32> {
        let mut start = first;
        loop {
            start = self.next_free(start, end);
            let run = Run { start, grains };
            if run.end() > end {
                return None;
            }
            let taken = self.next_taken(start, run.end());
            if taken == run.end() {
                return Some(start);
            }
            start = taken;
        }
    }

    /// The first taken grain of a range, or its end.
    fn next_taken(&self, start: u32, end: u32) -> u32 {
        next_set(start, end, |index| self.words[index])
    }

    /// The first free grain of a range, or its end.
    fn next_free(&self, start: u32, end: u32) -> u32 {
        next_set(start, end, |index| !self.words[index])
    }

    /// Sorts functions by position, of which each takes grains of its own from `grain_of` its
    /// offset on. Forgets what was taken. `ranks` has as many words.
    ///
    /// Each function's rank is the number of those that begin before: a count of bits.
    pub fn sort(
        &mut self,
        ranks: &mut [u64],
        (order, offsets): (&mut [u32], &[u32]),
        grain_of: impl Fn(u32) -> u32,
    ) {
        self.words.fill(0);
        for &offset in offsets {
            self.take(Run { start: grain_of(offset), grains: 1 });
        }
        let mut count = 0;
        for (rank, word) in ranks.iter_mut().zip(&*self.words) {
            *rank = count;
            count += u64::from(word.count_ones());
        }
        for (function, &offset) in (0..).zip(offsets) {
            let grain = grain_of(offset);
            let word = (grain / WORD_GRAINS) as usize;
            let before = self.words[word] & !(u64::MAX << (grain % WORD_GRAINS));
            order[ranks[word] as usize + before.count_ones() as usize] = function;
        }
    }
}

/// The first bit of a range that is set, or its end.
fn next_set(start: u32, end: u32, word: impl Fn(usize) -> u64) -> u32 {
    if start >= end {
        return end;
    }
    let (mut index, last) = (start / WORD_GRAINS, (end - 1) / WORD_GRAINS);
    let mut bits = word(index as usize) & u64::MAX << (start % WORD_GRAINS);
    while bits == 0 {
        if index == last {
            return end;
        }
        index += 1;
        bits = word(index as usize);
    }
    end.min(index * WORD_GRAINS + bits.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gap_that_is_large_enough_is_found_from_anywhere() {
        let mut words = [0; 8];
        let mut grid = Grid::new(&mut words, 512);
        for (start, grains) in [(0, 100), (103, 97), (210, 302)] {
            grid.take(Run { start, grains });
        }
        // Gaps are 100 to 102 and 200 to 209.
        let gaps = [(3, 0), (3, 101), (4, 0), (10, 0), (10, 500), (11, 0)];
        let found = gaps.map(|(grains, first)| grid.first_free(grains, first, 512));
        assert_eq!(found, [Some(100), Some(200), Some(200), Some(200), Some(200), None]);
        // Of what is larger it is known; the end may lie in a gap.
        assert_eq!(grid.first_free(12, 0, 512), None);
        assert_eq!(grid.first_free(4, 0, 203), None);
        assert_eq!(grid.first_free(3, 150, 203), Some(200));
        assert!(grid.is_free(Run { start: 200, grains: 10 }, 210));
        assert!(!grid.is_free(Run { start: 200, grains: 11 }, 512));
        assert!(!grid.is_free(Run { start: 200, grains: 10 }, 209));
    }

    #[test]
    fn functions_are_sorted_by_position() {
        let mut words = [0; 16];
        let mut ranks = [0; 16];
        let offsets: Vec<u32> = (0..200).map(|n| n * 37 % 201 * 5).collect();
        let mut order = vec![0; 200];
        let mut grid = Grid::new(&mut words, 1024);
        grid.take(Run { start: 3, grains: 700 });
        grid.sort(&mut ranks, (&mut order, &offsets), |offset| offset);
        let mut expected: Vec<u32> = (0..200).collect();
        expected.sort_by_key(|&function| offsets[function as usize]);
        assert_eq!(order, expected);
    }
}
