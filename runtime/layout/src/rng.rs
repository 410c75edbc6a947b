//! Random numbers of the runtime: xoshiro256++, one stream for each purpose and epoch.
//!
//! Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021).

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What random numbers are for: each purpose has streams of its own, so that switching one
/// randomization off does not change the layouts of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Keys of layouts of functions, by epoch.
    Code = 0,
    /// Contents of pad tables, by epoch.
    Pads = 1,
    /// Where a thread starts in its pad table, by thread.
    FirstPad = 2,
    /// The heap, by thread.
    Heap = 3,
    /// The seed of a library, by how often it was loaded before.
    Library = 4,
    /// Pads that copies take with their frames, by function of a layout.
    FramePads = 5,
    /// Draws of size classes of the heap, by class.
    Blocks = 6,
}

/// The seeds of an image's layouts: one may be drawn anew while the other stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Of the order of functions and the gaps between them.
    pub code: u64,
    /// Of pads.
    pub stack: u64,
}

/// A stream of random numbers.
#[derive(Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream that belongs to a seed and an epoch, and to nothing else.
    pub fn new(seed: u64, epoch: u64) -> Self {
        // The epoch is spread by an odd constant (the golden ratio, as in SplitMix64) before it
        // meets the seed, so that neighbouring seeds and epochs do not share streams.
        let mixed = mix(seed ^ mix(epoch.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1)));
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// The stream of a purpose: its number `index` under a seed.
    pub fn of(purpose: Purpose, seed: u64, index: u64) -> Self {
        if purpose == Purpose::Code {
            return Self::new(seed, index);
        }
        Self::new(mix(seed.wrapping_add(purpose as u64)), index)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, each equally likely. `bound` must not be 0.
    ///
    /// Source: Lemire, "Fast random integer generation in an interval" (2019).
    pub fn below(&mut self, bound: u32) -> u32 {
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u64::from(self.0.next_u32()) * u64::from(bound);
            if product as u32 >= threshold {
                return (product >> 32) as u32;
            }
        }
    }
}

/// A number for another, as different for neighbours as for any two: the finalizer of SplitMix64
/// (Steele, Lea and Flood, 2014).
#[must_use]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_is_uniform() {
        let mut stream = Stream::new(7, 0);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[stream.below(10) as usize] += 1;
        }
        // Chi-square with 9 degrees of freedom: 27.88 is the 0.999 quantile.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 27.88, "chi-square {chi}");
    }

    #[test]
    fn purposes_have_streams_of_their_own() {
        let all =
            [Purpose::Code, Purpose::Pads, Purpose::FirstPad, Purpose::Heap, Purpose::Library];
        let values = all.map(|purpose| Stream::of(purpose, 9, 4).bits());
        for (index, value) in values.iter().enumerate() {
            assert!(!values[..index].contains(value));
        }
    }

    #[test]
    fn streams_of_neighbouring_seeds_and_epochs_differ() {
        let first = |seed, epoch| Stream::new(seed, epoch).below(u32::MAX);
        let values = [first(1, 0), first(1, 1), first(2, 0), first(0, 2), first(0, 0)];
        for (index, value) in values.iter().enumerate() {
            assert!(!values[..index].contains(value));
        }
        assert_eq!(first(1, 1), values[1]);
    }
}
