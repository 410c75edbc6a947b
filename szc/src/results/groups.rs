//! Results of two programs that were measured apart: no common blocks, so no pairs.
#![forbid(unsafe_code)]

use szc_stats::data::DataError;
use szc_stats::decision::{Estimate, compare, gate};
use szc_stats::describe::{mean, median, standard_deviation};
use szc_stats::family::holm_divisors;
use szc_stats::fixed::CONFIDENCE;
use szc_stats::groups::{Welch, welch};
use szc_stats::multiplicity::holm;
use szc_stats::planning::Rule;

use super::comparison::criteria_of;
use super::diagnostics::diagnostics;
use super::rows;
use super::slowest::slowest_ratio;
use super::summary::layout_means;
use super::tolerance::{row_tolerance, tolerance_of};
use crate::samples::{Metric, ResultRecord, SamplesFile, Verdict};

const WELCH: &str =
    "Welch's t interval of the difference of mean logarithms over layouts, unpaired";
const CERTAIN: &str = "difference of values that are the same in all layouts, unpaired";

/// Compares program 1 with program 0 by every metric: Welch's interval of the difference of mean
/// logarithms over layouts. Metrics that are zero are left out.
#[must_use]
pub fn group_results(file: &SamplesFile) -> Vec<ResultRecord> {
    let by_rows = file.design.metric == Metric::Rows;
    let others = file.metrics().into_iter().filter_map(|metric| match metric {
        Metric::Rows | Metric::Row(_) if by_rows => None,
        metric => group_result(file, &metric, metric == file.design.metric, CONFIDENCE),
    });
    let rows = if by_rows { row_results(file) } else { Vec::new() };
    rows.into_iter().chain(others).collect()
}

/// Each row of a harness that both programs have; all share one error rate by Holm's procedure.
fn row_results(file: &SamplesFile) -> Vec<ResultRecord> {
    let questions = rows::questions(&file.runs, file.design.complete_blocks, &[(0, 1)]);
    let result = |row: &Metric, confidence| group_result(file, row, true, confidence);
    let first: Vec<(Metric, ResultRecord)> = questions
        .into_iter()
        .filter_map(|(_, row)| result(&row, CONFIDENCE).map(|found| (row, found)))
        .collect();
    let is_gate = criteria_of(file).gate;
    // What is rejected, as in a family of pairs: no difference, or that of the tolerance.
    let p_of = |(row, found): &(Metric, ResultRecord)| {
        if !is_gate || first.len() == 1 {
            return Some(found.p);
        }
        let [one, other] = logarithms(file, row)?;
        let bound = tolerance_of(&file.design, row).log_bound();
        let shifted: Vec<f64> = other.iter().map(|value| value - bound).collect();
        Some(compared(&one, &shifted, CONFIDENCE)?.0.p)
    };
    let Some(p) = first.iter().map(p_of).collect::<Option<Vec<f64>>>() else { return Vec::new() };
    let Ok(adjusted) = holm(&p) else { return Vec::new() };
    let shared = first.iter().zip(holm_divisors(&p)).zip(adjusted);
    let judged = shared.filter_map(|(((row, _), divisor), p_adjusted)| {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / divisor as f64;
        let found = result(row, confidence)?;
        Some(ResultRecord { p_adjusted, ..found })
    });
    judged.collect()
}

/// Logarithms of the layouts of both programs; `None` if one is of zero.
fn logarithms(file: &SamplesFile, metric: &Metric) -> Option<[Vec<f64>; 2]> {
    let values = [0, 1].map(|program| layout_means(file, program, metric));
    let positive = values.iter().flatten().all(|value| *value > 0.0);
    positive.then(|| values.map(|list| list.iter().map(|value| value.ln()).collect()))
}

