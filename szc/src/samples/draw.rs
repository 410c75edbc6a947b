//! Random numbers by index: outputs of SplitMix64 (Steele, Lea and Flood 2014), in any order.
#![forbid(unsafe_code)]

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// What the state of SplitMix64 grows by with each output.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Output number `index` (from 0) of SplitMix64 started with `seed`.
pub(super) fn splitmix64_at(seed: u64, index: u64) -> u64 {
    SplitMix64::seed_from_u64(seed.wrapping_add(index.wrapping_mul(GOLDEN_GAMMA))).next_u64()
}

/// Maps 64 random bits to 0..`limit` by the high half of a product (Lemire 2019).
pub(super) fn below(random: u64, limit: u64) -> u64 {
    let product = u128::from(random) * u128::from(limit);
    u64::try_from(product >> 64).expect("the high half of a product of 64-bit numbers")
}
