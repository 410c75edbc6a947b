//! What build servers are told about gates that pass, fail and break, and about hostile names.

use super::*;
use crate::examples::{analysed, comparison, experiment, file_of};

fn gate(milliseconds: [u64; 2]) -> Experiment {
    let mut file = file_of(&milliseconds, 20);
    file.command = Command::Gate;
    experiment(analysed(file))
}

fn refused() -> Experiment {
    let mut file = file_of(&[1000, 900], 2);
    file.ended = EndedRecord::Refused { reason: "B ended\nby signal 11, 50 %".to_owned() };
    experiment(file)
}

#[test]
fn verdicts_of_gates_become_outcomes() {
    let outcome = |experiment: &Experiment| checks(experiment)[0].outcome;
    assert_eq!(outcome(&gate([1000, 900])), Outcome::Passed);
    assert_eq!(outcome(&gate([900, 1000])), Outcome::Failed);
    assert_eq!(outcome(&refused()), Outcome::Broken);
    assert_eq!(outcome(&experiment(comparison(900, 1000))), Outcome::Passed);
    assert_eq!(outcome(&experiment(file_of(&[1000, 900], 2))), Outcome::Open);
}

#[test]
fn annotations_are_one_escaped_line_each() {
    let text = annotations::annotations(&[gate([900, 1000]), refused(), gate([1000, 900])]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0].starts_with("::error title=szc%3A lua::FAIL: B (-O3) is more than 1 %25"),
        "{text}"
    );
    assert_eq!(lines[1], "::error title=szc%3A lua::B ended%0Aby signal 11, 50 %25");
    assert!(lines[2].starts_with("::notice title=szc%3A lua::PASS"));
}

#[test]
fn junit_counts_failures_errors_and_what_was_skipped() {
    let text = junit::junit(&[gate([900, 1000]), refused()]);
    assert!(text.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{text}");
    assert!(text.contains("tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\""), "{text}");
    assert!(text.contains("<failure message=\"FAIL: B (-O3)"), "{text}");
    assert_eq!(text.matches("<testcase ").count(), text.matches("</testcase>").count());
}

#[test]
fn names_cannot_write_markup_of_their_own() {
    let mut file = comparison(1000, 900);
    file.results.clear();
    file.programs[1].name = Some("|\n# <img> @all `x` [a](b) ~~\u{1b}".to_owned());
    let one = experiment(file);
    let text = markdown::markdown(std::slice::from_ref(&one));
    assert!(!text.contains("<img>") && !text.contains("@all") && !text.contains("\n# "), "{text}");
    assert!(
        text.contains("\\|\u{fffd}\\# \\<img\\> &#64;all \\`x\\` \\[a\\](b) \\~\\~\u{fffd}"),
        "{text}"
    );
    let xml = junit::junit(&[one]);
    assert!(xml.contains("&lt;img&gt;") && !xml.contains('\u{1b}'), "{xml}");
    assert!(!markdown::escape("| a").starts_with('|'));
}

#[test]
fn the_summary_has_a_table_with_every_metric() {
    let text = markdown::markdown(&[experiment(comparison(1000, 1000))]);
    assert!(text.contains("| -O3 against -O2 | CPU time |"), "{text}");
    assert_eq!(text.matches("| -O3 against -O2 |").count(), 3);
}
