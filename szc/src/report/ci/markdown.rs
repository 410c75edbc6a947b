//! A job summary in GitHub's Markdown, for the file that `$GITHUB_STEP_SUMMARY` names.
#![forbid(unsafe_code)]

use super::{Outcome, checks};
use crate::report::number::quantities;
use crate::report::suite_sentences::suite_sentences;
use crate::report::view::{Experiment, ratio_and_interval};

/// The summary of all experiments: verdicts, then a table, then remarks.
#[must_use]
pub fn markdown(experiments: &[Experiment]) -> String {
    let mut text = String::from("## szc: measured over random layouts\n\n");
    for experiment in experiments {
        for check in checks(experiment) {
            let mark = match check.outcome {
                Outcome::Passed => "✅",
                Outcome::Failed => "❌",
                Outcome::Open => "❔",
                Outcome::Broken => "💥",
            };
            text.push_str(&format!(
                "- {mark} **{}** {}\n",
                escape(&check.experiment),
                escape(&check.sentence)
            ));
        }
    }
    for experiment in experiments {
        text.push_str(&table(experiment));
        if experiment.is_sweep() {
            text.push_str("\nOver all programs:\n\n");
            for line in suite_sentences(&experiment.file) {
                text.push_str(&format!("- {}\n", escape(&line)));
            }
        }
        let remarks = experiment.remarks();
        if !remarks.is_empty() {
            text.push_str("\n<details><summary>Remarks</summary>\n\n");
            for remark in remarks {
                text.push_str(&format!("- {}\n", escape(&remark)));
            }
            text.push_str("\n</details>\n");
        }
    }
    text
}

fn table(experiment: &Experiment) -> String {
    let results = &experiment.file.results;
    if results.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n### {}\n\n| compared | metric | reference | | ratio | interval | verdict | n |\n\
         |---|---|--:|--:|--:|:-:|:-:|--:|\n",
        escape(&experiment.title())
    );
    for result in results {
        let (ratio, range) = ratio_and_interval(result);
        let [reference, program] = quantities(&result.metric, result.medians);
        text.push_str(&format!(
            "| {} | {} | {reference} | {program} | {ratio} | {range} | {} | {} |\n",
            escape(&experiment.pair(result)),
            escape(result.metric.title()),
            // A lone tilde would strike the row through.
            result.verdict.mark().replace('~', "\\~"),
            result.n
        ));
    }
    text
}

/// Text that Markdown takes for text: ASCII punctuation behind a backslash (CommonMark, section
/// 2.4), and no control characters, which would begin a line.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            control if control.is_control() => escaped.push('\u{fffd}'),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '!'
            | '&' => {
                escaped.push('\\');
                escaped.push(character);
            }
            // A name must not call people or other issues.
            '@' => escaped.push_str("&#64;"),
            other => escaped.push(other),
        }
    }
    escaped
}
