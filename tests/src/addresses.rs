//! Sources of addresses for the tests of randomness: a program that allocates, built by szc and by
//! clang alone, and the bits of what it returns.

use crate::build::{moving, plain};
use crate::nist::Test;
use crate::nist::verdict::Assessment;
use crate::run::run;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Bits of an address that select a cache set and a line's place in it: 6 to 17, as in the paper.
pub const INDEX_BITS: std::ops::Range<u32> = 6..18;
/// As a number of bits.
const BITS_PER_ADDRESS: usize = (INDEX_BITS.end - INDEX_BITS.start) as usize;

/// Addresses that are thrown away at the start: a heap that grows with use shuffles its first
/// blocks among few, which is not what the tests are asked about.
const WARM_UP: usize = 8192;

/// What the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Allocates and frees nothing.
    Fresh,
    /// Keeps so many blocks; frees the oldest for each that it allocates.
    Churn {
        /// Blocks kept.
        live: usize,
    },
}

/// What returns the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The C library's generator: bits 6 to 17 of its values.
    Lrand48,
    /// The C library's allocator, in a build without szc.
    Glibc(Pattern),
    /// The shuffled heap.
    Heap {
        /// What `SZC_HEAP_BASE` says.
        base: String,
        /// What `SZC_HEAP_SHUFFLE` says.
        n: u32,
        /// What the program does.
        pattern: Pattern,
    },
}

/// How many addresses of blocks of which size, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of addresses, after the warm-up.
    pub addresses: usize,
    /// Size of each block in bytes.
    pub size_bytes: usize,
    /// Seed of the heap and of `lrand48`.
    pub seed: u64,
}

/// The program, built both ways.
pub struct Programs {
    plain: PathBuf,
    heap: PathBuf,
    _directory: TempDir,
}

impl Programs {
    /// Builds the program by clang, and by szc with heap randomization alone.
    ///
    /// # Panics
    /// When a build fails; with what the compiler said.
    #[must_use]
    pub fn build() -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("campaign/programs/addresses.c");
        let directory = tempfile::tempdir().expect("a temporary directory");
        Programs {
            plain: plain(&source, &["-O2"], directory.path()),
            heap: moving(&source, &["-O2", "-Rheap"], directory.path()),
            _directory: directory,
        }
    }

    /// The bits of a source: [`INDEX_BITS`] of each address, the most significant first.
    ///
    /// # Errors
    /// The program failed, or its heap was not what was asked for.
    pub fn bits(&self, source: &Source, sample: &Sample) -> Result<Vec<bool>, String> {
        let count = (WARM_UP + sample.addresses).to_string();
        let (size, seed) = (sample.size_bytes.to_string(), sample.seed.to_string());
        let words = |pattern: Pattern| match pattern {
            Pattern::Fresh => vec!["fresh".to_owned(), size.clone(), count.clone()],
            Pattern::Churn { live } => {
                let live = live.to_string();
                vec!["churn".to_owned(), size.clone(), count.clone(), live]
            }
        };
        let (image, words, n) = match source {
            Source::Lrand48 => {
                (&self.plain, vec!["lrand48".to_owned(), seed.clone(), count.clone()], 0)
            }
            Source::Glibc(pattern) => (&self.plain, words(*pattern), 0),
            Source::Heap { n, pattern, .. } => (&self.heap, words(*pattern), *n),
        };
        let shuffle = n.to_string();
        let mut settings = vec![("SZC_SEED", seed.as_str())];
        if let Source::Heap { base, .. } = source {
            settings.extend([("SZC_HEAP_BASE", base.as_str()), ("SZC_HEAP_SHUFFLE", &shuffle)]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let outcome = run(image, &settings, &words);
        if outcome.ending != crate::directives::Ending::Code(0) {
            return Err(format!("{source:?}: {:?}\n{}", outcome.ending, outcome.stderr));
        }
        if let Source::Heap { base, n, .. } = source {
            let log = outcome.log_of_success();
            let found = log.heap.as_ref().map(|heap| (heap.base.as_str(), heap.n));
            if found != Some((base, *n)) {
                return Err(format!("{source:?}: the heap was not randomized so: {log:?}"));
            }
        }
        let (words, rest) = outcome.stdout.as_chunks::<8>();
        if !rest.is_empty() || words.len() != WARM_UP + sample.addresses {
            return Err(format!("{source:?}: wrote {} bytes", outcome.stdout.len()));
        }
        Ok(index_bits(words[WARM_UP..].iter().map(|&word| u64::from_le_bytes(word))))
    }
}

/// [`INDEX_BITS`] of each address, the most significant first.
pub fn index_bits(addresses: impl Iterator<Item = u64>) -> Vec<bool> {
    addresses.flat_map(|address| INDEX_BITS.rev().map(move |bit| address >> bit & 1 == 1)).collect()
}

/// Addresses for so many sequences of so many bits.
#[must_use]
pub fn addresses_for(sequences: usize, bits: usize) -> usize {
    (sequences * bits).div_ceil(BITS_PER_ADDRESS)
}

/// Cuts the bits of a source into sequences and applies every test that they are long enough for.
#[must_use]
pub fn assess(bits: &[bool], bits_per_sequence: usize) -> Vec<Assessment> {
    let sequences: Vec<&[bool]> = bits.chunks_exact(bits_per_sequence).collect();
    Test::ALL
        .into_iter()
        .filter(|test| test.shortest() <= bits_per_sequence)
        .map(|test| Assessment::of(test, &sequences))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_bits_of_an_address_come_most_significant_first() {
        let bits = index_bits([1 << 17 | 1 << 6 | 0x3f, u64::MAX].into_iter());
        assert_eq!(bits.len(), 24);
        let ones: Vec<usize> = (0..12).filter(|&i| bits[i]).collect();
        assert_eq!(ones, [0, 11]);
        assert!(bits[12..].iter().all(|&bit| bit));
    }

    #[test]
    fn a_sample_is_large_enough_for_its_sequences() {
        assert_eq!(addresses_for(100, 100_000), 833_334);
    }
}
