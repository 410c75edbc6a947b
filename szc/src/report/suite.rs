//! Levels over a suite of programs: the analysis of variance, and the table of speedups.
//!
//! The programs are the subjects, the levels the treatment, and the value of a program at a level
//! is its mean log value over blocks: so a program counts as much as any other, however long it
//! runs, and differences are ratios. After section 4.5 of the STABILIZER paper.
//!
//! Of several machines, the value of a program is the mean over those that measured it, and
//! programs of the same machines are a block of the analysis.
#![forbid(unsafe_code)]

mod words;

use serde::{Deserialize, Serialize};

pub(super) use self::words::p_value;
pub use self::words::suite_sentences;
use super::comparison::metrics_in_order;
use super::json::{ResultRecord, SamplesFile};
use super::machines::{OverMachinesRecord, machines_of};
use super::number::{decimals_for, range};
use super::sentence::interval_of;
use super::text::{align, fewest_blocks};
use super::verdict::Verdict;
use crate::measure::sample::{Metric, block_mean_logarithms};
use szc_stats::anova::{Contrast, contrasts_in_blocks, within_subjects_in_blocks};
use szc_stats::describe::mean;
use szc_stats::family;
use szc_stats::fixed::{CONFIDENCE, Interval};

/// Share of false statements that is accepted.
const ERROR_RATE: f64 = 1.0 - CONFIDENCE;

/// The levels over all programs, by one metric. Ratios are level/reference of values: below 1,
/// the level takes less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// The metric.
    pub metric: Metric,
    /// The programs that have values at all levels.
    pub workloads: Vec<String>,
    /// Each level, the reference first.
    pub levels: Vec<LevelRecord>,
    /// Mean square of the levels over that of the error.
    pub f: f64,
    /// k − 1 and (k − 1)(n − b), with b blocks of machines.
    pub degrees_of_freedom: [usize; 2],
    /// p of "all levels take the same".
    pub p: f64,
    /// Greenhouse and Geisser's ε, by which the degrees of freedom are multiplied for
    /// `p_corrected`.
    pub epsilon: f64,
    /// p without the assumption that all differences of levels vary equally.
    pub p_corrected: f64,
    /// Effect size: share of the levels in the variance of levels and error.
    pub partial_eta_squared: f64,
    /// Effect size: share of the levels in all variance.
    pub generalized_eta_squared: f64,
    /// Of several machines: the block of each program, from 0. Programs of the same machines are
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_of: Vec<usize>,
    /// Whether levels do different things in different blocks; absent with one block, and where
    /// each has only one program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_block: Option<ByBlockRecord>,
}

/// The interaction of levels and blocks of machines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByBlockRecord {
    /// Mean square of the interaction over that of the error.
    pub f: f64,
    /// (k − 1)(b − 1) and (k − 1)(n − b).
    pub degrees_of_freedom: [usize; 2],
    /// p of "levels do the same in all blocks".
    pub p: f64,
}

/// One level over all programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelRecord {
    /// The level.
    pub level: String,
    /// Geometric mean ratio to the mean of all levels.
    pub ratio_to_mean: f64,
    /// Its interval (Loftus and Masson): for comparing the levels with one another.
    pub interval_to_mean: [f64; 2],
    /// Geometric mean ratio to the reference; 1 for the reference itself.
    pub ratio: f64,
    /// Interval of `ratio`; absent for the reference.
    pub interval: Option<[f64; 2]>,
    /// Probability with which it covers: that of Holm's level, 95 % for all levels together.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    /// p of "as the reference", adjusted by Holm for all levels; absent for the reference.
    pub p_holm: Option<f64>,
}

impl LevelRecord {
    /// Whether it takes more or less than the reference, at 5 % for all levels together.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.p_holm.is_some_and(|p| p <= ERROR_RATE)
    }
}

