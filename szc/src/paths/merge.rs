//! The profiles of all threads and processes as one: where subpaths began more rarely in one
//! thread, those of the others are thinned until all have the same chance; then equal ones are
//! added.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use szc_paths::View;

/// Which subpath: number of the program, blocks, and whether it is a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Index of its program.
    pub program: usize,
    /// Distances of its blocks from the start of the program in memory.
    pub blocks: Vec<u32>,
    /// Its first block comes again behind the last.
    pub is_loop: bool,
}

/// What all threads have executed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// Paths of the programs.
    pub programs: Vec<String>,
    /// Threads that have executed blocks which tell of themselves.
    pub threads: u64,
    /// Their blocks.
    pub blocks: u64,
    /// Mean number of blocks from one beginning of a subpath to the next; 1 if all were counted.
    pub spacing: u32,
    /// Length of the longest subpaths.
    pub longest: u32,
    /// Subpaths that were not counted although all were to be.
    pub lost: u64,
    /// Most times that the list of a thread was full.
    pub thinned: u32,
    /// Threads without a profile.
    pub unprofiled: u64,
    /// Threads whose profile was given up.
    pub abandoned: u64,
    /// Threads that wrote to their profile whenever it was to be read.
    pub unread: u64,
    /// How often the sample has each subpath.
    pub counts: HashMap<Key, u64>,
}

impl Merged {
    /// Joins profiles, each of the program with that index.
    #[must_use]
    pub fn of(programs: Vec<String>, profiles: &[(usize, View<'_>)]) -> Self {
        let used = || profiles.iter().filter(|(_, view)| view.blocks() != 0);
        let spacing = used().map(|(_, view)| view.spacing()).max().unwrap_or(1);
        let mut merged = Self { programs, spacing, ..Self::default() };
        // The same profiles have the same sum.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        for &(program, view) in used() {
            merged.threads += 1;
            merged.blocks += view.blocks();
            merged.longest = merged.longest.max(view.longest());
            merged.lost += u64::from(view.lost());
            merged.thinned = merged.thinned.max(view.thinned());
            // Each thinning doubles the spacing, and all threads begin with the same.
            let halvings = (spacing / view.spacing().max(1)).max(1).ilog2();
            for path in view.subpaths() {
                let mut count = u64::from(path.count);
                for _ in 0..halvings {
                    count = half_of(&mut random, count);
                }
                if count != 0 {
                    let (blocks, is_loop) = (path.blocks.to_vec(), path.is_loop);
                    *merged.counts.entry(Key { program, blocks, is_loop }).or_default() += count;
                }
            }
        }
        merged
    }

    /// Whether all subpaths were counted.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.spacing == 1
    }
}

/// How many of so many remain, if each does with probability ½.
fn half_of(random: &mut Xoshiro256PlusPlus, count: u64) -> u64 {
    let words = (0..count / 64).map(|_| u64::from(random.next_u64().count_ones())).sum::<u64>();
    words + u64::from((random.next_u64() & ((1 << (count % 64)) - 1)).count_ones())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use szc_paths::{Mode, Shape, begin, block, check, words_of};

    /// A thread that executes two blocks in turn, and every so often a third.
    pub(in crate::paths) fn thread(blocks: u32, spacing: u32) -> Vec<u32> {
        let mode = Mode::Sampled { spacing };
        let shape = Shape { words: words_of(16), length: 8, mode };
        let mut words = vec![0; shape.words];
        begin(&mut words, shape, 1).unwrap();
        let mut left = 0u32;
        for index in 0..blocks {
            if index % 2 == 0 {
                left = left.saturating_sub(1);
                if left == 0 {
                    left = check(&mut words);
                }
            }
            if left == 0 {
                left = block(&mut words, if index % 64 == 63 { 3 } else { index % 2 });
            }
        }
        words
    }

    #[test]
    fn threads_with_different_spacings_are_joined_at_the_larger_one() {
        let (a, b) = (thread(1_000_000, 128), thread(3_000_000, 512));
        let views = [&a, &b].map(|words| (0, View::of(words).unwrap()));
        let merged = Merged::of(vec!["p".into()], &views);
        assert_eq!((merged.threads, merged.spacing), (2, 512));
        // Estimated from random windows; this is some 5 standard deviations.
        assert!((merged.blocks as f64 - 4e6).abs() < 3e5, "{}", merged.blocks);
        let key = Key { program: 0, blocks: vec![0, 1], is_loop: true };
        // Half the starts are of length 2, of which 61 or 62 of 64 are that loop.
        let expected = 4e6 / 512.0 / 2.0 * (61.0 / 64.0);
        let found = merged.counts[&key] as f64;
        // 5 standard deviations.
        assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} {expected}");
    }

    #[test]
    fn no_profiles_are_no_threads() {
        assert_eq!(Merged::of(Vec::new(), &[]).threads, 0);
    }
}
