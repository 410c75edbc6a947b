//! From runs to results: each program against its reference, for each metric.
//!
//! Ratios are program/reference: below 1, the program takes less. The same function judges while
//! an experiment runs, at its end, and when its file is read again, so that the three agree.
#![forbid(unsafe_code)]

use szc_stats::decision::{Estimate, Tolerance, compare, gate};
use szc_stats::describe::median;
use szc_stats::family::{Member, Question, family};
use szc_stats::fixed::Interval;
use szc_stats::median_check::median_check;
use szc_stats::planning::Rule;

use super::diagnostics::diagnostics;
use super::rows::{self, RowQuestion};
use super::slowest::slowest_ratio;
use super::tolerance::{row_tolerance, tolerance_of};
use crate::samples::design::Arrangement;
use crate::samples::sample::{block_log_ratios, values_of};
use crate::samples::{
    Command, DesignRecord, Metric, ResultRecord, RuleRecord, Sample, SamplesFile, Verdict,
};

/// How a question is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// Whether the question is that of a gate.
    pub gate: bool,
    /// When the data are looked at.
    pub rule: Rule,
    /// Layouts of each program in a block.
    pub layouts_per_block: usize,
}

/// One program judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Estimate, interval and p.
    pub member: Member,
    /// The verdict in the words of the metric.
    pub verdict: Verdict,
    /// Blocks after which there may be one.
    pub blocks_needed: Option<u64>,
}

impl Judged {
    /// The ratio and its interval.
    #[must_use]
    pub fn ratio(&self) -> (f64, Interval) {
        let Estimate { mean, interval, .. } = self.member.estimate;
        (
            ratio_of(mean),
            Interval { lower: ratio_of(interval.lower), upper: ratio_of(interval.upper) },
        )
    }
}

