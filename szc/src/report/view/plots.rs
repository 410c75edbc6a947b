//! The data of plots, in the units of their axes.
#![forbid(unsafe_code)]

use szc_stats::density::density;
use szc_stats::describe::{mean, median};
use szc_stats::factors;
use szc_stats::fixed::{CONFIDENCE, t_interval};
use szc_stats::quantile::type_7;
use szc_stats::sequential::mean_sequence;
use szc_stats::shape::{qq_band, qq_line, qq_points};

use super::unit::Unit;
use super::{Experiment, Tone, ratio_and_interval};
use crate::report::plot::{interval, qq, run_order, sequence, shares, violin};
use crate::results::tolerance::share_of;
use crate::samples::design::Arrangement;
use crate::samples::sample::{block_log_ratios, values_of};
use crate::samples::{Metric, ResultRecord, RuleRecord};

/// Places at which a density is drawn.
const DENSITY_PLACES: usize = 80;
/// Most places at which the interval of a sequence is drawn.
const SEQUENCE_PLACES: usize = 200;

/// The row of a result in an interval plot.
#[must_use]
pub fn interval_row(result: &ResultRecord, label: String) -> interval::Row {
    let (ratio, range) = ratio_and_interval(result);
    interval::Row {
        label,
        numbers: format!("{ratio} [{}]", range.replace(" to ", ", ")),
        class: Tone::of(result.verdict).class(),
        ratio: result.ratio,
        tolerance: None,
        interval: result.interval,
    }
}

/// The unit for all runs of an experiment.
#[must_use]
pub fn unit(experiment: &Experiment, metric: &Metric) -> Unit {
    let values: Vec<f64> = experiment.file.runs.iter().map(|run| run.value(metric)).collect();
    Unit::new(metric, median(&values).unwrap_or(1.0))
}

/// One violin for each program that has runs.
#[must_use]
pub fn violins(experiment: &Experiment, metric: &Metric) -> Vec<violin::Row> {
    let unit = unit(experiment, metric);
    let row = |program: usize| {
        let values: Vec<f64> = values_of(&experiment.file.runs, program, metric)
            .into_iter()
            .map(|value| value / unit.size)
            .collect();
        let quartile = |share| type_7(&values, share).unwrap_or_default();
        (!values.is_empty()).then(|| violin::Row {
            label: experiment.name(program),
            series: program,
            density: density(&values, DENSITY_PLACES).unwrap_or_default(),
            quartiles: [0.25, 0.5, 0.75].map(quartile),
            values: values.clone(),
        })
    };
    (0..experiment.file.programs.len()).filter_map(row).collect()
}

/// All runs in the order of time, a series for each program.
#[must_use]
pub fn run_order(experiment: &Experiment, metric: &Metric) -> Vec<run_order::Series> {
    let unit = unit(experiment, metric);
    let runs = || (1_u32..).map(f64::from).zip(&experiment.file.runs);
    (0..experiment.file.programs.len())
        .map(|program| {
            let own: Vec<(u32, f64, f64)> = runs()
                .filter(|(_, run)| run.program == program)
                .map(|(number, run)| (run.block, number, run.value(metric) / unit.size))
                .collect();
            let line = own
                .chunk_by(|one, next| one.0 == next.0)
                .filter_map(|block| {
                    let middle = |part: fn(&(u32, f64, f64)) -> f64| {
                        mean(&block.iter().map(part).collect::<Vec<f64>>())
                    };
                    Some((middle(|run| run.1)?, middle(|run| run.2)?))
                })
                .collect();
            let runs = own.iter().map(|(_, number, value)| (*number, *value)).collect();
            run_order::Series { series: program, runs, line }
        })
        .filter(|series| !series.runs.is_empty())
        .collect()
}

/// Log ratios of the blocks of a result; empty for one that is not paired.
#[must_use]
pub fn differences(experiment: &Experiment, result: &ResultRecord) -> Vec<f64> {
    let file = &experiment.file;
    let blocks = u32::try_from(result.n).unwrap_or(u32::MAX).min(file.design.complete_blocks);
    if !result.paired {
        return Vec::new();
    }
    block_log_ratios(&file.runs, blocks, result.reference, result.program, &result.metric)
        .unwrap_or_default()
}

