//! The words of verdicts.

use super::*;
use crate::examples::{analysed, comparison, file_of};
use crate::samples::Command;

fn sentence(file: &SamplesFile) -> &str {
    &file.results[0].sentence
}

#[test]
fn a_faster_program_is_said_to_be_faster_by_a_factor_above_one() {
    let file = comparison(1000, 900);
    let sentence = sentence(&file);
    assert!(
        sentence.starts_with("B (-O3) is 1.11")
            && sentence.contains(" × faster than A (-O2): 95 % interval 1.1"),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("n = 20 blocks of 2 runs each, paired t on log CPU time."),
        "{sentence}"
    );
}

#[test]
fn a_slower_program_is_said_to_be_slower_by_a_factor_above_one() {
    let file = comparison(900, 1000);
    assert!(sentence(&file).starts_with("B (-O3) is 1.1"), "{}", sentence(&file));
    assert!(sentence(&file).contains(" × slower than A (-O2)"), "{}", sentence(&file));
}

#[test]
fn the_ends_of_an_interval_stand_in_ascending_order_in_both_directions() {
    for (a, b) in [(1000, 900), (900, 1000)] {
        let file = comparison(a, b);
        let interval = sentence(&file).split("interval ").nth(1).unwrap();
        let mut ends = interval.split(&[' ', ','][..]);
        let lower: f64 = ends.next().unwrap().parse().unwrap();
        let upper: f64 = ends.nth(1).unwrap().parse().unwrap();
        assert!(1.0 < lower && lower < upper, "{interval}");
    }
}

#[test]
fn unresolved_is_never_called_the_same_and_names_its_price() {
    let mut file = file_of(&[1000, 1000], 20);
    file.design.tolerance = Some(1e-4);
    let file = analysed(file);
    let sentence = sentence(&file);
    assert!(sentence.starts_with("Unresolved whether B (-O3)"), "{sentence}");
    assert!(sentence.contains("a verdict within 0.01 % would take about"), "{sentence}");
    assert!(!sentence.contains("same"), "{sentence}");
}

#[test]
fn equivalence_names_its_bounds_and_a_metric_that_never_differs() {
    let mut file = file_of(&[1000, 1000], 20);
    for run in &mut file.runs {
        run.max_rss_kib = 2048;
    }
    let file = analysed(file);
    assert!(
        sentence(&file).starts_with("B (-O3) and A (-O2) are equivalent within 1 % in CPU time"),
        "{}",
        sentence(&file)
    );
    let memory = &file.results[2].sentence;
    assert!(memory.contains("peak memory was equal in every block"), "{memory}");
}

#[test]
fn a_gate_says_what_it_allows_and_on_which_side_the_interval_lies() {
    for (milliseconds, beginning, part) in [
        (1000, "PASS: B (-O3) is at most 1 % slower than A (-O2)", "is below 1.01"),
        (1006, "PASS: B (-O3) is slower than A (-O2), within the budget of 1 %", "is below 1.01"),
        (1050, "FAIL: B (-O3) is more than 1 % slower", "is above 1.01"),
        (1010, "INCONCLUSIVE whether B (-O3) is more than 1 % slower", "deciding on 1 %"),
    ] {
        let mut file = file_of(&[1000, milliseconds], 60);
        file.command = Command::Gate;
        let file = analysed(file);
        assert!(sentence(&file).starts_with(beginning), "{}", sentence(&file));
        assert!(sentence(&file).contains(part), "{}", sentence(&file));
    }
}

#[test]
fn several_programs_share_one_error_rate_and_the_sentence_says_so() {
    let file = analysed(file_of(&[1000, 1100, 1000], 20));
    assert!(
        sentence(&file).contains("97.5 % interval (Holm, at 5 % for all programs)"),
        "{}",
        sentence(&file)
    );
}

#[test]
fn a_program_without_random_layouts_limits_the_verdict() {
    let mut file = file_of(&[1000, 900], 20);
    file.programs[1].randomized = false;
    let one = analysed(file.clone());
    assert!(sentence(&one).ends_with("one layout only of B, which was not randomized."));
    file.programs[0].randomized = false;
    assert!(sentence(&analysed(file)).ends_with("neither was randomized."));
}

#[test]
fn a_program_whose_code_stays_limits_the_verdict_and_the_reason_is_given() {
    let mut file = file_of(&[1000, 900], 20);
    let log = file.programs[1].randomization.get_or_insert_default();
    log.other.insert("code_refused".to_owned(), "its table was stripped".into());
    let said = "B was randomized only in part: its code stays where it is: its table was stripped.";
    assert!(sentence(&analysed(file)).ends_with(said));
}

#[test]
fn a_moved_tail_is_remarked() {
    let mut file = file_of(&[1000, 1000], 20);
    for run in file.runs.iter_mut().filter(|run| run.program == 1 && run.block >= 16) {
        run.user_us *= 2;
    }
    let file = analysed(file);
    let remarks = remarks_on(&file, &file.results[0]);
    assert!(remarks[0].contains("The tail of the layouts moved"), "{remarks:?}");
}

#[test]
fn very_short_runs_are_remarked() {
    let mut short = file_of(&[1000, 900], 20);
    for run in &mut short.runs {
        run.user_us /= 1000;
        run.sys_us /= 1000;
    }
    let short = analysed(short);
    let remarks = remarks_on(&short, &short.results[0]);
    assert!(remarks.iter().any(|remark| remark.contains("more work")), "{remarks:?}");
    let long = comparison(1000, 900);
    assert!(remarks_on(&long, &long.results[0]).iter().all(|remark| !remark.contains("more work")));
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let mut file = file_of(&[1000, 900], 20);
    file.programs[1].name = Some("\u{1b}[2Jevil\n".to_owned());
    let file = analysed(file);
    assert!(!sentence(&file).contains(char::is_control), "{:?}", sentence(&file));
}