/// The analysis of the deciding metric. `None` without two programs that have values at all
/// levels, or if the levels differ by exactly the same in all of them.
#[must_use]
pub fn suite(file: &SamplesFile) -> Option<SuiteRecord> {
    let metric = metrics_in_order(file).into_iter().next()?;
    let levels = levels_of(file);
    let mut workloads = Vec::new();
    let mut rows = Vec::new();
    for workload in workloads_of(file) {
        let row: Option<Vec<f64>> =
            levels.iter().map(|level| mean_over_machines(file, workload, level, &metric)).collect();
        if let Some(row) = row {
            workloads.push(workload.to_owned());
            rows.push(row);
        }
    }
    let block_of = blocks_of(file, &workloads);
    // With one program in each block nothing would be left to be the error.
    let blocks = if count(&block_of) < rows.len() { block_of.clone() } else { vec![0; rows.len()] };
    let analysis = within_subjects_in_blocks(&rows, &blocks, CONFIDENCE).ok()?;
    let grand = mean(&analysis.means)?;
    let against_reference = against_reference(&rows, &blocks)?;
    let records = levels.iter().enumerate().map(|(index, level)| {
        let found = against_reference.iter().find(|(contrast, _)| contrast.level == index);
        let contrast = found.map(|(contrast, _)| contrast);
        let center = analysis.means[index] - grand;
        let ends = |center: f64, half: f64| [(center - half).exp(), (center + half).exp()];
        LevelRecord {
            level: (*level).to_owned(),
            ratio_to_mean: center.exp(),
            interval_to_mean: ends(center, analysis.half_width),
            ratio: contrast.map_or(1.0, |contrast| contrast.difference.exp()),
            interval: contrast
                .map(|contrast| [contrast.interval.lower.exp(), contrast.interval.upper.exp()]),
            confidence: found.map_or(CONFIDENCE, |(_, confidence)| *confidence),
            p_holm: contrast.map(|contrast| contrast.p_holm),
        }
    });
    let record = SuiteRecord {
        metric,
        workloads,
        levels: records.collect(),
        f: analysis.f,
        degrees_of_freedom: analysis.degrees_of_freedom,
        p: analysis.p,
        epsilon: analysis.epsilon,
        p_corrected: analysis.p_corrected,
        partial_eta_squared: analysis.partial_eta_squared,
        generalized_eta_squared: analysis.generalized_eta_squared,
        block_of: if file.machines.is_empty() { Vec::new() } else { block_of },
        by_block: analysis.by_block.map(|found| ByBlockRecord {
            f: found.f,
            degrees_of_freedom: found.degrees_of_freedom,
            p: found.p,
        }),
    };
    let numbers = record.levels.iter().flat_map(|level| {
        let ends = level.interval.unwrap_or_default();
        [level.ratio, level.ratio_to_mean, level.interval_to_mean[1], ends[1]]
    });
    let by_block = record.by_block.map_or(0.0, |found| found.f);
    numbers.chain([record.f, by_block]).all(f64::is_finite).then_some(record)
}

/// Each level against the first, with an interval that agrees with Holm's p, and the confidence of
/// that.
fn against_reference(rows: &[Vec<f64>], blocks: &[usize]) -> Option<Vec<(Contrast, f64)>> {
    let alone = contrasts_in_blocks(rows, blocks, 0, CONFIDENCE).ok()?;
    let p: Vec<f64> = alone.iter().map(|contrast| contrast.p).collect();
    let widened = family::levels(&p).into_iter().enumerate().map(|(place, divisor)| {
        let confidence = 1.0 - ERROR_RATE / divisor as f64;
        let all = contrasts_in_blocks(rows, blocks, 0, confidence).ok()?;
        Some((*all.get(place)?, confidence))
    });
    widened.collect()
}

/// What files of older versions have.
pub(super) fn usual_confidence() -> f64 {
    CONFIDENCE
}

