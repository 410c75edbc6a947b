//! `szc profile` on a program whose code moves: its samples have the names of the originals.

use std::process::Output;

use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::{Place, szc};

/// About a tenth of a second of calls.
const PROGRAM: &str = "\
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) static void hottest(void) {
    for (int i = 0; i < 60000; i++) sink += i; }
__attribute__((noinline)) static void second(void) {
    for (int i = 0; i < 6000; i++) sink += i; }
int main(void) {
    while (clock() < CLOCKS_PER_SEC / 10) { hottest(); second(); }
    return 3;
}
";

fn record(place: &Place, args: &[&str]) -> Option<Output> {
    let output = run(place, &[&["profile", "record"], args].concat());
    // Where the machine has no clocks the message says what would help.
    let is_refused = errors(&output).contains("perf_event_paranoid of 2 or less");
    (!is_refused).then_some(output)
}

#[test]
fn functions_that_move_are_named_over_many_layouts() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O2", "-s", "p.c", "-o", "stripped"]);
    place.run(szc(), &["-O2", "-g", "p.c", "-o", "p"]);
    let command = ["-F", "4000", "--", "env", "SZC_INTERVAL_MS=2", "./p"];
    let Some(output) = record(&place, &command) else { return };
    // The program's exit code is no reason to lose its profile.
    assert_eq!(code(&output), 4, "{}", errors(&output));
    let output = run(&place, &["profile", "report", "--top", "1"]);
    let table = text(&output);
    assert!(
        table.contains("hottest  [p]") && table.contains("Intervals hold over layouts"),
        "{table}"
    );
    let output = run(&place, &["profile", "report", "--by", "line", "--top", "1"]);
    assert!(text(&output).contains("p.c:4  [p]"), "{}", text(&output));
    let output = run(&place, &["profile", "report", "--folded", "-"]);
    assert!(text(&output).contains("p;hottest "), "{}", text(&output));

    // Without symbols copies are found all the same, and belong to the program's file.
    record(&place, &["-F", "4000", "--per-thread", "--", "./stripped"]).expect("clocks as before");
    let output = run(&place, &["profile", "report", "--by", "library", "--top", "1"]);
    assert!(text(&output).contains(" stripped\n"), "{}", text(&output));
}

#[test]
fn a_profile_without_samples_says_why() {
    let place = Place::new();
    let Some(output) = record(&place, &["-F", "0.1", "--per-thread", "--", "true"]) else { return };
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let output = run(&place, &["profile", "report"]);
    assert!(text(&output).contains("No sample: the program took"), "{}", text(&output));
    assert_eq!(code(&run(&place, &["profile", "report", "--flame", "f.svg"])), 2);
    assert_eq!(code(&run(&place, &["profile", "report", "nothing.jsonl"])), 2);
}
