//! What the environment asks of the runtime.

use super::{source, worker, worker_output};
use std::collections::HashSet;
use szc_tests::build::{moving, plain};
use szc_tests::directives::Ending;
use szc_tests::run::run;

#[test]
fn a_malformed_setting_stops_the_program_before_it_runs() {
    for (name, value) in [
        ("SZC_SEED", ""),
        ("SZC_SEED", "-1"),
        ("SZC_SEED", "0x10"),
        ("SZC_SEED", "18446744073709551616"),
        ("SZC_SEED", " 1"),
        ("SZC_INTERVAL_MS", "fast"),
        ("SZC_INTERVAL_MS", "1.5"),
        ("SZC_CODE", "2"),
        ("SZC_CODE_BUDGET_MIB", "0"),
        ("SZC_CODE_BUDGET_MIB", "1025"),
        ("SZC_CODE_RECLAIM", "yes"),
        ("SZC_STACK_ROOM_KIB", "64k"),
        ("SZC_STACK_ROOM_KIB", "65537"),
        ("SZC_MAP", ""),
        ("SZC_INJECT", "main:sleep:1"),
        ("SZC_PAD", "main:4096"),
        ("SZC_BLOCKS", "1/16,64:16"),
    ] {
        let outcome = run(worker(), &[(name, value)], &[]);
        assert_eq!(outcome.ending, Ending::Code(78), "{name}={value}");
        assert_eq!(outcome.text(), "", "{name}={value}");
        let found = format!("{name}={value}");
        assert!(outcome.stderr.contains(&found), "{found}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("needed is"), "{found}: {}", outcome.stderr);
    }
}

#[test]
fn names_that_the_runtime_does_not_know_are_left_alone() {
    let outcome = run(worker(), &[("SZC_UNKNOWN", "?"), ("SZCX", "1")], &[]);
    assert_eq!(outcome.log_of_success().interval_ms, 500);
}

#[test]
fn one_layout_for_the_whole_run_means_no_epochs() {
    let outcome = run(worker(), &[("SZC_INTERVAL_MS", "0")], &[]);
    let log = outcome.log_of_success();
    assert_eq!((log.interval_ms, log.epochs, log.code_bytes_retained), (0, 0, 0));
    assert!(log.relocations >= 9, "{log:?}");
}

#[test]
fn code_randomization_can_be_switched_off() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let expected = run(&plain(&source("worker.c"), &["-O2"], place.path()), &[], &[]);
    for stack in ["0", "1"] {
        let outcome = run(worker(), &[("SZC_CODE", "0"), ("SZC_STACK", stack)], &[]);
        let log = outcome.log_of_success();
        assert!(!log.randomize.code && log.code_refused.is_none(), "{log:?}");
        // Pads come with copies, which lie in the order of the link.
        assert_eq!(log.relocations > 0, stack == "1", "{log:?}");
        assert_eq!(outcome.stdout, expected.stdout);
    }
}

#[test]
fn without_a_seed_every_run_has_its_own() {
    let seeds: HashSet<u64> =
        (0..4).map(|_| run(worker(), &[], &["1"]).log_of_success().seed).collect();
    assert_eq!(seeds.len(), 4);
}

#[test]
fn each_part_of_the_layout_may_be_drawn_anew_while_the_others_stay() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source("parts.c"), &["-O2"], place.path());
    let parts = |settings: &[(&str, &str)]| -> Vec<i64> {
        let outcome = run(&image, &[&[("SZC_SEED", "1")], settings].concat(), &[]);
        outcome.text().split_whitespace().map(|word| word.parse().expect("a number")).collect()
    };
    let first = parts(&[]);
    assert_eq!(first.len(), 3);
    for (part, name) in ["SZC_CODE_SEED", "SZC_STACK_SEED", "SZC_HEAP_SEED"].iter().enumerate() {
        assert_eq!(parts(&[(name, "1")]), first, "{name}");
        // A pad may be the same by chance, once in 256; three are not.
        let others = ["2", "3", "4"].map(|seed| parts(&[(name, seed)]));
        let changed = |place: usize| others.iter().any(|found| found[place] != first[place]);
        assert_eq!([0, 1, 2].map(changed), [0, 1, 2].map(|place| place == part), "{name}");
    }
}

#[test]
fn a_spent_budget_ends_re_randomization_and_not_the_program() {
    let settings =
        [("SZC_INTERVAL_MS", "1"), ("SZC_CODE_BUDGET_MIB", "1"), ("SZC_CODE_RECLAIM", "0")];
    // There is room for 27 layouts.
    let outcome = run(worker(), &settings, &["600"]);
    let log = outcome.log_of_success();
    assert!(log.exhausted && log.randomize.code && log.epochs > 0, "{log:?}");
    assert!(log.code_bytes_live + log.code_bytes_retained <= 1 << 20, "{log:?}");
    assert_eq!(outcome.stdout, worker_output());
}

#[test]
fn each_call_of_a_function_computes_what_is_injected_and_unwinds_as_at_its_entry() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source("injected.c"), &["-O2"], place.path());
    let steps = |inject: &str, interval: &str| -> u64 {
        let settings = [("SZC_INTERVAL_MS", interval), ("SZC_INJECT", inject)];
        let settings = if inject.is_empty() { &settings[..1] } else { &settings };
        let outcome = run(&image, settings, &[]);
        let _ = outcome.log_of_success();
        let text = outcome.text();
        let last = text.lines().last().expect("two lines");
        last.split(' ').next().and_then(|number| number.parse().ok()).expect(&text)
    };
    let plain = steps("", "0");
    for (computation, steps_of_a_round, others) in [("fibonacci", 3, 7), ("array", 5, 10)] {
        let injected = |rounds: u64, interval: &str| {
            steps(&format!("computed:{computation}:{rounds}"), interval)
        };
        // The jump at the end is one of the others; calls come to the original's place by it.
        assert_eq!(injected(1, "0"), plain + steps_of_a_round + others + 1, "{computation}");
        assert_eq!(injected(31, "0"), plain + 31 * steps_of_a_round + others + 1);
        assert!(injected(31, "1") >= plain + 31 * steps_of_a_round + others);
    }
}

#[test]
fn a_function_that_has_no_room_for_a_computation_stops_the_program() {
    for function in ["nothing", "_start"] {
        let outcome = run(worker(), &[("SZC_INJECT", &format!("{function}:array:1"))], &[]);
        assert_eq!(outcome.ending, Ending::Code(78));
        let found = format!("no function of SZC_INJECT, {function}; needed is");
        assert!(outcome.stderr.contains(&found), "{}", outcome.stderr);
    }
}
