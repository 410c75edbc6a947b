//! From runs to summaries: each program by itself over layouts, for each metric.
//!
//! The value of a layout is the mean of its runs, and the layout is the unit of replication: the
//! interval is one of the mean over layouts. Where layouts were run more than once, their variance
//! is split into what layouts add and what runs of the same layout differ by (Kalibera and Jones).
#![forbid(unsafe_code)]

use szc_stats::describe::{mean, median, standard_deviation};
use szc_stats::fixed::{CONFIDENCE, t_interval};
use szc_stats::planning::{Rule, minimum_detectable_effect};
use szc_stats::sequential::mean_sequence;
use szc_stats::shape::outliers;
use szc_stats::variance_components::components;

use super::comparison::rule_of;
use super::diagnostics::diagnostics;
use super::slowest::slowest;
use super::split::split;
use crate::samples::design::{Arrangement, Part};
use crate::samples::{Metric, OutliersRecord, Sample, SamplesFile, SummaryRecord, VarianceRecord};

/// Fewest layouts run more than once that are worth splitting a variance by.
const MIN_REPEATED_LAYOUTS: usize = 3;

/// Summarizes the complete blocks of `file`, the deciding metric first in each program.
#[must_use]
pub fn summaries(file: &SamplesFile) -> Vec<SummaryRecord> {
    let metrics = file.metrics();
    let programs = 0..file.programs.len();
    programs
        .flat_map(|program| metrics.iter().map(move |metric| (program, metric)))
        .filter_map(|(program, metric)| summary(file, program, metric))
        .collect()
}

/// Values of the runs of each layout, in the order of time.
fn layouts(file: &SamplesFile, program: usize, metric: &Metric) -> Vec<Vec<f64>> {
    let blocks = file.design.complete_blocks;
    let runs: Vec<&Sample> =
        file.runs.iter().filter(|run| run.program == program && run.block < blocks).collect();
    match file.design.plan.arrangement {
        Arrangement::Mirrored => runs.iter().map(|run| vec![run.value(metric)]).collect(),
        // Of the others, runs of a pair have parts in common.
        Arrangement::Parts => runs
            .iter()
            .filter(|run| Part::at(run.position) == Part::All)
            .map(|run| vec![run.value(metric)])
            .collect(),
        Arrangement::Layouts | Arrangement::Groups => runs
            .chunk_by(|one, next| one.block == next.block)
            .map(|layout| layout.iter().map(|run| run.value(metric)).collect())
            .collect(),
    }
}

/// The values that an interval of the mean over layouts is made of, one for each layout.
#[must_use]
pub fn layout_means(file: &SamplesFile, program: usize, metric: &Metric) -> Vec<f64> {
    layouts(file, program, metric).iter().filter_map(|layout| mean(layout)).collect()
}

fn summary(file: &SamplesFile, program: usize, metric: &Metric) -> Option<SummaryRecord> {
    let layouts = layouts(file, program, metric);
    let values: Vec<f64> = layouts.iter().filter_map(|layout| mean(layout)).collect();
    let runs: Vec<f64> = layouts.concat();
    if runs.is_empty() || runs.iter().any(|value| !(*value > 0.0 && value.is_finite())) {
        return None;
    }
    // Whenever the data decided when to stop, be it by this program's precision or by a verdict.
    let rule = rule_of(file);
    let (interval, method) = match rule {
        Rule::Sequential => (
            mean_sequence(&values).ok().map(|sequence| sequence.interval),
            "confidence sequence of the mean over layouts, valid at every look",
        ),
        Rule::Fixed => (t_interval(&values, CONFIDENCE), "t interval of the mean over layouts"),
    };
    let counted = outliers(&values).ok()?;
    // What a comparison sees: one run of each layout.
    let single: Vec<f64> = layouts.iter().map(|layout| layout[0].ln()).collect();
    let effect = standard_deviation(&single)
        .map(|spread| minimum_detectable_effect(spread, single.len()).exp_m1())
        .filter(|effect| effect.is_finite());
    Some(SummaryRecord {
        program,
        metric: metric.clone(),
        unit: metric.unit().to_owned(),
        deciding: *metric == file.design.metric,
        layouts: values.len(),
        runs: runs.len(),
        mean: mean(&values).filter(|mean| mean.is_finite())?,
        interval: interval.map(|ends| [ends.lower, ends.upper]).filter(|ends| all_finite(ends)),
        method: method.to_owned(),
        median: median(&values)?,
        sd: standard_deviation(&values).filter(|spread| spread.is_finite()),
        slowest: slowest(rule, &values),
        min: runs.iter().copied().fold(f64::INFINITY, f64::min),
        max: runs.iter().copied().fold(0.0, f64::max),
        outliers: OutliersRecord {
            far_low: counted.far_low,
            low: counted.low,
            high: counted.high,
            far_high: counted.far_high,
        },
        variance: variance(&layouts),
        split: split(file, program, metric),
        minimum_detectable_effect: effect,
        diagnostics: diagnostics(&values),
    })
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Splits the variance of the log values of the layouts that were run equally often, more than
/// once.
fn variance(layouts: &[Vec<f64>]) -> Option<VarianceRecord> {
    let runs_per_layout = layouts.iter().map(Vec::len).max().filter(|runs| *runs >= 2)?;
    let repeated: Vec<f64> = layouts
        .iter()
        .filter(|layout| layout.len() == runs_per_layout)
        .flatten()
        .map(|value| value.ln())
        .collect();
    let count = repeated.len() / runs_per_layout;
    if count < MIN_REPEATED_LAYOUTS {
        return None;
    }
    let found = components(&repeated, &[count, runs_per_layout], CONFIDENCE).ok()?;
    Some(VarianceRecord {
        layouts: count,
        runs_per_layout,
        between_layouts: found.unbiased[1],
        within_layouts: found.unbiased[0],
        share_between: found.shares().map(|shares| shares[1]),
    })
}

#[cfg(test)]
mod tests;