/// e^x, kept within the numbers that JSON has.
fn ratio_of(log_ratio: f64) -> f64 {
    log_ratio.exp().clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// The programs that are compared with one reference each, as `(reference, program)`: in each
/// workload on each machine all others with the first.
#[must_use]
pub fn families(file: &SamplesFile) -> Vec<Vec<(usize, usize)>> {
    let mut families: Vec<Vec<(usize, usize)>> = Vec::new();
    for (reference, record) in file.programs.iter().enumerate() {
        let of_workload = |program: &usize| {
            let other = &file.programs[*program];
            (&other.workload, other.machine) == (&record.workload, record.machine)
        };
        let mut programs = (0..file.programs.len()).filter(of_workload);
        if programs.next() == Some(reference) {
            families.push(programs.map(|program| (reference, program)).collect());
        }
    }
    families.retain(|pairs| !pairs.is_empty());
    families
}

/// Judges one family by its log ratios, one list for each program or row, and by the tolerance of
/// each. `None` if there are too few blocks or the numbers are unfit.
#[must_use]
pub fn judge(
    criteria: &Criteria,
    metric: &Metric,
    lists: &[Vec<f64>],
    tolerances: &[Tolerance],
) -> Option<Vec<Judged>> {
    let Criteria { rule, layouts_per_block, gate: is_gate } = *criteria;
    // What is rejected: of one comparison nothing is shared, and its p is that of "no difference".
    let null = |tolerance: &Tolerance| match is_gate && lists.len() > 1 {
        true => tolerance.log_bound(),
        false => 0.0,
    };
    let slices: Vec<(&[f64], f64)> =
        lists.iter().map(Vec::as_slice).zip(tolerances.iter().map(null)).collect();
    let members = family(&Question { rule, layouts_per_block }, &slices).ok()??;
    let judged = members.into_iter().zip(tolerances).map(|(member, tolerance)| {
        let (verdict, blocks_needed) = if is_gate {
            let found = gate(&member.estimate, *tolerance);
            (Verdict::of_gate(found), found.blocks_needed())
        } else {
            let found = compare(&member.estimate, *tolerance);
            (Verdict::of_comparison(metric, found), found.blocks_needed())
        };
        Judged { member, verdict, blocks_needed }
    });
    Some(judged.collect())
}

/// The tolerance of each question.
#[must_use]
pub fn tolerances(design: &DesignRecord, questions: &[RowQuestion]) -> Vec<Tolerance> {
    questions.iter().map(|(_, metric)| tolerance_of(design, metric)).collect()
}

/// The log ratios of a family; `None` if a value is zero or a program is missing in a block.
#[must_use]
pub fn log_ratios(
    samples: &[Sample],
    blocks: u32,
    pairs: &[(usize, usize)],
    metric: &Metric,
) -> Option<Vec<Vec<f64>>> {
    pairs
        .iter()
        .map(|(reference, program)| block_log_ratios(samples, blocks, *reference, *program, metric))
        .collect()
}

/// How a file's question is decided, for its own metric.
#[must_use]
pub fn criteria_of(file: &SamplesFile) -> Criteria {
    Criteria {
        gate: file.command == Command::Gate,
        rule: rule_of(file),
        layouts_per_block: match file.design.plan.arrangement {
            // A layout for each run.
            Arrangement::Mirrored => file.runs_per_block() as usize,
            Arrangement::Layouts | Arrangement::Parts | Arrangement::Groups => 1,
        },
    }
}

/// When the data of a file were looked at.
#[must_use]
pub fn rule_of(file: &SamplesFile) -> Rule {
    match file.design.rule {
        RuleRecord::Fixed => Rule::Fixed,
        RuleRecord::Sequential => Rule::Sequential,
    }
}

/// Analyses the runs of `file`; what it has under `results` is not looked at.
///
/// Only the deciding metric answers the question of a gate: for the others the words are those of
/// a comparison. Metrics without values are left out. Sentences are left empty: they are the
/// report's.
#[must_use]
pub fn results(file: &SamplesFile) -> Vec<ResultRecord> {
    let blocks = file.design.complete_blocks;
    let mut records = Vec::new();
    for metric in file.metrics() {
        let deciding = metric == file.design.metric;
        let mut criteria = criteria_of(file);
        criteria.gate &= deciding;
        for pairs in families(file) {
            // In a suite, every workload has as many blocks as were measured of it.
            let blocks = blocks_of(file, &pairs).min(blocks);
            let Some((questions, lists)) = questions(file, blocks, &pairs, &metric) else {
                continue;
            };
            let tolerances = tolerances(&file.design, &questions);
            let Some(judged) = judge(&criteria, &metric, &lists, &tolerances) else {
                continue;
            };
            for (((pair, metric), judged), list) in questions.iter().zip(&judged).zip(&lists) {
                let record = record(file, &criteria, metric, *pair, judged, list);
                records.extend(record.map(|record| ResultRecord { deciding, ..record }));
            }
        }
    }
    records
}

/// What is asked of some programs by a metric, and its log ratios. All rows of a harness together
/// are a question of each; where they decide, none is asked again by itself.
fn questions(
    file: &SamplesFile,
    blocks: u32,
    pairs: &[(usize, usize)],
    metric: &Metric,
) -> Option<(Vec<RowQuestion>, Vec<Vec<f64>>)> {
    match metric {
        Metric::Rows => {
            let (questions, lists) = rows::answers(&file.runs, blocks, pairs);
            (!questions.is_empty()).then_some((questions, lists))
        }
        Metric::Row(_) if file.design.metric == Metric::Rows => None,
        metric => {
            let lists = log_ratios(&file.runs, blocks, pairs, metric)?;
            Some((pairs.iter().map(|pair| (*pair, metric.clone())).collect(), lists))
        }
    }
}

/// Blocks in which the programs of a family ran: up to the last one that all of them reached.
fn blocks_of(file: &SamplesFile, pairs: &[(usize, usize)]) -> u32 {
    let reached = |program: usize| {
        let blocks = file.runs.iter().filter(|run| run.program == program).map(|run| run.block);
        blocks.max().map_or(0, |last| last.saturating_add(1))
    };
    let programs = pairs.iter().flat_map(|(reference, program)| [*reference, *program]);
    programs.map(reached).min().unwrap_or(0)
}

fn record(
    file: &SamplesFile,
    criteria: &Criteria,
    metric: &Metric,
    (reference, program): (usize, usize),
    judged: &Judged,
    differences: &[f64],
) -> Option<ResultRecord> {
    let blocks = u32::try_from(differences.len()).ok()?;
    let complete: Vec<Sample> =
        file.runs.iter().filter(|run| run.block < blocks).cloned().collect();
    let (ratio, interval) = judged.ratio();
    let check = median_check(criteria.rule, differences);
    let estimate = judged.member.estimate;
    let times = [reference, program].map(|place| values_of(&complete, place, metric));
    Some(ResultRecord {
        program,
        reference,
        metric: metric.clone(),
        unit: metric.unit().to_owned(),
        deciding: false,
        verdict: judged.verdict,
        tolerance: row_tolerance(&file.design, metric),
        sentence: String::new(),
        method: method(criteria.rule).to_owned(),
        paired: true,
        n: differences.len(),
        medians: [median(&times[0])?, median(&times[1])?],
        ratio,
        interval: [interval.lower, interval.upper],
        confidence: judged.member.confidence,
        mean_log_ratio: estimate.mean,
        sd_log_ratio: estimate.standard_deviation,
        p: judged.member.p,
        p_adjusted: judged.member.p_adjusted,
        blocks_needed: judged.blocks_needed,
        layouts: Some(estimate.layouts),
        slowest: slowest_ratio(criteria.rule, &times),
        median_ratio: check.map(|check| ratio_of(check.median)),
        median_interval: check
            .map(|check| [ratio_of(check.interval.lower), ratio_of(check.interval.upper)]),
        mean_and_median_disagree: check
            .is_some_and(|check| check.disagrees(estimate.mean, estimate.interval)),
        diagnostics: diagnostics(differences),
    })
}

fn method(rule: Rule) -> &'static str {
    match rule {
        Rule::Fixed => "t interval of the mean log ratio of blocks, number of blocks fixed",
        Rule::Sequential => {
            "confidence sequence of the mean log ratio of blocks, valid at every look"
        }
    }
}

#[cfg(test)]
mod tests;