/// A log ratio as a change in percent.
fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}

/// The differences of the blocks in percent, and the interval of their mean after each of them.
#[must_use]
pub fn sequence(experiment: &Experiment, result: &ResultRecord) -> Option<sequence::Data> {
    let differences = differences(experiment, result);
    if differences.is_empty() {
        return None;
    }
    let design = &experiment.file.design;
    let every = differences.len().div_ceil(SEQUENCE_PLACES);
    let interval_after = |count: usize| {
        let seen = &differences[..count];
        let interval = match design.rule {
            RuleRecord::Sequential => mean_sequence(seen).ok()?.interval,
            RuleRecord::Fixed => t_interval(seen, CONFIDENCE)?,
        };
        let ends = [mean(seen)?, interval.lower, interval.upper].map(percent);
        ends.iter().all(|end| end.is_finite()).then_some((count, ends))
    };
    let counts =
        (1..=differences.len()).filter(|count| (differences.len() - count).is_multiple_of(every));
    Some(sequence::Data {
        series: result.program,
        intervals: counts.filter_map(interval_after).collect(),
        differences: differences.iter().copied().map(percent).collect(),
        tolerance: design
            .tolerance
            .map(|_| share_of(design, &result.metric))
            .map(|share| [-100.0 * share / (1.0 + share), 100.0 * share]),
    })
}

/// The points of a QQ plot of `values`; `None` if there is no line to speak of.
#[must_use]
pub fn qq(values: &[f64], series: usize) -> Option<qq::Data> {
    Some(qq::Data {
        series,
        points: qq_points(values).ok().filter(|points| points.len() >= 3)?,
        line: qq_line(values).ok()?,
        band: qq_band(values.len(), CONFIDENCE).unwrap_or_default(),
    })
}

/// How often the layout of a program changed within a run: the median number of layouts of a run.
#[must_use]
pub fn layouts_per_run(experiment: &Experiment, program: usize) -> Option<f64> {
    let runs = experiment.file.runs.iter().filter(|run| run.program == program);
    let epochs: Option<Vec<f64>> = runs.map(|run| run.epochs.map(|count| count as f64)).collect();
    median(&epochs?)
}

/// Bars of the shares of variance, and the names of their parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Variance {
    /// One bar for each whole.
    pub bars: Vec<shares::Bar>,
    /// What the parts are.
    pub parts: Vec<String>,
}

/// Where the variance of log values comes from: layouts and runs where layouts were repeated, else
/// programs, time and runs.
#[must_use]
pub fn variance(experiment: &Experiment, metric: &Metric) -> Option<Variance> {
    let file = &experiment.file;
    if file.design.plan.arrangement == Arrangement::Layouts {
        let bars: Vec<shares::Bar> = file
            .summaries
            .iter()
            .filter(|summary| summary.metric == *metric)
            .filter_map(|summary| {
                let share = summary.variance?.share_between?;
                let label = experiment.name(summary.program);
                Some(shares::Bar { label, shares: vec![share, 1.0 - share] })
            })
            .collect();
        let parts = ["between layouts", "between runs of one layout"].map(str::to_owned).to_vec();
        return (!bars.is_empty()).then_some(Variance { bars, parts });
    }
    let programs = file.programs.len();
    let blocks = usize::try_from(file.design.complete_blocks).ok()?;
    // Every cell has a run, which bounds what a damaged file can ask for.
    if blocks.saturating_mul(programs) > file.runs.len()
        || file.programs.iter().any(|record| record.workload.is_some())
    {
        return None;
    }
    let mut table = vec![vec![Vec::new(); programs]; blocks];
    for run in &file.runs {
        let block = usize::try_from(run.block).ok()?;
        if let Some(cells) = table.get_mut(block) {
            let logarithm = run.value(metric).ln();
            cells.get_mut(run.program)?.push(logarithm);
        }
    }
    let found = factors::shares(&table).ok()?;
    let label = format!("log {} of all runs", metric.title());
    Some(Variance {
        bars: vec![shares::Bar { label, shares: vec![found.programs, found.blocks, found.runs] }],
        parts: [
            "between programs",
            "between blocks (the machine over time)",
            "between layouts and runs",
        ]
        .map(str::to_owned)
        .to_vec(),
    })
}
