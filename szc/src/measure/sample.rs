//! The record of one run, the metrics taken from it, and the log ratio of a block.
#![forbid(unsafe_code)]

use std::fmt;

use serde::{Deserialize, Serialize};

use super::child::Outcome;
use crate::stats::describe::mean;
use crate::stats::fixed::ROUNDING;

/// Which program of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Side {
    /// The reference.
    A,
    /// The program that statements are about.
    B,
}

impl Side {
    /// Both, in the order of arrays indexed by [`Side::index`].
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// 0 for A, 1 for B.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// What is compared.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// User and system CPU time of the program and the children it waited for.
    Cpu,
    /// Elapsed time.
    Wall,
    /// Peak resident memory.
    Rss,
}

impl Metric {
    /// All, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Wall, Self::Rss];
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Block, from 0.
    pub block: u32,
    /// Place in the block, from 0, in the order of time.
    pub position: u32,
    /// Program that ran.
    pub program: Side,
    /// Layout seed it was given.
    pub seed: u64,
    /// Elapsed time.
    pub wall_ns: u64,
    /// CPU time in user mode.
    pub user_us: u64,
    /// CPU time in the kernel.
    pub sys_us: u64,
    /// Peak resident memory.
    pub max_rss_kib: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Context switches because the program waited.
    pub voluntary_switches: u64,
    /// Context switches because its time slice ended.
    pub involuntary_switches: u64,
    /// SHA-256 of stdout, lower-case hexadecimal.
    pub stdout_sha256: String,
    /// Functions relocated, summed over the processes of the run; absent without a log.
    pub relocations: Option<u64>,
    /// Layouts of the run (of the process with most); absent without a log.
    pub epochs: Option<u64>,
}

impl Sample {
    /// A sample without randomization figures.
    #[must_use]
    pub fn new(block: u32, position: u32, program: Side, seed: u64, outcome: &Outcome) -> Self {
        let usage = outcome.usage;
        Self {
            block,
            position,
            program,
            seed,
            wall_ns: outcome.wall_ns,
            user_us: usage.user_us,
            sys_us: usage.sys_us,
            max_rss_kib: usage.max_rss_kib,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            stdout_sha256: outcome.stdout_sha256.clone(),
            relocations: None,
            epochs: None,
        }
    }

    /// Value of a metric: seconds of time, bytes of memory.
    #[must_use]
    pub fn value(&self, metric: Metric) -> f64 {
        match metric {
            Metric::Cpu => (self.user_us + self.sys_us) as f64 / 1e6,
            Metric::Wall => self.wall_ns as f64 / 1e9,
            Metric::Rss => self.max_rss_kib as f64 * 1024.0,
        }
    }
}

/// All values of one program, in the order of time: seconds or bytes.
#[must_use]
pub fn values_of(samples: &[Sample], side: Side, metric: Metric) -> Vec<f64> {
    samples
        .iter()
        .filter(|sample| sample.program == side)
        .map(|sample| sample.value(metric))
        .collect()
}

/// The log ratio of each block, d = mean ln t_B − mean ln t_A, for the blocks 0..`blocks`.
///
/// Returns `None` when a value is zero (the clock is too coarse for the program)
/// or a block lacks one of the programs: then there is no log ratio to speak of.
#[must_use]
pub fn block_log_ratios(samples: &[Sample], blocks: u32, metric: Metric) -> Option<Vec<f64>> {
    let mut logarithms = vec![[const { Vec::new() }; 2]; usize::try_from(blocks).ok()?];
    for sample in samples.iter().filter(|sample| sample.block < blocks) {
        let value = sample.value(metric);
        if value <= 0.0 {
            return None;
        }
        let block = usize::try_from(sample.block).ok()?;
        logarithms[block][sample.program.index()].push(value.ln());
    }
    logarithms
        .iter()
        .map(|[of_a, of_b]| {
            let ratio = mean(of_b)? - mean(of_a)?;
            Some(if ratio.abs() < ROUNDING { 0.0 } else { ratio })
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A sample whose three metrics all follow from one number of milliseconds.
    pub(crate) fn sample_of(block: u32, position: u32, program: Side, milliseconds: u64) -> Sample {
        Sample {
            block,
            position,
            program,
            seed: 1,
            wall_ns: milliseconds * 1_000_000,
            user_us: milliseconds * 600,
            sys_us: milliseconds * 400,
            max_rss_kib: milliseconds,
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            stdout_sha256: String::new(),
            relocations: None,
            epochs: None,
        }
    }

    #[test]
    fn a_slower_b_has_a_positive_log_ratio() {
        let samples = [
            sample_of(0, 0, Side::A, 100),
            sample_of(0, 1, Side::B, 200),
            sample_of(0, 2, Side::B, 800),
            sample_of(0, 3, Side::A, 100),
        ];
        for metric in Metric::ALL {
            let ratios = block_log_ratios(&samples, 1, metric).unwrap();
            assert!((ratios[0] - 4.0_f64.ln()).abs() < 1e-12, "{metric:?}");
        }
    }

    #[test]
    fn values_have_the_units_they_promise() {
        let sample = sample_of(0, 0, Side::A, 250);
        assert_eq!(sample.value(Metric::Cpu), 0.25);
        assert_eq!(sample.value(Metric::Wall), 0.25);
        assert_eq!(sample.value(Metric::Rss), 256_000.0);
    }

    #[test]
    fn a_value_of_zero_leaves_no_log_ratio() {
        let samples = [sample_of(0, 0, Side::A, 0), sample_of(0, 1, Side::B, 1)];
        assert_eq!(block_log_ratios(&samples, 1, Metric::Cpu), None);
    }

    #[test]
    fn blocks_after_the_last_complete_one_are_left_out() {
        let samples = [
            sample_of(0, 0, Side::A, 10),
            sample_of(0, 1, Side::B, 10),
            sample_of(1, 0, Side::A, 10),
        ];
        assert_eq!(block_log_ratios(&samples, 1, Metric::Wall), Some(vec![0.0]));
        assert_eq!(block_log_ratios(&samples, 2, Metric::Wall), None);
    }

    proptest! {
        #[test]
        fn the_unit_of_time_does_not_matter(
            times in prop::collection::vec((1_u64..100_000, 1_u64..100_000), 1..20),
            factor in 1_u64..1000,
        ) {
            let with = |factor: u64| -> Vec<Sample> {
                (0_u32..).zip(&times).flat_map(|(block, (a, b))| [
                    sample_of(block, 0, Side::A, a * factor),
                    sample_of(block, 1, Side::B, b * factor),
                ]).collect()
            };
            let blocks = u32::try_from(times.len()).unwrap();
            let before = block_log_ratios(&with(1), blocks, Metric::Wall).unwrap();
            let after = block_log_ratios(&with(factor), blocks, Metric::Wall).unwrap();
            for (before, after) in before.iter().zip(&after) {
                prop_assert!((before - after).abs() < 1e-10);
            }
        }

        #[test]
        fn the_order_of_runs_inside_a_block_does_not_change_a_tie(
            mut times in prop::collection::vec(1_u64..100_000, 2..8),
            turn in 0_usize..8,
        ) {
            let mut samples: Vec<Sample> =
                times.iter().map(|time| sample_of(0, 0, Side::A, *time)).collect();
            let middle = turn % times.len();
            times.rotate_left(middle);
            samples.extend(times.iter().map(|time| sample_of(0, 0, Side::B, *time)));
            prop_assert_eq!(block_log_ratios(&samples, 1, Metric::Rss), Some(vec![0.0]));
        }
    }
}
