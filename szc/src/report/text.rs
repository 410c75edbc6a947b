//! Text for people: tables of results and of single programs, and remarks below them.
#![forbid(unsafe_code)]

use super::number::{decimals_for, percent, quantities, quantities_like, range};
use super::rows;
use super::sentence::{no_verdict, remarks_on};
use crate::results::comparison::Judged;
use crate::samples::{
    Command, EndedRecord, Metric, ProgramRecord, ResultRecord, RuleRecord, SamplesFile,
    SharedRecord, SummaryRecord, printable,
};

/// The verdict sentences on the deciding metric, one for each program but the references.
#[must_use]
pub fn verdicts(file: &SamplesFile) -> Vec<String> {
    if rows::decide(file) {
        return rows::verdicts(file);
    }
    let sentences: Vec<String> =
        file.deciding_results().map(|result| result.sentence.clone()).collect();
    if sentences.is_empty() { vec![no_verdict(file)] } else { sentences }
}

/// The table of a comparison: of two programs one line for each metric, of more one line for each
/// program by the deciding metric. Empty without results.
#[must_use]
pub fn comparison_table(file: &SamplesFile) -> String {
    if file.results.is_empty() {
        return String::new();
    }
    let with_tolerance = !file.design.row_tolerances.is_empty();
    if file.programs.len() == 2 {
        let label = |program: usize| file.programs[program].title_label();
        let mut lines = vec![
            [
                String::new(),
                format!("{} median", label(0)),
                format!("{} median", label(1)),
                format!("{} / {}", label(1), label(0)),
            ]
            .into_iter()
            .chain(["95 % interval", "verdict", "n"].map(str::to_owned))
            .chain(with_tolerance.then(|| "tolerance".to_owned()))
            .collect(),
        ];
        for result in &file.results {
            let [reference, program] = quantities(&result.metric, result.medians);
            let title = printable(result.metric.title());
            let mut row = vec![title, reference, program];
            row.extend(judgement(result));
            row.extend(with_tolerance.then(|| tolerance(result)));
            lines.push(row);
        }
        return align(&lines);
    }
    let head = ["", "median", "ratio", "interval", "verdict", "n", "p (Holm)"].map(str::to_owned);
    let head = head.into_iter().chain(with_tolerance.then(|| "tolerance".to_owned()));
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    let title = |result: &ResultRecord, program: usize| {
        if matches!(result.metric, Metric::Row(_)) {
            rows::title(file, &ResultRecord { program, ..result.clone() })
        } else {
            file.programs[program].title()
        }
    };
    let mut reference = None;
    for result in file.deciding_results() {
        let [of_reference, of_program] = quantities(&result.metric, result.medians);
        if reference != Some((result.reference, &result.metric)) {
            reference = Some((result.reference, &result.metric));
            lines.push(vec![
                title(result, result.reference),
                of_reference,
                "1".to_owned(),
                String::new(),
                "reference".to_owned(),
            ]);
        }
        let mut row = vec![title(result, result.program), of_program];
        row.extend(judgement(result));
        row.push(match result.p_adjusted {
            p if p < 0.0001 => "<0.0001".to_owned(),
            p => format!("{p:.4}"),
        });
        row.extend(with_tolerance.then(|| tolerance(result)));
        lines.push(row);
    }
    align(&lines)
}

/// The tolerance of a row; nothing for what is none.
fn tolerance(result: &ResultRecord) -> String {
    result.tolerance.map(percent).unwrap_or_default()
}

/// Ratio, interval, verdict and n.
fn judgement(result: &ResultRecord) -> [String; 4] {
    let interval = result.bounds();
    let decimals = decimals_for(result.ratio, interval);
    [
        format!("{:.decimals$}", result.ratio),
        range(interval, decimals),
        result.verdict.mark().to_owned(),
        result.n.to_string(),
    ]
}

