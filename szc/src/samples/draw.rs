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

/// The index of a draw; what phases there are is said in `design`.
pub(super) fn run_index(phase: u64, block: u32, position: u32) -> u64 {
    debug_assert!(position <= u32::from(u16::MAX));
    (phase << 48) | (u64::from(block) << 16) | u64::from(position)
}

/// The numbers below `count` in the random order of a block, from its draw `first_draw` on (Fisher
/// and Yates 1938).
pub(super) fn shuffled(
    seed: u64,
    phase: u64,
    (block, first_draw): (u32, u32),
    count: usize,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for (draw, last) in (first_draw..).zip((1..count).rev()) {
        let random = splitmix64_at(seed, run_index(phase, block, draw));
        let back = usize::try_from(below(random, last as u64 + 1));
        order.swap(last, last - back.expect("at most the place itself"));
    }
    order
}
