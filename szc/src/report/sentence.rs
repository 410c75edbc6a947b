//! Verdicts in words: one sentence that has the interval, n and the method, and never calls
//! "unresolved" the same.
#![forbid(unsafe_code)]

use szc_stats::fixed::Interval;

use super::number::{decimals_for, interval_name, percent, range, ratio_with_range};
use super::price::price;
use super::remarks::remarks;
use super::tail;
use crate::results::summary::layout_means;
use crate::results::tolerance::share_of;
use crate::samples::design::Arrangement;
use crate::samples::metric::Kind;
use crate::samples::{
    Metric, ProgramRecord, ResultRecord, RuleRecord, SamplesFile, Verdict, printable,
};

/// Fills in the sentences that the results of `file` lack.
pub fn put_into_words(file: &mut SamplesFile) {
    for place in 0..file.results.len() {
        if file.results[place].sentence.is_empty() {
            file.results[place].sentence = verdict_sentence(file, &file.results[place]);
        }
    }
}

/// The verdict of one result in a sentence, followed by at most one on what it is not: about
/// more than one layout.
#[must_use]
pub fn verdict_sentence(file: &SamplesFile, result: &ResultRecord) -> String {
    let reference = file.programs[result.reference].title();
    let program = file.programs[result.program].title();
    let name = result.metric.title();
    let evidence = evidence(file, result);
    let interval = result.bounds();
    let ratio = ratio_with_interval(result);
    let tolerance = share_of(&file.design, &result.metric);
    let bound = 1.0 + tolerance;
    let budget = percent(tolerance);
    let mut sentence = match result.verdict {
        Verdict::Faster | Verdict::Slower => {
            let (factor, interval) = if result.verdict == Verdict::Faster {
                (1.0 / result.ratio, inverse(interval))
            } else {
                (result.ratio, interval)
            };
            let decimals = decimals_for(factor, interval);
            format!(
                "{program} is {factor:.decimals$} × {} than {reference}: {} {}, {evidence}.",
                result.verdict.word(),
                confidence(result),
                range(interval, decimals),
            )
        }
        Verdict::Smaller | Verdict::Larger => format!(
            "{program} is {} in memory than {reference}: ratio {ratio}, {evidence}.",
            result.verdict.word(),
        ),
        Verdict::Lower | Verdict::Higher => format!(
            "{program} is {} in {name} than {reference}: ratio {ratio}, {evidence}.",
            result.verdict.word(),
        ),
        Verdict::Equivalent if result.never_differed() => format!(
            "{program} and {reference} are equivalent within {budget}: {name} was equal in every \
             block, {evidence}."
        ),
        Verdict::Equivalent => format!(
            "{program} and {reference} are equivalent within {budget} in {name}: ratio {ratio}, \
             {evidence}."
        ),
        Verdict::Unresolved if tail::lacks_layouts(result, tolerance) => format!(
            "Unresolved whether {program} and {reference} are equivalent within {budget} in \
             {name}: ratio {ratio}, {evidence}, is of too few layouts{}.",
            tail::layouts_needed(file, result)
        ),
        Verdict::Unresolved => format!(
            "Unresolved whether {program} takes more or less {name} than {reference}: ratio \
             {ratio}, {evidence}; this does not show that they are alike{}.",
            needed(file, result, "a verdict within", &budget)
        ),
        Verdict::Pass if result.interval[0] > 1.0 => format!(
            "PASS: {program} is slower than {reference}, within the budget of {budget}: ratio \
             {ratio} of {name} is below {bound}, {evidence}."
        ),
        Verdict::Pass => format!(
            "PASS: {program} is at most {budget} {} than {reference}: ratio {ratio} of {name} is \
             below {bound}, {evidence}.",
            worse(&result.metric)
        ),
        Verdict::Fail => format!(
            "FAIL: {program} is more than {budget} {} than {reference}: ratio {ratio} of {name} is \
             above {bound}, {evidence}.",
            worse(&result.metric)
        ),
        Verdict::Inconclusive if tail::lacks_layouts(result, tolerance) => format!(
            "INCONCLUSIVE whether {program} is more than {budget} {} than {reference}: ratio \
             {ratio} of {name} is below {bound}, {evidence}, but of too few layouts{}.",
            worse(&result.metric),
            tail::layouts_needed(file, result)
        ),
        Verdict::Inconclusive => format!(
            "INCONCLUSIVE whether {program} is more than {budget} {} than {reference}: ratio \
             {ratio} of {name} holds {bound}, {evidence}{}.",
            worse(&result.metric),
            needed(file, result, "deciding on", &budget)
        ),
    };
    if matches!(result.verdict, Verdict::Pass | Verdict::Equivalent) {
        sentence.push_str(&tail::assumption(file, result));
    }
    sentence.push_str(&one_layout(file, result));
    match result.metric {
        Metric::Row(_) => format!("{}: {sentence}", printable(name)),
        _ => sentence,
    }
}

