//! Old copies of code are freed, and only where nobody can reach them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use szc_tests::build::moving;
use szc_tests::records::Reclaim;
use szc_tests::run::{Outcome, run};

/// At 1 ms, in the fewest places that will do: a copy that is freed is overwritten at once.
const STRESS: [(&str, &str); 2] = [("SZC_INTERVAL_MS", "1"), ("SZC_CODE_RECLAIM", "stress")];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn reclaim_of(outcome: &Outcome) -> Reclaim {
    let log = outcome.log_of_success();
    log.code_reclaim.clone().unwrap_or_else(|| panic!("no account of it: {log:?}"))
}

fn worker() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &BUILT
        .get_or_init(|| {
            let place = tempfile::tempdir().expect("a temporary directory");
            let image = moving(&source("programs/runtime/worker.c"), &["-O2"], place.path());
            (place, image)
        })
        .1
}

#[test]
fn a_small_budget_lasts_as_long_as_the_program() {
    // One mebibyte has room for some 27 layouts.
    let settings = [("SZC_INTERVAL_MS", "1"), ("SZC_CODE_BUDGET_MIB", "1")];
    let outcome = run(worker(), &settings, &["3000"]);
    let log = outcome.log_of_success();
    let reclaim = reclaim_of(&outcome);
    assert!(log.epochs > 45, "{log:?}");
    assert!(reclaim.freed > 30 && reclaim.kept < 30 && reclaim.blocked.is_none(), "{log:?}");
    assert_eq!(reclaim.freed + reclaim.kept, log.epochs, "{log:?}");
}

#[test]
fn what_is_off_frees_nothing() {
    let settings = [("SZC_INTERVAL_MS", "1"), ("SZC_CODE_RECLAIM", "0")];
    let outcome = run(worker(), &settings, &["300"]);
    let reclaim = reclaim_of(&outcome);
    assert_eq!((reclaim.freed, reclaim.pauses), (0, 0));
}

#[test]
fn where_a_program_makes_contexts_copies_are_freed_and_the_log_says_how() {
    let place = tempfile::tempdir().expect("a temporary directory");
    for args in [&["-O2"][..], &["-O2", "-Rcode"]] {
        let image = moving(&source("programs/calls/context.c"), args, place.path());
        let reclaim = reclaim_of(&run(&image, &STRESS, &[]));
        let stacks = reclaim.other_stacks.clone().unwrap_or_default();
        assert!(stacks.contains("makecontext"), "{args:?}: {reclaim:?}");
        assert!(reclaim.freed > 0 && reclaim.snapshots > 0, "{args:?}: {reclaim:?}");
        assert_eq!(reclaim.blocked, None, "{args:?}");
    }
}

#[test]
fn everything_that_refers_to_code_at_once_is_survived() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let soak = source("campaign/programs/soak.cpp");
    let args = ["-std=c++20", "-O2", "-pthread", "-lstdc++", "-lm"];
    let image = moving(&soak, &args, place.path());
    for seed in ["1", "2"] {
        let outcome = run(&image, &[&STRESS[..], &[("SZC_SEED", seed)]].concat(), &["4", "4"]);
        let reclaim = reclaim_of(&outcome);
        // On a loaded machine there are fewer layouts in this time.
        assert!(reclaim.freed > 10 && reclaim.blocked.is_none(), "{reclaim:?}");
        assert_eq!(reclaim.other_stacks, None, "nothing but its threads' own");
    }
}
