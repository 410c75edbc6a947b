//! What is found over a suite, in sentences.
#![forbid(unsafe_code)]

use szc_stats::fixed::{CONFIDENCE, Interval};
use szc_stats::multiplicity::holm;

use super::number::{decimals_for, interval_name, p_value, range};
use crate::samples::{
    Metric, OverMachinesRecord, ResultRecord, SamplesFile, SuiteRecord, printable,
};

/// Share of false statements that is accepted.
const ERROR_RATE: f64 = 1.0 - CONFIDENCE;

/// What the suite says in sentences: how many pairs differ, each level over all programs, and the
/// analysis of variance with its effect sizes.
#[must_use]
pub fn suite_sentences(file: &SamplesFile) -> Vec<String> {
    let mut sentences = Vec::new();
    let results: Vec<&ResultRecord> = file.deciding_results().collect();
    let alone: Vec<f64> = results.iter().map(|result| result.p).collect();
    if let Ok(adjusted) = holm(&alone) {
        let below = |values: &[f64]| values.iter().filter(|p| **p <= ERROR_RATE).count();
        sentences.push(differing(results.len(), below(&alone), below(&adjusted)));
    }
    let metric = &file.design.metric;
    sentences
        .extend(file.over_machines.iter().map(|record| over_machines_sentence(record, metric)));
    let Some(suite) = &file.suite else {
        sentences.push(
            "No analysis of variance: it needs two programs with values at all levels that do not \
             differ in exactly the same way."
                .to_owned(),
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
            "ratio {:.decimals$} of {name}, {} {}, n = {programs} programs, paired t on log means, \
             p = {} (Holm)",
            level.ratio,
            interval_name(level.confidence, "levels"),
            range(interval, decimals),
            p_value(p)
        );
        let is_resolved = level.is_resolved();
        let level = printable(&level.level);
        sentences.push(if !is_resolved {
            format!(
                "Unresolved over the suite whether {level} takes more or less than \
                     {reference}: {evidence}."
            )
        } else if interval.upper < 1.0 {
            format!("{level} takes less than {reference} over the suite: {evidence}.")
        } else {
            format!("{level} takes more than {reference} over the suite: {evidence}.")
        });
    }
    let [of_levels, of_error] = suite.degrees_of_freedom;
    sentences.push(format!(
        "Analysis of variance within programs: F({of_levels}, {of_error}) = {:.3}, p = {} \
         (Greenhouse-Geisser: ε = {:.3}, p = {}); effect size: partial η² = {:.3}, generalized η² \
         = {:.5}.",
        suite.f,
        p_value(suite.p),
        suite.epsilon,
        p_value(suite.p_corrected),
        suite.partial_eta_squared,
        suite.generalized_eta_squared,
    ));
    sentences.extend(of_blocks(suite));
    sentences
}

/// What the machines have to do with it.
fn of_blocks(suite: &SuiteRecord) -> Option<String> {
    if suite.block_of.is_empty() {
        return None;
    }
    Some(match (suite.by_block, suite.blocks()) {
        (Some(found), blocks) => {
            let [of_blocks, of_error] = found.degrees_of_freedom;
            let meaning = if found.p <= ERROR_RATE {
                "levels do not do the same on all machines, so read the programs of each machine \
                 by themselves"
            } else {
                "no sign that levels do different things on different machines"
            };
            format!(
                "Machines are {blocks} blocks of the analysis; levels by blocks: F({of_blocks}, \
                 {of_error}) = {:.3}, p = {}: {meaning}.",
                found.f,
                p_value(found.p)
            )
        }
        (None, 1) => "Every program was measured on the same machines; its value is the mean over \
                      them."
            .to_owned(),
        (None, _) => "No two programs were measured on the same machines, so what machines do to \
                      levels cannot be told from what programs do: both are in the \
                      error."
            .to_owned(),
    })
}

/// How many pairs differ, each by itself and all together.
fn differing(pairs: usize, alone: usize, adjusted: usize) -> String {
    match (pairs, alone) {
        (1, 0) => "The only pair does not differ at 5 %.".to_owned(),
        (1, _) => "The only pair differs at 5 %.".to_owned(),
        _ => format!(
            "Of {pairs} pairs, {alone} differ at 5 % taken one by one, {adjusted} with Holm's \
             adjustment over all of them."
        ),
    }
}

/// The finding over machines in a sentence.
pub(super) fn over_machines_sentence(record: &OverMachinesRecord, metric: &Metric) -> String {
    let interval = Interval { lower: record.interval[0], upper: record.interval[1] };
    let decimals = decimals_for(record.ratio, interval);
    let [workload, level, reference] =
        [&record.workload, &record.level, &record.reference].map(|text| printable(text));
    let [of_machines, of_error] = record.agreement.degrees_of_freedom;
    let agreement = if record.agreement.p <= 1.0 - CONFIDENCE {
        "the machines do not agree, so read them one by one"
    } else {
        "no sign that the machines disagree"
    };
    let verdict = match (record.is_resolved(), record.ratio > 1.0) {
        (false, _) => format!("unresolved whether {level} takes more or less than {reference}"),
        (true, true) => format!("{level} takes more than {reference}"),
        (true, false) => format!("{level} takes less than {reference}"),
    };
    format!(
        "{workload} over {} machines as blocks: {verdict}: ratio {:.decimals$} of {}, {} {}, n = \
         {} blocks, p = {} (Holm); {agreement}: F({of_machines}, {of_error:.1}) = {:.3}, p = {}.",
        record.machines.len(),
        record.ratio,
        metric.title(),
        interval_name(record.confidence, "levels"),
        range(interval, decimals),
        record.n,
        p_value(record.p_holm),
        record.agreement.f,
        p_value(record.agreement.p),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_pair_is_called_one() {
        assert_eq!(differing(1, 1, 1), "The only pair differs at 5 %.");
        assert_eq!(differing(1, 0, 0), "The only pair does not differ at 5 %.");
        assert!(
            differing(2, 1, 0).starts_with("Of 2 pairs, 1 differ at 5 % taken one by one, 0 with")
        );
    }
}
