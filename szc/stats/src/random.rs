//! Draws for resampling: seeded, so that the same data and seed give the same result everywhere.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of draws (xoshiro256++, Blackman and Vigna 2021).
pub struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// An index below `count` ≥ 1: the upper half of a 128-bit product (Lemire 2019), whose bias of
    /// `count`/2⁶⁴ no statistic could notice.
    pub fn index(&mut self, count: usize) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the upper half of the product is below count"
        )]
        let index = ((u128::from(self.0.next_u64()) * count as u128) >> 64) as usize;
        index
    }

    /// Puts the values in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for place in (1..values.len()).rev() {
            values.swap(place, self.index(place + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_spread_evenly_and_the_same_for_a_seed() {
        let mut draws = Draws::new(7);
        let mut counts = [0_i32; 10];
        for _ in 0..100_000 {
            counts[draws.index(10)] += 1;
        }
        // Five standard deviations of a binomial count are 474.
        assert!(counts.iter().all(|count| (count - 10_000).abs() < 474), "{counts:?}");
        let (mut one, mut other) = (Draws::new(3), Draws::new(3));
        assert!((0..100).all(|_| one.index(1000) == other.index(1000)));
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut draws = Draws::new(9);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut values = [0, 1, 2];
            draws.shuffle(&mut values);
            *counts.entry(values).or_insert(0_i32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (count - 10_000).abs() < 456), "{counts:?}");
    }
}
