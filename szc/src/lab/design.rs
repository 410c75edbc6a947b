//! The plan of an interleaved comparison: which program runs when, with which layout seed.
//!
//! Everything follows from one seed, whatever the timing, so a plan can be
//! repeated. Random numbers are outputs of SplitMix64 (Steele, Lea and Flood 2014)
//! addressed by index: output i is `finalize(seed + (i + 1)·0x9e3779b97f4a7c15)`.
//! The index of a run is `2^48·phase + 2^16·block + position`, with phase 0 for
//! warm-up, 1 for measured runs and 2 for the order of a block.
//!
//! Layout seeds are mapped to 10^15 ≤ seed < 2^53. All have sixteen digits, so
//! `SZC_SEED` is equally long in every run and moves no stack; and all are exact
//! in JSON readers that know only doubles.
#![forbid(unsafe_code)]

use crate::measure::sample::Side;

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
const SMALLEST_LAYOUT_SEED: u64 = 1_000_000_000_000_000;
const LAYOUT_SEED_LIMIT: u64 = 1 << 53;

/// Most runs of a program in one of its two positions of a block, so that
/// positions fit into the index of a run.
pub const MOST_RUNS_PER_POSITION: u32 = 1000;

/// Phase of an experiment, part of the index of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Runs whose cost is not recorded.
    WarmUp,
    /// Runs that count.
    Measured,
}

/// One run to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Whether it counts.
    pub phase: Phase,
    /// Block, or round of warm-up, from 0.
    pub block: u32,
    /// Place in the block, from 0.
    pub position: u32,
    /// Program to run.
    pub program: Side,
    /// Layout seed to give it.
    pub seed: u64,
}

/// Size and seed of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Number of blocks, the n of the statistics.
    pub blocks: u32,
    /// Runs of one program in each of its two positions: a block holds twice as
    /// many runs of A and as many of B.
    pub runs_per_position: u32,
    /// Runs of each program before the first block.
    pub warmup: u32,
    /// Seed of everything.
    pub seed: u64,
}

impl Design {
    /// Runs of the warm-up, A and B in turn.
    pub fn warm_up_runs(&self) -> impl Iterator<Item = PlannedRun> + use<> {
        let design = *self;
        (0..self.warmup).flat_map(move |round| {
            (0..).zip(Side::BOTH).map(move |(position, program)| {
                design.planned(Phase::WarmUp, round, position, program)
            })
        })
    }

    /// Runs of one block in order: ABBA or BAAB with equal probability, each
    /// letter standing for [`Design::runs_per_position`] runs.
    ///
    /// A drift of the machine that is linear in time cancels within a block.
    #[must_use]
    pub fn block_runs(&self, block: u32) -> Vec<PlannedRun> {
        let [a, b] = Side::BOTH;
        let order = if self.starts_with_b(block) { [b, a, a, b] } else { [a, b, b, a] };
        let sides = order
            .into_iter()
            .flat_map(|side| std::iter::repeat_n(side, self.runs_per_position as usize));
        (0..)
            .zip(sides)
            .map(|(position, program)| self.planned(Phase::Measured, block, position, program))
            .collect()
    }

    /// Number of runs of the whole experiment.
    #[must_use]
    pub fn total_runs(&self) -> u64 {
        2 * u64::from(self.warmup) + 4 * u64::from(self.blocks) * u64::from(self.runs_per_position)
    }

    fn starts_with_b(&self, block: u32) -> bool {
        splitmix64_at(self.seed, run_index(2, block, 0)) >> 63 == 1
    }

    fn planned(&self, phase: Phase, block: u32, position: u32, program: Side) -> PlannedRun {
        let phase_number = match phase {
            Phase::WarmUp => 0,
            Phase::Measured => 1,
        };
        PlannedRun {
            phase,
            block,
            position,
            program,
            seed: layout_seed(splitmix64_at(self.seed, run_index(phase_number, block, position))),
        }
    }
}

fn run_index(phase: u64, block: u32, position: u32) -> u64 {
    debug_assert!(position <= u32::from(u16::MAX));
    (phase << 48) | (u64::from(block) << 16) | u64::from(position)
}

/// Output number `index` (from 0) of SplitMix64 started with `seed`.
fn splitmix64_at(seed: u64, index: u64) -> u64 {
    let mut state = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Maps 64 random bits to 10^15..2^53 by the high half of a product (Lemire 2019).
fn layout_seed(random: u64) -> u64 {
    let span = u128::from(LAYOUT_SEED_LIMIT - SMALLEST_LAYOUT_SEED);
    let offset = (u128::from(random) * span) >> 64;
    SMALLEST_LAYOUT_SEED + u64::try_from(offset).expect("the span is below 2^64")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::SplitMix64;
    use std::collections::HashSet;

    fn design(seed: u64) -> Design {
        Design { blocks: 200, runs_per_position: 2, warmup: 3, seed }
    }

    #[test]
    fn random_numbers_are_those_of_splitmix64() {
        let mut reference = SplitMix64::seed_from_u64(1_234_567);
        for index in 0..100 {
            assert_eq!(splitmix64_at(1_234_567, index), reference.next_u64());
        }
    }

    #[test]
    fn a_block_is_abba_or_baab_and_both_occur() {
        use Side::{A, B};
        let mut starts_with_b = 0;
        for block in 0..200 {
            let sides: Vec<Side> =
                design(5).block_runs(block).iter().map(|run| run.program).collect();
            if sides[0] == B {
                starts_with_b += 1;
                assert_eq!(sides, [B, B, A, A, A, A, B, B]);
            } else {
                assert_eq!(sides, [A, A, B, B, B, B, A, A]);
            }
        }
        // 200 fair coins: five standard deviations are 35.
        assert!((65..=135).contains(&starts_with_b), "{starts_with_b}");
    }

    #[test]
    fn every_run_has_a_layout_seed_of_its_own() {
        let mut seeds = HashSet::new();
        let design = design(9);
        for run in design.warm_up_runs() {
            assert!(seeds.insert(run.seed));
        }
        for block in 0..design.blocks {
            for run in design.block_runs(block) {
                assert!(seeds.insert(run.seed));
            }
        }
        assert_eq!(seeds.len() as u64, design.total_runs());
    }

    #[test]
    fn positions_count_from_zero_without_gaps() {
        let positions: Vec<u32> = design(1).block_runs(3).iter().map(|run| run.position).collect();
        assert_eq!(positions, (0..8).collect::<Vec<u32>>());
    }

    #[test]
    fn the_ends_of_the_random_range_give_layout_seeds_of_sixteen_digits() {
        assert_eq!(layout_seed(0), SMALLEST_LAYOUT_SEED);
        assert_eq!(layout_seed(u64::MAX), LAYOUT_SEED_LIMIT - 1);
        assert_eq!(SMALLEST_LAYOUT_SEED.to_string().len(), 16);
        assert_eq!((LAYOUT_SEED_LIMIT - 1).to_string().len(), 16);
    }

    proptest! {
        #[test]
        fn the_same_seed_gives_the_same_plan(seed: u64, block in 0_u32..1000) {
            prop_assert_eq!(design(seed).block_runs(block), design(seed).block_runs(block));
            prop_assert_ne!(
                design(seed).block_runs(block),
                design(seed.wrapping_add(1)).block_runs(block)
            );
        }
    }
}