/// The difference of two lists, and the method in words.
fn compared(one: &[f64], other: &[f64], confidence: f64) -> Option<(Welch, &'static str)> {
    match welch(one, other, confidence) {
        Ok(found) => Some((found, WELCH)),
        Err(DataError::NoSpread) => Some((Welch::certain(mean(other)? - mean(one)?), CERTAIN)),
        Err(_) => None,
    }
}

fn group_result(
    file: &SamplesFile,
    metric: &Metric,
    deciding: bool,
    confidence: f64,
) -> Option<ResultRecord> {
    let values = [0, 1].map(|program| layout_means(file, program, metric));
    let [one, other] = logarithms(file, metric)?;
    let (found, method) = compared(&one, &other, confidence)?;
    // A pair of layouts, one of each program, differs by this much.
    let spread = standard_deviation(&one)?.hypot(standard_deviation(&other)?);
    let is_gate = criteria_of(file).gate;
    let tolerance = tolerance_of(&file.design, metric);
    let estimate = Estimate {
        rule: Rule::Fixed,
        mean: found.difference,
        standard_deviation: spread,
        blocks: one.len().min(other.len()),
        layouts: one.len().min(other.len()),
        interval: found.interval,
        alpha: 1.0 - confidence,
    };
    let (verdict, blocks_needed) = if is_gate && deciding {
        let found = gate(&estimate, tolerance);
        (Verdict::of_gate(found), found.blocks_needed())
    } else {
        let found = compare(&estimate, tolerance);
        (Verdict::of_comparison(metric, found), found.blocks_needed())
    };
    let ratio = |log: f64| log.exp().clamp(f64::MIN_POSITIVE, f64::MAX);
    Some(ResultRecord {
        program: 1,
        reference: 0,
        metric: metric.clone(),
        unit: metric.unit().to_owned(),
        deciding,
        verdict,
        tolerance: row_tolerance(&file.design, metric),
        sentence: String::new(),
        method: method.to_owned(),
        paired: false,
        n: one.len() + other.len(),
        medians: [median(&values[0])?, median(&values[1])?],
        ratio: ratio(found.difference),
        interval: [ratio(found.interval.lower), ratio(found.interval.upper)],
        confidence,
        mean_log_ratio: found.difference,
        sd_log_ratio: spread,
        p: found.p,
        p_adjusted: found.p,
        blocks_needed,
        layouts: Some(estimate.layouts),
        slowest: slowest_ratio(Rule::Fixed, &values),
        median_ratio: None,
        median_interval: None,
        mean_and_median_disagree: false,
        diagnostics: diagnostics(&[]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::rows_file;
    use crate::samples::design::Arrangement;
    use crate::samples::{Command, RowTolerance};

    #[test]
    fn rows_measured_apart_share_one_error_rate() {
        let mut file = rows_file(&[("a", 1.0), ("b", 1.1), ("c", 1.0)], 20);
        file.design.plan.arrangement = Arrangement::Groups;
        for run in file.runs.iter_mut().filter(|run| run.program == 1) {
            run.figures.insert("row:new".to_owned(), 1.0);
        }
        let found = group_results(&file);
        let deciding: Vec<(&str, Verdict)> = found
            .iter()
            .filter(|record| record.deciding)
            .map(|record| (record.metric.title(), record.verdict))
            .collect();
        let expected =
            [("a", Verdict::Equivalent), ("b", Verdict::Slower), ("c", Verdict::Equivalent)];
        assert_eq!(deciding, expected);
        assert!((found[1].confidence - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
        let mut gate = file.clone();
        gate.command = Command::Gate;
        gate.design.row_tolerances = vec![RowTolerance { name: "b".to_owned(), tolerance: 0.2 }];
        let found_by_gate = group_results(&gate);
        let passed = found_by_gate.iter().filter(|record| record.verdict == Verdict::Pass);
        let passed: Vec<_> = passed.map(|record| record.tolerance).collect();
        assert_eq!(passed, [Some(0.01), Some(0.2), Some(0.01)]);
        assert!(found[0].confidence > 0.95 && found[0].p_adjusted >= found[0].p);
    }
}
