//! `szc causal report` on profiles as szc and coz write them.

use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::Place;

/// Experiments on a line that takes 60 % of the time, and on one that does not matter, in the form
/// of coz: durations of 12 different visits.
fn profile() -> String {
    let mut profile = "startup\ttime=1\n".to_owned();
    for at in 0..24_u64 {
        let speedup = if at % 2 == 0 { 0.0 } else { (at % 10) as f64 / 10.0 };
        for (line, gain) in [(5, 0.6), (9, 0.0)] {
            let visits = 100 + at % 3;
            let duration = (1.0 - gain * speedup) * 5e6 * visits as f64 + (at * 7 % 5) as f64 * 1e6;
            profile += &format!(
                "experiment\tselected=a.c:{line}\tspeedup={speedup}\tduration={duration:.0}\t\
                 selected-samples=9\nthroughput-point\tname=work\tdelta={visits}\n"
            );
        }
    }
    profile
}

#[test]
fn a_profile_of_coz_is_ranked_shown_as_a_page_and_written_for_its_viewer() {
    let place = Place::with("profile.coz", &profile());
    let output = run(&place, &["causal", "report", "profile.coz", "--html", "page.html"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = text(&output);
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("a.c:")).collect();
    assert!(rows[0].starts_with("a.c:5 ") && rows[0].contains(" gain "), "{table}");
    assert!(rows[1].starts_with("a.c:9 ") && rows[1].contains(" no effect "), "{table}");
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert_eq!(page.matches("plot causal-plot").count(), 2);

    let output = run(&place, &["causal", "report", "profile.coz", "--coz", "-"]);
    assert_eq!(text(&output).matches("\nthroughput-point\tname=work\t").count(), 48);
    let output = run(&place, &["causal", "report", "profile.coz", "--json", "-"]);
    assert!(text(&output).contains("\"word\": \"gain\""), "{}", text(&output));
}

#[test]
fn what_is_no_causal_profile_is_a_usage_error_and_an_empty_one_says_why() {
    let place = Place::with("other", "hello\n");
    let output = run(&place, &["causal", "report", "other"]);
    assert_eq!(code(&output), 2);
    assert!(errors(&output).contains("other is no causal profile"), "{}", errors(&output));
    let output = run(&place, &["causal", "report", "missing"]);
    assert_eq!(code(&output), 2);
    let place = Place::with("empty", "{\"type\":\"header\",\"version\":1,\"command\":[\"./a\"]}\n");
    let output = run(&place, &["causal", "report", "empty"]);
    assert_eq!(code(&output), 0);
    assert!(text(&output).contains("No findings: the file has nothing"), "{}", text(&output));
}
