//! What a report shows of an experiment: its file, complete with results, and the data of plots.
//!
//! Everything that writes reports for people reads experiments through here, so that a page, a job
//! summary and a table say the same. Numbers that the file has are taken from it, never computed a
//! second time.
#![forbid(unsafe_code)]

pub mod facts;
pub mod plots;
pub mod unit;

use super::number::{decimals_for, quantities, range};
use super::sentence::put_into_words;
use super::{bias, remarks, text};
use crate::results::complete;
use crate::samples::{
    Command, EndedRecord, Metric, ResultRecord, SamplesFile, SummaryRecord, Verdict,
};

/// One experiment of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Where it was read from, as the user named it.
    pub source: String,
    /// The samples file with results and summaries.
    pub file: SamplesFile,
}

/// What a verdict means for its reader, by which it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Takes less, or passes.
    Good,
    /// Takes more, or fails.
    Bad,
    /// Shown to be equivalent.
    Even,
    /// Not known.
    Open,
}

impl Tone {
    /// The tone of a verdict.
    #[must_use]
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster | Verdict::Smaller | Verdict::Lower | Verdict::Pass => Self::Good,
            Verdict::Slower | Verdict::Larger | Verdict::Higher | Verdict::Fail => Self::Bad,
            Verdict::Equivalent => Self::Even,
            Verdict::Unresolved | Verdict::Inconclusive => Self::Open,
        }
    }

    /// Its class in the style of pages and plots.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Even => "even",
            Self::Open => "open",
        }
    }
}

impl Experiment {
    /// An experiment read from `source`. Files that have no results, such as those of older
    /// versions and of experiments that were cut off, are analysed.
    #[must_use]
    pub fn new(source: String, mut file: SamplesFile) -> Self {
        complete(&mut file);
        put_into_words(&mut file);
        Self { source, file }
    }

    /// Whether it is about setups.
    #[must_use]
    pub fn is_bias(&self) -> bool {
        self.file.command == Command::Bias
    }

    /// What it says, a sentence each.
    #[must_use]
    pub fn verdicts(&self) -> Vec<String> {
        if self.is_bias() { bias::sentences(&self.file) } else { text::verdicts(&self.file) }
    }

    /// Whether it is about levels over a suite of programs.
    #[must_use]
    pub fn is_sweep(&self) -> bool {
        self.file.command == Command::Sweep
    }

    /// A short name: the file's, without folder and ending.
    #[must_use]
    pub fn title(&self) -> String {
        let path = std::path::Path::new(&self.source);
        path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Results on the deciding metric with their places in the file.
    pub fn deciding(&self) -> impl Iterator<Item = (usize, &ResultRecord)> {
        self.file.results.iter().enumerate().filter(|(_, result)| result.deciding)
    }

    /// Summaries of the deciding metric with their places in the file.
    pub fn deciding_summaries(&self) -> impl Iterator<Item = (usize, &SummaryRecord)> {
        self.file.summaries.iter().enumerate().filter(|(_, summary)| summary.deciding)
    }

    /// "-O3 against -O2": what a result compares, behind the workload in a suite.
    #[must_use]
    pub fn pair(&self, result: &ResultRecord) -> String {
        let record = |at: usize| self.file.programs.get(at);
        let level = |at: usize| record(at)?.level.clone();
        let [program, reference] =
            [result.program, result.reference].map(|at| level(at).unwrap_or_else(|| self.name(at)));
        match record(result.program).and_then(|record| record.workload.as_ref()) {
            Some(workload) => {
                let host = self.host(result.program);
                format!("{workload}{host}: {program} against {reference}")
            }
            None => format!("{program} against {reference}"),
        }
    }

    /// What a result is about: its pair, or the row of a harness, with the pair if there are
    /// several.
    #[must_use]
    pub fn subject(&self, result: &ResultRecord) -> String {
        match &result.metric {
            Metric::Row(_) if self.file.programs.len() == 2 => result.metric.title().to_owned(),
            Metric::Row(_) => format!("{}: {}", result.metric.title(), self.pair(result)),
            _ => self.pair(result),
        }
    }

    /// The name a user gave to a program, or its label; in a suite, the program and its level.
    #[must_use]
    pub fn name(&self, program: usize) -> String {
        let Some(record) = self.file.programs.get(program) else {
            return format!("program {program}");
        };
        match (&record.workload, &record.level) {
            (Some(workload), Some(level)) => format!("{workload} {level}{}", self.host(program)),
            _ => record.name.clone().unwrap_or_else(|| record.title()),
        }
    }

    /// " on HOST" in a file of several machines.
    fn host(&self, program: usize) -> String {
        if self.file.machines.is_empty() {
            return String::new();
        }
        format!(" on {}", self.file.machine_of(program).name())
    }

    /// Remarks on results and data, and the advice on the machine, each a sentence.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = text::remarks(&self.file);
        if let EndedRecord::Refused { reason } = &self.file.ended {
            remarks.insert(0, format!("The experiment was refused: {reason}"));
        }
        for (_, result) in self.deciding() {
            let subject = format!("the block differences of {}", self.subject(result));
            remarks.extend(remarks::remarks(&subject, &result.diagnostics));
        }
        if self.file.results.is_empty() {
            for (_, summary) in self.deciding_summaries() {
                let subject = format!("the values of {}", self.name(summary.program));
                remarks.extend(remarks::remarks(&subject, &summary.diagnostics));
            }
        }
        remarks.dedup();
        remarks
    }
}

/// "1.068, 1.058 to 1.079": a result's ratio and interval with as many digits as they deserve.
#[must_use]
pub fn ratio_and_interval(result: &ResultRecord) -> (String, String) {
    let interval = result.bounds();
    let decimals = decimals_for(result.ratio, interval);
    (format!("{:.decimals$}", result.ratio), range(interval, decimals))
}

/// "p = 0.043", or "p < 0.001" where the digits say no more than that.
#[must_use]
pub fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// The statement of a summary in one sentence, with interval, n and method.
#[must_use]
pub fn summary_sentence(experiment: &Experiment, summary: &SummaryRecord) -> String {
    let name = experiment.name(summary.program);
    let metric = summary.metric.title();
    let [lower, upper] = summary.interval.unwrap_or([summary.mean; 2]);
    let [mean, lower, upper] = quantities(&summary.metric, [summary.mean, lower, upper]);
    let interval = match summary.interval {
        Some(_) => format!("95 % interval {lower} to {upper}"),
        None => "no interval below two layouts".to_owned(),
    };
    format!(
        "{name}: {metric} {mean}, {interval}, n = {} layouts in {} runs, {}.",
        summary.layouts, summary.runs, summary.method
    )
}

#[cfg(test)]
mod tests;
