//! What continuous integration shows of experiments: a summary in Markdown, annotations, and JUnit
//! XML.
#![forbid(unsafe_code)]

pub mod annotations;
pub mod junit;
pub mod markdown;

use super::view::Experiment;
use crate::samples::{Command, EndedRecord, ResultRecord, SamplesFile, Verdict};

/// How a check ended, to a machine that knows only these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A gate passed, or a comparison came to a result, whatever it is.
    Passed,
    /// A gate failed.
    Failed,
    /// A gate, or a comparison, without a verdict.
    Open,
    /// A program failed, or the experiment did not end.
    Broken,
}

/// One line of a summary: a verdict, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The experiment.
    pub experiment: String,
    /// What was compared, or the program.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The verdict in a sentence.
    pub sentence: String,
}

/// The checks of an experiment: one for each verdict, or one that says why there is none.
#[must_use]
pub fn checks(experiment: &Experiment) -> Vec<Check> {
    let title = experiment.title();
    if let Some(reason) = broken(&experiment.file) {
        return vec![Check {
            experiment: title.clone(),
            name: title,
            outcome: Outcome::Broken,
            sentence: reason,
        }];
    }
    let found: Vec<Check> = experiment
        .deciding()
        .map(|(_, result)| Check {
            experiment: title.clone(),
            name: experiment.subject(result),
            outcome: outcome(result),
            sentence: result.sentence.clone(),
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    if experiment.file.command == Command::Run {
        let summaries = experiment.deciding_summaries().map(|(_, summary)| Check {
            experiment: title.clone(),
            name: experiment.name(summary.program),
            outcome: Outcome::Passed,
            sentence: super::view::summary_sentence(experiment, summary),
        });
        return summaries.collect();
    }
    // Whatever setups do, they were measured.
    let is_known = experiment.is_bias() && experiment.file.bias.is_some();
    vec![Check {
        experiment: title.clone(),
        name: title,
        outcome: if is_known { Outcome::Passed } else { Outcome::Open },
        sentence: experiment.verdicts().join(" "),
    }]
}

fn broken(file: &SamplesFile) -> Option<String> {
    match &file.ended {
        EndedRecord::Refused { reason } => Some(reason.clone()),
        EndedRecord::Unfinished => {
            Some("The experiment was cut off: szc was killed before its end.".to_owned())
        }
        EndedRecord::Interrupted { .. } | EndedRecord::Complete => None,
    }
}

fn outcome(result: &ResultRecord) -> Outcome {
    match result.verdict {
        Verdict::Fail => Outcome::Failed,
        open if !open.is_decided() => Outcome::Open,
        _ => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests;