fn worse(metric: &Metric) -> &'static str {
    match metric.kind() {
        Kind::Time => "slower",
        Kind::Memory => "larger in memory",
        Kind::Count => "higher",
    }
}

fn needed(file: &SamplesFile, result: &ResultRecord, what: &str, budget: &str) -> String {
    match price(file, result) {
        Some(price) => format!(", and {what} {budget} would take {price}"),
        None => String::new(),
    }
}

/// What a statement rests on.
fn evidence(file: &SamplesFile, result: &ResultRecord) -> String {
    let name = result.metric.title();
    if !result.paired && result.sd_log_ratio == 0.0 {
        return format!("n = {} layouts, unpaired, where {name} never varies", result.n);
    }
    if !result.paired {
        return format!("n = {} layouts, unpaired, Welch's t on log {name}", result.n);
    }
    let blocks = match file.design.plan.arrangement {
        Arrangement::Mirrored => {
            let runs = file.runs_per_block();
            let runs = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
            format!("{} blocks of {runs} each", result.n)
        }
        Arrangement::Layouts | Arrangement::Parts | Arrangement::Groups => {
            format!("{} layouts", result.n)
        }
    };
    match file.design.rule {
        RuleRecord::Fixed => format!("n = {blocks}, paired t on log {name}"),
        RuleRecord::Sequential => {
            format!("n = {blocks}, confidence sequence of paired log {name}")
        }
    }
}

fn confidence(result: &ResultRecord) -> String {
    interval_name(result.confidence, "programs")
}

/// "1.003, 95 % interval 0.998 to 1.008".
fn ratio_with_interval(result: &ResultRecord) -> String {
    let decimals = decimals_for(result.ratio, result.bounds());
    format!(
        "{:.decimals$}, {} {}",
        result.ratio,
        confidence(result),
        range(result.bounds(), decimals)
    )
}

fn one_layout(file: &SamplesFile, result: &ResultRecord) -> String {
    let programs = [result.reference, result.program].map(|program| &file.programs[program]);
    let in_part: String = programs
        .iter()
        .filter(|program| program.randomized)
        .filter_map(|program| {
            let reason = printable(&program.pinned()?);
            Some(format!(" {} was randomized only in part: {reason}.", program.label))
        })
        .collect();
    let names: Vec<&str> = programs
        .iter()
        .filter(|program| !program.randomized)
        .map(|program| program.label.as_str())
        .collect();
    let none = match names[..] {
        [] => String::new(),
        [one] => format!(" This is about one layout only of {one}, which was not randomized."),
        _ => format!(
            " This is about one layout only of {} and of {}: neither was randomized.",
            names[0], names[1]
        ),
    };
    none + &in_part
}

/// What is said instead of a verdict when there are too few blocks.
#[must_use]
pub fn no_verdict(file: &SamplesFile) -> String {
    let fewest = file.design.min_blocks();
    let blocks = file.design.complete_blocks;
    let title = |program: usize| file.programs.get(program).map(ProgramRecord::title);
    let metric = &file.design.metric;
    let has_few = |program| layout_means(file, program, metric).len() < 2;
    if file.design.plan.arrangement == Arrangement::Groups && (has_few(0) || has_few(1)) {
        return format!(
            "No verdict: {} cannot be compared between groups of fewer than two layouts.",
            metric.title()
        );
    }
    match (title(0), title(1)) {
        (Some(one), Some(other)) if (blocks as usize) < fewest => format!(
            "No verdict on {other} against {one}: {blocks} complete blocks, and at least {fewest} \
             are needed."
        ),
        _ => format!(
            "No verdict: {} was zero in some runs, which are too short for this clock.",
            metric.title()
        ),
    }
}

fn inverse(interval: Interval) -> Interval {
    Interval { lower: 1.0 / interval.upper, upper: 1.0 / interval.lower }
}

/// Remarks on one result, each a sentence: disagreement of mean and median, very short runs.
#[must_use]
pub fn remarks_on(file: &SamplesFile, result: &ResultRecord) -> Vec<String> {
    /// Loading and linking a program takes a millisecond or so.
    const SHORT_RUN_S: f64 = 5e-3;
    let mut found = Vec::new();
    if let (true, Some(median), Some([lower, upper])) =
        (result.mean_and_median_disagree, result.median_ratio, result.median_interval)
    {
        found.push(format!(
            "Mean and median disagree: the median ratio is {} (sign interval), the mean ratio \
             {:.4}. The tail of the layouts moved: some layouts behave unlike the typical one.",
            ratio_with_range(median, Interval { lower, upper }),
            result.ratio,
        ));
    }
    if result.metric.kind() == Kind::Time
        && result.medians.iter().any(|median| *median < SHORT_RUN_S)
    {
        found.push(
            "A run takes less than 5 ms, most of which is start-up: give the programs more work to \
             compare the work."
                .to_owned(),
        );
    }
    found.extend(tail::remark(file, result));
    let subject = format!("the block differences of {}", file.programs[result.program].title());
    found.extend(remarks(&subject, &result.diagnostics));
    found
}

#[cfg(test)]
mod tests;
