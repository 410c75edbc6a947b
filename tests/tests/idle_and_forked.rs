//! What a program costs that does not run, and one that forks: little of the copies of its code.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use szc_tests::build::moving;
use szc_tests::run::run;

/// The number that the program prints, and its epochs. Copies that are kept are many.
fn ask(question: &str) -> (u64, u64) {
    ask_with("1", "100", question)
}

fn ask_with(interval_ms: &str, ms: &str, question: &str) -> (u64, u64) {
    let settings = [("SZC_INTERVAL_MS", interval_ms), ("SZC_CODE_RECLAIM", "0")];
    ask_under(&settings, ms, question)
}

fn ask_under(settings: &[(&str, &str)], ms: &str, question: &str) -> (u64, u64) {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, image) = BUILT.get_or_init(|| {
        let place = tempfile::tempdir().expect("a temporary directory");
        let source = "programs/runtime/many_functions.c";
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let image = moving(&source, &["-O2"], place.path());
        (place, image)
    });
    let outcome = run(image, settings, &[ms, question]);
    let printed = String::from_utf8_lossy(&outcome.stdout);
    let number = printed.lines().last().and_then(|line| line.parse().ok());
    let number = number.unwrap_or_else(|| panic!("no number: {outcome:?}"));
    (number, outcome.log_of_success().epochs)
}

#[test]
fn a_forked_child_copies_and_makes_nothing_that_it_does_not_need() {
    let (faults, epochs) = ask("fork");
    // A layout has more than a hundred pages.
    assert!(faults < 100 * epochs.min(4), "{faults} page faults after {epochs} epochs");
    assert!(epochs > 0);
    // Each fork takes longer the more pieces of memory there are. Each page that the parent took
    // for itself, while a child was there, is three, and of a place eight are.
    let (pieces, _) = ask_with("0", "0", "pieces");
    assert!((1..40).contains(&pieces), "{pieces}");
    let (threads, _) = ask_with("1000", "1100", "tasks");
    assert_eq!(threads, 12, "one before its first round is due, and two behind");
}

#[test]
fn a_child_that_waits_leaves_what_its_parent_has_left_it() {
    // It does not run for the tenth of an interval that its first round would take. To free its
    // parent's layouts, which here is tried at once, it would take pages of its own.
    let settings = [("SZC_INTERVAL_MS", "100"), ("SZC_CODE_RECLAIM", "stress")];
    let (faults, epochs) = ask_under(&settings, "600", "waits");
    assert!(epochs > 5, "{epochs} epochs");
    // A layout has more than a hundred pages.
    assert!(faults < 90, "{faults} page faults");
}

#[test]
fn a_program_that_sleeps_takes_little_for_layouts_that_nobody_uses() {
    let (cpu_us, epochs) = ask("sleep");
    // At every interval it would be 1,000 layouts, each of which takes 100 microseconds and more.
    assert!(cpu_us < 50_000, "{cpu_us} us in a second of sleep, {epochs} epochs");
    let (kib, _) = ask_with("500", "0", "written");
    assert!(kib < 50, "{kib} KiB count twice");
}
