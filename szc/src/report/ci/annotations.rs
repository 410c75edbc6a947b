//! Workflow commands of GitHub Actions, which become annotations of a run.
//!
//! `::error title=…::message`, with `%`, line ends, and in properties `:` and `,` as percent
//! escapes (GitHub's documentation, "Workflow commands"; `toCommandValue` and `escapeProperty` of
//! its toolkit).
#![forbid(unsafe_code)]

use super::{Outcome, checks};
use crate::report::view::Experiment;

/// One line for each verdict.
#[must_use]
pub fn annotations(experiments: &[Experiment]) -> String {
    let lines = experiments.iter().flat_map(checks).map(|check| {
        let command = match check.outcome {
            Outcome::Failed | Outcome::Broken => "error",
            Outcome::Open => "warning",
            Outcome::Passed => "notice",
        };
        let title = property(&format!("szc: {}", check.experiment));
        format!("::{command} title={title}::{}\n", message(&check.sentence))
    });
    lines.collect()
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