/// The levels in the order of the file, the reference first.
pub(super) fn levels_of(file: &SamplesFile) -> Vec<&str> {
    let mut levels: Vec<&str> = Vec::new();
    for level in file.programs.iter().filter_map(|program| program.level.as_deref()) {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// The programs of the suite in the order of the file.
pub(super) fn workloads_of(file: &SamplesFile) -> Vec<&str> {
    let mut workloads: Vec<&str> = Vec::new();
    for workload in file.programs.iter().filter_map(|program| program.workload.as_deref()) {
        if !workloads.contains(&workload) {
            workloads.push(workload);
        }
    }
    workloads
}

/// The place of a program at a level, measured by that machine of a file of several.
pub(super) fn program_of(
    file: &SamplesFile,
    workload: &str,
    level: &str,
    machine: Option<usize>,
) -> Option<usize> {
    file.programs.iter().position(|program| {
        program.workload.as_deref() == Some(workload)
            && program.level.as_deref() == Some(level)
            && program.machine == machine
    })
}

/// The machines that measured a program; `None` alone if the file is of one machine.
fn series_of(file: &SamplesFile, workload: &str) -> Vec<Option<usize>> {
    match machines_of(file, workload) {
        machines if machines.is_empty() => vec![None],
        machines => machines.into_iter().map(Some).collect(),
    }
}

/// The block of each program: programs that the same machines measured are in the same.
fn blocks_of(file: &SamplesFile, workloads: &[String]) -> Vec<usize> {
    let mut known: Vec<Vec<usize>> = Vec::new();
    workloads
        .iter()
        .map(|workload| {
            let machines = machines_of(file, workload);
            known.iter().position(|other| *other == machines).unwrap_or_else(|| {
                known.push(machines);
                known.len() - 1
            })
        })
        .collect()
}

fn count(blocks: &[usize]) -> usize {
    blocks.iter().max().map_or(0, |last| last + 1)
}

/// Every machine counts the same.
fn mean_over_machines(
    file: &SamplesFile,
    workload: &str,
    level: &str,
    metric: &Metric,
) -> Option<f64> {
    let means: Option<Vec<f64>> = series_of(file, workload)
        .into_iter()
        .map(|machine| mean_log(file, program_of(file, workload, level, machine)?, metric))
        .collect();
    mean(&means?)
}

fn mean_log(file: &SamplesFile, program: usize, metric: &Metric) -> Option<f64> {
    let runs = file.runs.iter().filter(|run| run.program == program);
    let blocks = runs.map(|run| run.block.saturating_add(1)).max()?;
    // A program that was cut off counts from where it has a result of its own.
    if (blocks as usize) < fewest_blocks(file) {
        return None;
    }
    mean(&block_mean_logarithms(&file.runs, blocks, program, metric)?)
}

/// Speedups over the reference as in figure 4.7 of the paper: reference/level, above 1 if the level
/// takes less; one line a program, one column a level. `*` marks significant slowdowns, `~` what is
/// unresolved, and `=` what is equivalent within the tolerance.
#[must_use]
pub fn speedup_table(file: &SamplesFile) -> String {
    let levels = levels_of(file);
    let mut rows = vec![
        std::iter::once(String::new())
            .chain(levels.iter().skip(1).map(|level| (*level).to_owned()))
            .collect::<Vec<String>>(),
    ];
    for workload in workloads_of(file) {
        for machine in series_of(file, workload) {
            let host = machine.and_then(|place| file.machines.get(place));
            let name = host.map_or_else(String::new, |machine| format!(" on {}", machine.name()));
            let mut row = vec![super::json::printable(&format!("{workload}{name}"))];
            for level in levels.iter().skip(1) {
                let program = program_of(file, workload, level, machine);
                let result = file.deciding_results().find(|result| Some(result.program) == program);
                row.push(result.map_or_else(|| "no result".to_owned(), speedup));
            }
            rows.push(row);
        }
        let all: Vec<String> = file
            .over_machines
            .iter()
            .filter(|record| record.workload == workload)
            .map(OverMachinesRecord::speedup)
            .collect();
        if all.len() == levels.len().saturating_sub(1) && !all.is_empty() {
            let name = super::json::printable(&format!("{workload}, machines as blocks"));
            rows.push(std::iter::once(name).chain(all).collect());
        }
    }
    if let Some(suite) = &file.suite {
        let mut row = vec!["all (geometric mean)".to_owned()];
        for level in suite.levels.iter().skip(1) {
            let mark = match (level.is_resolved(), level.ratio > 1.0) {
                (false, _) => "~",
                (true, true) => "*",
                (true, false) => " ",
            };
            row.push(cell(level.ratio, level.interval.unwrap_or([level.ratio; 2]), mark));
        }
        rows.push(row);
    }
    align(&rows)
}

fn speedup(result: &ResultRecord) -> String {
    let mark = match result.verdict {
        Verdict::Slower | Verdict::Larger | Verdict::Higher => "*",
        Verdict::Unresolved => "~",
        Verdict::Equivalent => "=",
        _ => " ",
    };
    let interval = interval_of(result);
    cell(result.ratio, [interval.lower, interval.upper], mark)
}

/// "1.034 (1.021 to 1.047) *" of a ratio that is below 1 for a speedup.
pub(super) fn cell(ratio: f64, [lower, upper]: [f64; 2], mark: &str) -> String {
    let (speedup, interval) = (1.0 / ratio, Interval { lower: 1.0 / upper, upper: 1.0 / lower });
    let decimals = decimals_for(speedup, interval);
    format!("{speedup:.decimals$} ({}) {mark}", range(interval, decimals))
}

/// Each level's mean with its interval, relative to the mean of all levels.
#[must_use]
pub fn level_table(suite: &SuiteRecord) -> String {
    let mut rows =
        vec![["level", "ratio to the mean of levels", "95 % interval"].map(str::to_owned).to_vec()];
    for level in &suite.levels {
        let [lower, upper] = level.interval_to_mean;
        let interval = Interval { lower, upper };
        let decimals = decimals_for(level.ratio_to_mean, interval);
        rows.push(vec![
            super::json::printable(&level.level),
            format!("{:.decimals$}", level.ratio_to_mean),
            range(interval, decimals),
        ]);
    }
    align(&rows)
}

#[cfg(test)]
pub(crate) mod tests;
