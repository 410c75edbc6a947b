//! What `szc run` says about one program: its mean over layouts, and where the variance comes from.
#![forbid(unsafe_code)]

use super::number::{percent, quantities, quantities_like};
use super::split::{split_remarks, split_table};
use super::text::summary_table;
use super::{remarks, tail};
use crate::samples::metric::Kind;
use crate::samples::{EndedRecord, RuleRecord, SamplesFile, SummaryRecord, printable};

fn deciding(file: &SamplesFile, program: usize) -> Option<&SummaryRecord> {
    file.summaries.iter().find(|summary| summary.deciding && summary.program == program)
}

/// The mean of one program by the deciding metric, in a sentence with interval, n and method.
#[must_use]
pub fn run_sentence(file: &SamplesFile, program: usize) -> String {
    let title = file.programs[program].title();
    let name = file.design.metric.title();
    let Some(summary) = deciding(file, program) else {
        return format!("No result on {title}: not one layout was measured to its end.");
    };
    let evidence =
        format!("n = {} layouts ({} runs), {}", summary.layouts, summary.runs, summary.method);
    let mut sentence = match summary.interval {
        Some([lower, upper]) => {
            let [mean, lower, upper] =
                quantities_like(&summary.metric, summary.mean, [summary.mean, lower, upper]);
            format!(
                "{title} takes {mean} of {name} on average: 95 % interval {lower} to {upper}, \
                 {evidence}."
            )
        }
        None => {
            let [mean] = quantities(&summary.metric, [summary.mean]);
            format!(
                "{title} took {mean} of {name}; there are too few layouts for an interval, \
                 {evidence}."
            )
        }
    };
    if summary.metric.kind() == Kind::Count {
        sentence = sentence.replacen(" takes ", " has ", 1);
    }
    if !file.programs[program].randomized {
        sentence.push_str(" This is about one layout only: the program was not randomized.");
    } else if let Some(reason) = file.programs[program].pinned() {
        sentence.push_str(&format!(
            " The program was randomized only in part: {}.",
            printable(&reason)
        ));
    }
    sentence
}

/// Remarks below it, each a sentence.
#[must_use]
pub fn run_remarks(file: &SamplesFile, program: usize) -> Vec<String> {
    let Some(summary) = deciding(file, program) else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    remarks.extend(precision(file, summary));
    remarks.extend(variance(file, summary));
    remarks.extend(split_remarks(file, summary));
    if let Some(effect) = summary.minimum_detectable_effect {
        remarks.push(format!(
            "A comparison over {} blocks, so {} layouts of each program, would show a difference \
             of {} or more with a probability of 80 %.",
            summary.layouts,
            2 * summary.layouts,
            percent(effect)
        ));
    }
    if let Some(slowest) = &summary.slowest {
        remarks.push(tail::remark_on_one(summary.median, summary.layouts, slowest));
    }
    let outliers = summary.outliers;
    if outliers.count() > 0 {
        remarks.push(format!(
            "Outliers: {} of {} layouts are far from the others ({} low, {} high); none was \
             dropped.",
            outliers.count(),
            summary.layouts,
            outliers.low + outliers.far_low,
            outliers.high + outliers.far_high
        ));
    }
    let subject = format!("the layouts of {}", file.programs[program].title());
    remarks.extend(remarks::remarks(&subject, &summary.diagnostics));
    if matches!(file.ended, EndedRecord::Interrupted { .. } | EndedRecord::Unfinished)
        && file.design.rule == RuleRecord::Fixed
    {
        remarks.push(format!(
            "Stopped after {} layouts: the interval is valid only if the stop had nothing to do \
             with what was seen.",
            file.design.complete_blocks
        ));
    }
    remarks
}

fn precision(file: &SamplesFile, summary: &SummaryRecord) -> Option<String> {
    let asked = file.design.precision?;
    let reached = summary.interval.map(|[lower, upper]| (upper - lower) / 2.0 / summary.mean);
    match reached {
        Some(reached) if reached <= asked => None,
        Some(reached) => Some(format!(
            "The precision of ± {} was not reached: it is ± {} after {} layouts. Raise --budget, \
             or go on with --resume.",
            percent(asked),
            percent(reached),
            summary.layouts
        )),
        None => Some(format!(
            "The precision of ± {} was not reached: {} layouts are too few for any.",
            percent(asked),
            summary.layouts
        )),
    }
}

fn variance(file: &SamplesFile, summary: &SummaryRecord) -> Option<String> {
    let levels = summary.variance?;
    let basis = format!(
        "{} layouts, each run {} times (Kalibera and Jones)",
        levels.layouts, levels.runs_per_layout
    );
    let text = match levels.share_between {
        None => format!("No variance at all was seen over {basis}."),
        Some(_) if levels.between_layouts <= 0.0 => format!(
            "No variance between seeds was found beyond that of runs with one seed (sd {}), over \
             {basis}.",
            percent(levels.within_layouts.max(0.0).sqrt())
        ),
        Some(share) => format!(
            "Layouts by seed account for {} of the variance (sd {} between seeds, {} with one \
             seed, under new bases of stack and mappings), over {basis}.",
            format_args!("{:.0} %", 100.0 * share),
            percent(levels.between_layouts.sqrt()),
            percent(levels.within_layouts.max(0.0).sqrt())
        ),
    };
    let randomized = file.programs[summary.program].randomized;
    Some(if randomized {
        text
    } else {
        text + " The program was not randomized, so only its environment and addresses varied."
    })
}

/// All that `szc run` says of each program; `quiet`: the sentence alone.
#[must_use]
pub fn run_report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    for program in 0..file.programs.len() {
        let table = summary_table(file, program);
        if !quiet && !table.is_empty() {
            text.push_str(&table);
            text.push('\n');
        }
        let split = deciding(file, program).map(|summary| split_table(file, summary));
        if let Some(split) = split.filter(|split| !quiet && !split.is_empty()) {
            text.push_str(&split);
            text.push('\n');
        }
        text.push_str(&run_sentence(file, program));
        text.push('\n');
        if !quiet {
            for remark in run_remarks(file, program) {
                text.push_str(&remark);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
