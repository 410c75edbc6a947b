//! The record of one run, and the log ratio of a block.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::child::Outcome;
pub use super::metric::Metric;
use szc_stats::describe::mean;
use szc_stats::fixed::ROUNDING;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Block, from 0.
    pub block: u32,
    /// Place in the block, from 0, in the order of time.
    pub position: u32,
    /// Program that ran: its place in the list of programs, from 0.
    pub program: usize,
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
    /// Further figures by name, each in the unit of [`Metric::unit`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
}

impl Sample {
    /// A sample without randomization figures.
    #[must_use]
    pub fn new(block: u32, position: u32, program: usize, seed: u64, outcome: &Outcome) -> Self {
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
            figures: BTreeMap::new(),
        }
    }

    /// Value of a metric in its unit; 0 for a figure that this run lacks.
    #[must_use]
    pub fn value(&self, metric: &Metric) -> f64 {
        match metric {
            Metric::Cpu => self.user_us.saturating_add(self.sys_us) as f64 / 1e6,
            Metric::Wall => self.wall_ns as f64 / 1e9,
            Metric::Rss => self.max_rss_kib as f64 * 1024.0,
            Metric::Figure(name) => self.figures.get(name).copied().unwrap_or(0.0),
        }
    }
}

/// All metrics that these samples have: the kernel's, and the figures that occur in them.
#[must_use]
pub fn metrics_of(samples: &[Sample]) -> Vec<Metric> {
    let mut figures: Vec<&String> = samples.iter().flat_map(|run| run.figures.keys()).collect();
    figures.sort();
    figures.dedup();
    let figures = figures.into_iter().cloned().map(Metric::Figure);
    Metric::KERNEL.into_iter().chain(figures).collect()
}

/// All values of one program, in the order of time, in the metric's unit.
#[must_use]
pub fn values_of(samples: &[Sample], program: usize, metric: &Metric) -> Vec<f64> {
    samples
        .iter()
        .filter(|sample| sample.program == program)
        .map(|sample| sample.value(metric))
        .collect()
}

/// The log ratio of each block, d = mean ln t_program − mean ln t_reference, for the blocks
/// 0..`blocks`.
///
/// Returns `None` when a value is zero (the clock is too coarse for the program)
/// or a block lacks one of the programs: then there is no log ratio to speak of.
#[must_use]
pub fn block_log_ratios(
    samples: &[Sample],
    blocks: u32,
    reference: usize,
    program: usize,
    metric: &Metric,
) -> Option<Vec<f64>> {
    let of_reference = block_mean_logarithms(samples, blocks, reference, metric)?;
    let of_program = block_mean_logarithms(samples, blocks, program, metric)?;
    let ratios = of_program.iter().zip(&of_reference).map(|(program, reference)| {
        let ratio = program - reference;
        if ratio.abs() < ROUNDING { 0.0 } else { ratio }
    });
    Some(ratios.collect())
}

/// Mean logarithm of one program's values in each of the blocks 0..`blocks`; `None` when a value
/// is not positive or a block is empty.
#[must_use]
pub fn block_mean_logarithms(
    samples: &[Sample],
    blocks: u32,
    program: usize,
    metric: &Metric,
) -> Option<Vec<f64>> {
    // Every block has at least one run, which bounds what a damaged file can ask for.
    let count = usize::try_from(blocks).ok().filter(|count| *count <= samples.len())?;
    let mut logarithms = vec![Vec::new(); count];
    for sample in samples.iter().filter(|run| run.block < blocks && run.program == program) {
        let value = sample.value(metric);
        if value <= 0.0 {
            return None;
        }
        logarithms[usize::try_from(sample.block).ok()?].push(value.ln());
    }
    logarithms.iter().map(|of_block| mean(of_block)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A sample whose three metrics all follow from one number of milliseconds.
    pub(crate) fn sample_of(
        block: u32,
        position: u32,
        program: usize,
        milliseconds: u64,
    ) -> Sample {
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
            figures: BTreeMap::new(),
        }
    }

    #[test]
    fn a_slower_b_has_a_positive_log_ratio() {
        let samples = [
            sample_of(0, 0, 0, 100),
            sample_of(0, 1, 1, 200),
            sample_of(0, 2, 1, 800),
            sample_of(0, 3, 0, 100),
        ];
        for metric in Metric::KERNEL {
            let ratios = block_log_ratios(&samples, 1, 0, 1, &metric).unwrap();
            assert!((ratios[0] - 4.0_f64.ln()).abs() < 1e-12, "{metric:?}");
        }
    }

    #[test]
    fn values_have_the_units_they_promise() {
        let sample = sample_of(0, 0, 0, 250);
        assert_eq!(sample.value(&Metric::Cpu), 0.25);
        assert_eq!(sample.value(&Metric::Wall), 0.25);
        assert_eq!(sample.value(&Metric::Rss), 256_000.0);
    }

    #[test]
    fn a_value_of_zero_leaves_no_log_ratio() {
        let samples = [sample_of(0, 0, 0, 0), sample_of(0, 1, 1, 1)];
        assert_eq!(block_log_ratios(&samples, 1, 0, 1, &Metric::Cpu), None);
    }

    #[test]
    fn blocks_after_the_last_complete_one_are_left_out() {
        let samples = [sample_of(0, 0, 0, 10), sample_of(0, 1, 1, 10), sample_of(1, 0, 0, 10)];
        assert_eq!(block_log_ratios(&samples, 1, 0, 1, &Metric::Wall), Some(vec![0.0]));
        assert_eq!(block_log_ratios(&samples, 2, 0, 1, &Metric::Wall), None);
    }

    proptest! {
        #[test]
        fn the_unit_of_time_does_not_matter(
            times in prop::collection::vec((1_u64..100_000, 1_u64..100_000), 1..20),
            factor in 1_u64..1000,
        ) {
            let with = |factor: u64| -> Vec<Sample> {
                (0_u32..).zip(&times).flat_map(|(block, (a, b))| [
                    sample_of(block, 0, 0, a * factor),
                    sample_of(block, 1, 1, b * factor),
                ]).collect()
            };
            let blocks = u32::try_from(times.len()).unwrap();
            let before = block_log_ratios(&with(1), blocks, 0, 1, &Metric::Wall).unwrap();
            let after = block_log_ratios(&with(factor), blocks, 0, 1, &Metric::Wall).unwrap();
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
                times.iter().map(|time| sample_of(0, 0, 0, *time)).collect();
            let middle = turn % times.len();
            times.rotate_left(middle);
            samples.extend(times.iter().map(|time| sample_of(0, 0, 1, *time)));
            prop_assert_eq!(block_log_ratios(&samples, 1, 0, 1, &Metric::Rss), Some(vec![0.0]));
        }
    }
}
