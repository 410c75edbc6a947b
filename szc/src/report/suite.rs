//! Tables of a suite: speedups of levels on each program and over all, and what machines measured.
#![forbid(unsafe_code)]

use szc_stats::fixed::Interval;

use super::number::{decimals_for, range};
use super::suite_sentences::suite_sentences;
use super::text::{align, remarks, schedule_lines};
use crate::samples::{
    OverMachinesRecord, ResultRecord, SamplesFile, SuiteRecord, Verdict, printable,
};

/// Speedups over the reference as in figure 4.7 of the paper: reference/level, above 1 if the level
/// takes less; one line a program, one column a level. `*` marks significant slowdowns, `~` what is
/// unresolved, and `=` what is equivalent within the tolerance.
#[must_use]
pub fn speedup_table(file: &SamplesFile) -> String {
    let levels = file.levels();
    let mut rows = vec![
        std::iter::once(String::new())
            .chain(levels.iter().skip(1).map(|level| (*level).to_owned()))
            .collect::<Vec<String>>(),
    ];
    for workload in file.workloads() {
        for machine in file.series_of(workload) {
            let host = machine.and_then(|place| file.machines.get(place));
            let name = host.map_or_else(String::new, |machine| format!(" on {}", machine.name()));
            let mut row = vec![printable(&format!("{workload}{name}"))];
            for level in levels.iter().skip(1) {
                let program = file.program_at(workload, level, machine);
                let result = file.deciding_results().find(|result| Some(result.program) == program);
                row.push(result.map_or_else(|| "no result".to_owned(), speedup));
            }
            rows.push(row);
        }
        let all: Vec<String> = file
            .over_machines
            .iter()
            .filter(|record| record.workload == workload)
            .map(speedup_over_machines)
            .collect();
        if all.len() == levels.len().saturating_sub(1) && !all.is_empty() {
            let name = printable(&format!("{workload}, machines as blocks"));
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
    let interval = result.bounds();
    cell(result.ratio, [interval.lower, interval.upper], mark)
}

/// "1.034 (1.021 to 1.047) *" of a ratio that is below 1 for a speedup.
fn cell(ratio: f64, [lower, upper]: [f64; 2], mark: &str) -> String {
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
            printable(&level.level),
            format!("{:.decimals$}", level.ratio_to_mean),
            range(interval, decimals),
        ]);
    }
    align(&rows)
}

/// A comparison over machines as a cell of the table of speedups.
fn speedup_over_machines(record: &OverMachinesRecord) -> String {
    let mark = match (record.is_resolved(), record.ratio > 1.0) {
        (false, _) => "~",
        (true, true) => "*",
        (true, false) => " ",
    };
    cell(record.ratio, record.interval, mark)
}

/// One line for each machine of a file of several, and what is done about it.
#[must_use]
pub fn machines_text(file: &SamplesFile) -> String {
    if file.machines.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "{} machines, which are blocks: levels are compared within each, and results of different \
         machines are not pooled\n",
        file.machines.len()
    );
    for (place, machine) in file.machines.iter().enumerate() {
        let count = file.programs.iter().filter(|record| record.machine == Some(place));
        let mut programs: Vec<&str> =
            count.filter_map(|record| record.workload.as_deref()).collect();
        programs.dedup();
        text.push_str(&printable(&machine.identity()));
        text.push_str(": ");
        text.push_str(&printable(&programs.join(", ")));
        text.push('\n');
    }
    text
}

/// All that is said of a sweep; `quiet`: speedups and verdicts alone.
#[must_use]
pub fn suite_report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    let reference = file.programs.first().and_then(|program| program.level.as_deref());
    if !quiet {
        text.push_str(&machines_text(file));
        text.push_str(&format!(
            "\nSpeedup over {} by {}, 95 % intervals; * slower, ~ unresolved, = equivalent\n",
            reference.unwrap_or_default(),
            file.design.metric.title()
        ));
    }
    text.push_str(&speedup_table(file));
    if let (Some(suite), false) = (&file.suite, quiet) {
        text.push('\n');
        text.push_str(&level_table(suite));
    }
    text.push('\n');
    let sentences = suite_sentences(file);
    let below = if quiet { Vec::new() } else { [remarks(file), schedule_lines(file)].concat() };
    for line in sentences.into_iter().chain(below) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
