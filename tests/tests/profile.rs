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

/// Two functions with room for a computation; so much work in each run.
const FIXED_WORK: &str = "\
volatile unsigned long sink;
__attribute__((noinline)) void hottest(void) {
    __asm__ volatile(\".skip 80, 0x90\");
    for (int i = 0; i < 60000; i++) sink += i; }
__attribute__((noinline)) void second(void) {
    __asm__ volatile(\".skip 80, 0x90\");
    for (int i = 0; i < 9000; i++) sink += i; }
int main(void) {
    for (int i = 0; i < 300; i++) { hottest(); second(); }
    return 0;
}
";

#[test]
fn a_profiler_is_checked_by_functions_whose_calls_are_made_longer() {
    let place = Place::with("p.c", FIXED_WORK);
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    place.run("cc", &["-O2", "p.c", "-o", "other"]);
    let check = |args: &[&str]| {
        run(
            &place,
            &[&["profile", "check", "--quiet", "--sizes", "2", "--seed", "1"], args].concat(),
        )
    };
    let both = ["--runs", "2", "--computations", "fibonacci,array", "--json", "found.json"];
    let output = check(&[&both[..], &["--function", "hottest", "--", "./p"]].concat());
    if errors(&output).contains("perf_event_paranoid of 2 or less") {
        return;
    }
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = text(&output);
    assert!(table.contains("hottest, array: ") && table.contains("Mean slope"), "{table}");
    let record: serde_json::Value = serde_json::from_slice(&place.read("found.json")).unwrap();
    let subjects = record["subjects"].as_array().unwrap();
    assert_eq!(subjects.len(), 2);
    for subject in subjects {
        let runs = subject["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 4);
        // The hottest function is seen in every run, and less than all of the time.
        for run in runs {
            let of = |name: &str| run[name].as_f64().unwrap();
            assert!(of("function_s") > 0.0 && of("program_s") > 0.0, "{run}");
        }
    }
    let refused = |args: &[&str]| {
        let output = check(args);
        assert_eq!(code(&output), 2, "{}", errors(&output));
        errors(&output)
    };
    assert!(refused(&["--profiler", "vtune", "--", "./p"]).contains("known are"));
    assert!(refused(&["--", "./other"]).contains("build it with szc"));
    assert!(refused(&["--function", "_start", "--", "./p"]).contains("does not move"));
    assert!(refused(&["--profiler", "gprof", "--", "./p"]).contains("-pg"));
}

#[test]
fn profilers_that_are_asked_about_one_program_are_compared() {
    let place = Place::with("p.c", FIXED_WORK);
    place.run("cc", &["-O2", "p.c", "-o", "p"]);
    let profilers =
        ["--profiler", "szc profile record", "--profiler", "szc profile record -F 2000"];
    let args = ["--quiet", "--runs", "1", "--top", "2", "--json", "found.json", "--", "./p"];
    let output = run(&place, &[&["profile", "disagree"][..], &profilers, &args].concat());
    if errors(&output).contains("perf_event_paranoid of 2 or less") {
        return;
    }
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = text(&output);
    assert!(table.contains("A and B agree: hottest"), "{table}");
    assert!(table.contains("Observer effect: hottest has"), "{table}");
    assert_eq!(code(&run(&place, &["profile", "disagree", "--profiler", "gprof", "--", "p"])), 2);
}

#[test]
fn where_a_program_waits_is_told_apart_from_where_it_computes() {
    let place = Place::with(
        "p.c",
        "#include <time.h>
        volatile unsigned long sink;
        __attribute__((noinline)) static void waits(void) {
            struct timespec time = {0, 2000000};
            nanosleep(&time, 0); sink++; }
        int main(void) { for (int i = 0; i < 20; i++) waits(); return 0; }",
    );
    place.run(szc(), &["-O2", "-fno-omit-frame-pointer", "p.c", "-o", "p"]);
    for clocks in [&["-g"][..], &["-g", "--per-thread"]] {
        let args = [clocks, &["--off-cpu", "--", "./p"]].concat();
        let output = run(&place, &[&["profile", "record"], &args[..]].concat());
        if errors(&output).contains("perf_event_paranoid of 1 or less") {
            return;
        }
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let report = |args: &[&str]| {
            let output = run(&place, &[&["profile", "report", "--off-cpu"], args].concat());
            assert_eq!(code(&output), 0, "{}", errors(&output));
            text(&output)
        };
        let table = report(&[]);
        let waits: u32 = table.split(' ').next().unwrap().parse().unwrap();
        assert!(waits >= 20 && table.contains("sleep"), "{table}");
        assert!(report(&["--folded", "-"]).contains("sleep"));
    }
}

/// 120 threads at once, each with some milliseconds of work. Prints how many descriptors it may
/// have.
const CROWD: &str = "\
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
static pthread_barrier_t all;
static void *work(void *sum) {
    pthread_barrier_wait(&all);
    for (int i = 0; i < 10000000; i++) ++*(volatile unsigned long *)sum;
    return 0; }
int main(void) {
    static unsigned long sums[120][8];
    pthread_t threads[120];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    printf(\"%lu\\n\", (unsigned long)limit.rlim_cur);
    pthread_barrier_init(&all, 0, 120);
    for (int i = 0; i < 120; i++) pthread_create(&threads[i], 0, work, sums[i]);
    for (int i = 0; i < 120; i++) pthread_join(threads[i], 0);
    return 0; }
";

#[test]
fn more_threads_than_the_usual_descriptors_are_sampled() {
    let place = Place::with("p.c", CROWD);
    place.run(szc(), &["-O2", "-pthread", "p.c", "-o", "p"]);
    let script = "ulimit -S -n 60; exec \"$0\" profile record -F 500 --per-thread -- ./p";
    let output = place.command("sh").args(["-c", script]).arg(szc()).output().expect("a shell");
    if errors(&output).contains("perf_event_paranoid of 2 or less") {
        return;
    }
    assert_eq!(code(&output), 0, "{}", errors(&output));
    // What the program sees is its own.
    assert_eq!(text(&output), "60\n");
}
