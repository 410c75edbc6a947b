//! JUnit XML, which GitLab, Jenkins and most other systems read: a suite for each experiment, a
//! case for each verdict.
//!
//! The form has no official definition; this is the common part of what the two document
//! (`testsuites`, `testsuite`, `testcase` with `failure`, `error`, `skipped`, `system-out`).
#![forbid(unsafe_code)]

use super::{Check, Outcome, checks};
use crate::report::plot::svg::escape;
use crate::report::view::Experiment;

/// The report of all experiments.
#[must_use]
pub fn junit(experiments: &[Experiment]) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"szc\">\n");
    for experiment in experiments {
        let checks = checks(experiment);
        let count = |outcome| checks.iter().filter(|check| check.outcome == outcome).count();
        let seconds: f64 = experiment.file.runs.iter().map(|run| run.wall_ns as f64 / 1e9).sum();
        text.push_str(&format!(
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" \
             time=\"{seconds:.3}\" timestamp=\"{}\">\n",
            escape(&experiment.title()),
            checks.len(),
            count(Outcome::Failed),
            count(Outcome::Broken),
            count(Outcome::Open),
            escape(&experiment.file.created)
        ));
        for check in &checks {
            text.push_str(&case(check));
        }
        text.push_str("</testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn case(check: &Check) -> String {
    let sentence = escape(&check.sentence);
    let inside = match check.outcome {
        Outcome::Passed => format!("<system-out>{sentence}</system-out>"),
        Outcome::Failed => {
            format!("<failure message=\"{sentence}\" type=\"slower\">{sentence}</failure>")
        }
        Outcome::Open => format!("<skipped message=\"{sentence}\"/>"),
        Outcome::Broken => {
            format!("<error message=\"{sentence}\" type=\"program\">{sentence}</error>")
        }
    };
    format!(
        "<testcase classname=\"{}\" name=\"{}\">{inside}</testcase>\n",
        escape(&check.experiment),
        escape(&check.name)
    )
}
