//! The record of one run, and the log ratio of a block.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use szc_stats::describe::mean;
use szc_stats::fixed::ROUNDING;

use super::metric::{Metric, ROW_PREFIX};

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
    /// Value of a metric in its unit; 0 for a figure that this run lacks.
    #[must_use]
    pub fn value(&self, metric: &Metric) -> f64 {
        match metric {
            Metric::Cpu => self.user_us.saturating_add(self.sys_us) as f64 / 1e6,
            Metric::Wall => self.wall_ns as f64 / 1e9,
            Metric::Rss => self.max_rss_kib as f64 * 1024.0,
            Metric::Figure(name) | Metric::Row(name) => {
                self.figures.get(name).copied().unwrap_or(0.0)
            }
            Metric::Rows => {
                let rows = self.figures.iter().filter(|(name, _)| name.starts_with(ROW_PREFIX));
                let logarithms: Vec<f64> = rows.map(|(_, value)| value.ln()).collect();
                mean(&logarithms).map_or(0.0, f64::exp)
            }
        }
    }
}

/// All metrics that these samples have: the kernel's, and the figures that occur in them.
#[must_use]
pub fn metrics_of(samples: &[Sample]) -> Vec<Metric> {
    let mut figures: Vec<&String> = samples.iter().flat_map(|run| run.figures.keys()).collect();
    figures.sort();
    figures.dedup();
    let figures = figures.into_iter().map(|name| Metric::of_figure(name));
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
    log_ratios_of(samples, 0..blocks, reference, program, metric)
}

/// The same for some of the blocks, given all samples in the order of time.
#[must_use]
pub fn log_ratios_of(
    samples: &[Sample],
    blocks: Range<u32>,
    reference: usize,
    program: usize,
    metric: &Metric,
) -> Option<Vec<f64>> {
    let start = samples.partition_point(|run| run.block < blocks.start);
    let of = |program| mean_logarithms_of(&samples[start..], blocks.clone(), program, metric);
    let (of_reference, of_program) = (of(reference)?, of(program)?);
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
    mean_logarithms_of(samples, 0..blocks, program, metric)
}

fn mean_logarithms_of(
    samples: &[Sample],
    blocks: Range<u32>,
    program: usize,
    metric: &Metric,
) -> Option<Vec<f64>> {
    // Every block has at least one run, which bounds what a damaged file can ask for.
    let count = usize::try_from(blocks.end.saturating_sub(blocks.start)).ok();
    let mut logarithms = vec![Vec::new(); count.filter(|count| *count <= samples.len())?];
    let wanted = |run: &&Sample| blocks.contains(&run.block) && run.program == program;
    for sample in samples.iter().filter(wanted) {
        let value = sample.value(metric);
        if value <= 0.0 {
            return None;
        }
        logarithms[usize::try_from(sample.block - blocks.start).ok()?].push(value.ln());
    }
    logarithms.iter().map(|of_block| mean(of_block)).collect()
}

#[cfg(test)]
mod tests;
