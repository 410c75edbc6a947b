//! Levels over a suite of programs: the analysis of variance, and the table of speedups.
//!
//! The programs are the subjects, the levels the treatment, and the value of a program at a level
//! is its mean log value over blocks: so a program counts as much as any other, however long it
//! runs, and differences are ratios. After section 4.5 of the STABILIZER paper.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::comparison::metrics_in_order;
use super::json::{ResultRecord, SamplesFile};
use super::number::{decimals_for, range};
use super::sentence::interval_of;
use super::text::align;
use super::verdict::Verdict;
use crate::measure::sample::{Metric, block_mean_logarithms};
use crate::stats::anova::{contrasts, within_subjects};
use crate::stats::describe::mean;
use crate::stats::fixed::{CONFIDENCE, Interval};
use crate::stats::multiplicity::holm;

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
    /// k − 1 and (k − 1)(n − 1).
    pub degrees_of_freedom: [usize; 2],
    /// p of "all levels take the same".
    pub p: f64,
    /// Greenhouse and Geisser's ε, by which the degrees of freedom are multiplied for `p_corrected`.
    pub epsilon: f64,
    /// p without the assumption that all differences of levels vary equally.
    pub p_corrected: f64,
    /// Effect size: share of the levels in the variance of levels and error.
    pub partial_eta_squared: f64,
    /// Effect size: share of the levels in all variance.
    pub generalized_eta_squared: f64,
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
            levels.iter().map(|level| mean_log(file, workload, level, &metric)).collect();
        if let Some(row) = row {
            workloads.push(workload.to_owned());
            rows.push(row);
        }
    }
    let analysis = within_subjects(&rows, CONFIDENCE).ok()?;
    let grand = mean(&analysis.means)?;
    let against_reference = contrasts(&rows, 0, CONFIDENCE).ok()?;
    let records = levels.iter().enumerate().map(|(index, level)| {
        let contrast = against_reference.iter().find(|contrast| contrast.level == index);
        let center = analysis.means[index] - grand;
        let ends = |center: f64, half: f64| [(center - half).exp(), (center + half).exp()];
        LevelRecord {
            level: (*level).to_owned(),
            ratio_to_mean: center.exp(),
            interval_to_mean: ends(center, analysis.half_width),
            ratio: contrast.map_or(1.0, |contrast| contrast.difference.exp()),
            interval: contrast
                .map(|contrast| [contrast.interval.lower.exp(), contrast.interval.upper.exp()]),
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
    };
    let numbers = record.levels.iter().flat_map(|level| {
        let ends = level.interval.unwrap_or_default();
        [level.ratio, level.ratio_to_mean, level.interval_to_mean[1], ends[1]]
    });
    numbers.chain([record.f]).all(f64::is_finite).then_some(record)
}

/// The levels in the order of the file, the reference first.
fn levels_of(file: &SamplesFile) -> Vec<&str> {
    let mut levels: Vec<&str> = Vec::new();
    for level in file.programs.iter().filter_map(|program| program.level.as_deref()) {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// The programs of the suite in the order of the file.
fn workloads_of(file: &SamplesFile) -> Vec<&str> {
    let mut workloads: Vec<&str> = Vec::new();
    for workload in file.programs.iter().filter_map(|program| program.workload.as_deref()) {
        if !workloads.contains(&workload) {
            workloads.push(workload);
        }
    }
    workloads
}

fn program_of(file: &SamplesFile, workload: &str, level: &str) -> Option<usize> {
    file.programs.iter().position(|program| {
        program.workload.as_deref() == Some(workload) && program.level.as_deref() == Some(level)
    })
}

fn mean_log(file: &SamplesFile, workload: &str, level: &str, metric: &Metric) -> Option<f64> {
    let program = program_of(file, workload, level)?;
    let runs = file.runs.iter().filter(|run| run.program == program);
    let blocks = runs.map(|run| run.block.saturating_add(1)).max()?;
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
        let mut row = vec![super::json::printable(workload)];
        for level in levels.iter().skip(1) {
            let program = program_of(file, workload, level);
            let result = file.deciding_results().find(|result| Some(result.program) == program);
            row.push(result.map_or_else(|| "no result".to_owned(), speedup));
        }
        rows.push(row);
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
fn cell(ratio: f64, [lower, upper]: [f64; 2], mark: &str) -> String {
    let (speedup, interval) = (1.0 / ratio, Interval { lower: 1.0 / upper, upper: 1.0 / lower });
    let decimals = decimals_for(speedup, interval);
    format!("{speedup:.decimals$} ({}) {mark}", range(interval, decimals))
}

/// What the suite says in sentences: how many pairs differ, each level over all programs, and the
/// analysis of variance with its effect sizes.
#[must_use]
pub fn suite_sentences(file: &SamplesFile) -> Vec<String> {
    let mut sentences = Vec::new();
    let results: Vec<&ResultRecord> = file.deciding_results().collect();
    let alone: Vec<f64> = results.iter().map(|result| result.p).collect();
    if let Ok(adjusted) = holm(&alone) {
        let below = |values: &[f64]| values.iter().filter(|p| **p <= ERROR_RATE).count();
        sentences.push(format!(
            "Of {} pairs, {} differ at 5 % taken one by one, {} with Holm's adjustment over all of them.",
            results.len(),
            below(&alone),
            below(&adjusted)
        ));
    }
    let Some(suite) = &file.suite else {
        sentences.push(
            "No analysis of variance: it needs two programs with values at all levels that do not differ in exactly the same way.".to_owned(),
        );
        return sentences;
    };
    let programs = suite.workloads.len();
    let name = suite.metric.title();
    let reference = suite.levels.first().map_or("", |level| level.level.as_str());
    for level in suite.levels.iter().skip(1) {
        let (Some([lower, upper]), Some(p)) = (level.interval, level.p_holm) else {
            continue;
        };
        let interval = Interval { lower, upper };
        let decimals = decimals_for(level.ratio, interval);
        let evidence = format!(
            "ratio {:.decimals$} of {name}, 95 % interval {}, n = {programs} programs, paired t on log means, p = {} (Holm)",
            level.ratio,
            range(interval, decimals),
            p_value(p)
        );
        let is_resolved = level.is_resolved();
        let level = super::json::printable(&level.level);
        sentences.push(if !is_resolved {
            format!("Unresolved over the suite whether {level} takes more or less than {reference}: {evidence}.")
        } else if interval.upper < 1.0 {
            format!("{level} takes less than {reference} over the suite: {evidence}.")
        } else {
            format!("{level} takes more than {reference} over the suite: {evidence}.")
        });
    }
    let [of_levels, of_error] = suite.degrees_of_freedom;
    sentences.push(format!(
        "Analysis of variance within programs: F({of_levels}, {of_error}) = {:.3}, p = {} (Greenhouse-Geisser: ε = {:.3}, p = {}); effect size: partial η² = {:.3}, generalized η² = {:.5}.",
        suite.f,
        p_value(suite.p),
        suite.epsilon,
        p_value(suite.p_corrected),
        suite.partial_eta_squared,
        suite.generalized_eta_squared,
    ));
    sentences
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { "less than 0.0001".to_owned() } else { format!("{p:.4}") }
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
