//! Results of two programs that were measured apart: no common blocks, so no pairs.
#![forbid(unsafe_code)]

use szc_stats::data::DataError;
use szc_stats::decision::{Estimate, compare, gate};
use szc_stats::describe::{mean, median, standard_deviation};
use szc_stats::fixed::CONFIDENCE;
use szc_stats::groups::{Welch, welch};
use szc_stats::planning::Rule;

use super::comparison::{Criteria, criteria_of};
use super::diagnostics::diagnostics;
use super::slowest::slowest_ratio;
use super::summary::layout_means;
use crate::samples::{Metric, ResultRecord, SamplesFile, Verdict};

const WELCH: &str =
    "Welch's t interval of the difference of mean logarithms over layouts, unpaired";
const CERTAIN: &str = "difference of values that are the same in all layouts, unpaired";

/// Compares program 1 with program 0 by every metric: Welch's interval of the difference of mean
/// logarithms over layouts. Metrics that are zero are left out.
#[must_use]
pub fn group_results(file: &SamplesFile) -> Vec<ResultRecord> {
    file.metrics().iter().filter_map(|metric| group_result(file, metric)).collect()
}

fn group_result(file: &SamplesFile, metric: &Metric) -> Option<ResultRecord> {
    let values = [0, 1].map(|program| layout_means(file, program, metric));
    if values.iter().flatten().any(|value| *value <= 0.0) {
        return None;
    }
    let [one, other] =
        values.each_ref().map(|list| list.iter().map(|value| value.ln()).collect::<Vec<f64>>());
    let (found, method) = match welch(&one, &other, CONFIDENCE) {
        Ok(found) => (found, WELCH),
        Err(DataError::NoSpread) => (Welch::certain(mean(&other)? - mean(&one)?), CERTAIN),
        Err(_) => return None,
    };
    // A pair of layouts, one of each program, differs by this much.
    let spread = standard_deviation(&one)?.hypot(standard_deviation(&other)?);
    let deciding = *metric == file.design.metric;
    let Criteria { gate: is_gate, tolerance, .. } = criteria_of(file);
    let estimate = Estimate {
        rule: Rule::Fixed,
        mean: found.difference,
        standard_deviation: spread,
        blocks: one.len().min(other.len()),
        layouts: one.len().min(other.len()),
        interval: found.interval,
        alpha: 1.0 - CONFIDENCE,
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
        sentence: String::new(),
        method: method.to_owned(),
        paired: false,
        n: one.len() + other.len(),
        medians: [median(&values[0])?, median(&values[1])?],
        ratio: ratio(found.difference),
        interval: [ratio(found.interval.lower), ratio(found.interval.upper)],
        confidence: CONFIDENCE,
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