/// The table of single programs by themselves: one line for each metric.
#[must_use]
pub fn summary_table(file: &SamplesFile, program: usize) -> String {
    let mut rows = vec![
        ["", "mean", "95 % interval", "median", "sd", "min", "max", "outliers", "layouts", "runs"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for summary in file.summaries.iter().filter(|summary| summary.program == program) {
        rows.push(summary_row(summary));
    }
    if rows.len() == 1 { String::new() } else { align(&rows) }
}

fn summary_row(summary: &SummaryRecord) -> Vec<String> {
    let interval = summary.interval.unwrap_or([summary.mean; 2]);
    let [mean, lower, upper, median, min, max] = quantities_like(
        &summary.metric,
        summary.mean,
        [summary.mean, interval[0], interval[1], summary.median, summary.min, summary.max],
    );
    let unit = lower.split_once(' ').map_or(String::new(), |(_, unit)| format!(" {unit}"));
    let number = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let interval = match summary.interval {
        Some(_) => format!("{} to {}{unit}", number(&lower), number(&upper)),
        None => "~".to_owned(),
    };
    let spread = match summary.sd {
        Some(sd) if summary.mean > 0.0 => percent(sd / summary.mean),
        _ => "~".to_owned(),
    };
    vec![
        summary.metric.title().to_owned(),
        mean,
        interval,
        median,
        spread,
        min,
        max,
        summary.outliers.count().to_string(),
        summary.layouts.to_string(),
        summary.runs.to_string(),
    ]
}

/// Remarks below the verdicts, each a sentence: on the results, on an interrupted experiment, on
/// metrics that could not be compared.
#[must_use]
pub fn remarks(file: &SamplesFile) -> Vec<String> {
    let mut remarks: Vec<String> = if rows::decide(file) {
        // What single rows look like is in the file: sixty rows would have as many remarks.
        rows::left_out(file)
    } else {
        file.deciding_results().flat_map(|result| remarks_on(file, result)).collect()
    };
    remarks.dedup();
    let design = &file.design;
    let stopped = matches!(file.ended, EndedRecord::Interrupted { .. } | EndedRecord::Unfinished);
    if stopped && design.rule == RuleRecord::Fixed && file.deciding_results().next().is_some() {
        remarks.push(format!(
            "Stopped after {} of {} blocks: the interval is valid only if the stop had nothing to \
             do with what was seen.",
            design.complete_blocks, design.plan.blocks
        ));
    }
    if design.complete_blocks as usize >= design.min_blocks() && file.command != Command::Run {
        let by_itself = |metric: &Metric| !matches!(metric, Metric::Rows | Metric::Row(_));
        for metric in file.metrics().into_iter().filter(by_itself) {
            // What SPEC's tools measured has no CPU time at all, which is nobody's clock.
            let is_there =
                file.was_measured() || file.runs.iter().any(|run| run.value(&metric) > 0.0);
            if is_there && !file.results.iter().any(|result| result.metric == metric) {
                remarks.push(format!(
                    "No comparison of {}: it was zero in some runs, which are too short for this \
                     clock.",
                    metric.title()
                ));
            }
        }
    }
    remarks
}

/// How the runs were scheduled: a line, or one for each program of a suite where they differ.
#[must_use]
pub fn schedule_lines(file: &SamplesFile) -> Vec<String> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for program in &file.programs {
        if let Some(schedule) = &program.schedule {
            let workload = program.workload.clone().unwrap_or_default();
            let line = (printable(&workload), printable(&schedule.line()));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    let same = lines.iter().all(|(_, line)| *line == lines[0].1);
    match &lines[..] {
        [(_, line), ..] if same => vec![format!("Measured {line}.")],
        _ => lines.iter().map(|(name, line)| format!("{name} was measured {line}.")).collect(),
    }
}

/// How much of the layouts the programs have in common, a line for each program behind the first.
#[must_use]
pub fn shared_lines(file: &SamplesFile) -> Vec<String> {
    let Some(first) = file.programs.first() else {
        return Vec::new();
    };
    let line = |program: &ProgramRecord| {
        let SharedRecord { movable, shared } = program.shared?;
        let (label, first) = (program.title_label(), first.title_label());
        Some(format!(
            "{shared} of {movable} functions of {label} have the same name in {first}, and so lie \
             alike under one seed."
        ))
    };
    file.programs.iter().filter_map(line).collect()
}

/// All that is said of a comparison; `quiet`: the verdicts alone.
#[must_use]
pub fn comparison_report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    let sentences = verdicts(file);
    if !quiet {
        let table = comparison_table(file);
        if !table.is_empty() {
            text = table + "\n";
        }
    }
    let below = if quiet {
        Vec::new()
    } else {
        [remarks(file), schedule_lines(file), shared_lines(file)].concat()
    };
    for line in sentences.into_iter().chain(below) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Columns padded to their widest cell: the first to the left, the others to the right.
#[must_use]
pub fn align(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let first_width = width(0);
        let mut line = format!("{:first_width$}", row[0]);
        for (column, cell) in row.iter().enumerate().skip(1) {
            let column_width = width(column);
            line.push_str(&format!("   {cell:>column_width$}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The estimate so far, for a progress line: the ratio and its interval, of the first program that
/// has no verdict yet.
#[must_use]
pub fn running_estimate(metric: &Metric, labels: (&str, &str), judged: &Judged) -> String {
    let (ratio, interval) = judged.ratio();
    let decimals = decimals_for(ratio, interval);
    let (reference, program) = labels;
    format!(
        "{} {program}/{reference} {ratio:.decimals$} in {} so far, {}",
        metric.title(),
        range(interval, decimals),
        judged.verdict.mark()
    )
}

#[cfg(test)]
mod tests;
