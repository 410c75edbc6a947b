//! `szc paths` on a program whose hottest subpath is known.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};
use szc_tests::laboratory::{code, errors, laboratory, run, text};
use szc_tests::tools::{Place, szc};

/// 200 times 100 rounds of the inner loop, whose block calls another.
const PROGRAM: &str = "\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) static void step(int i) { sink += i; }
int main(int count, char **args) {
    if (count > 3) {
        if (fork() == 0) goto work;
        wait(NULL);
        exit(0);
    }
work:
    for (int i = 0; i < atoi(args[1]); i++)
        for (int j = 0; j < 100; j++)
            step(j);
    if (count == 3 && fork() == 0) { step(1); exit(0); }
    if (count > 3) read(0, args[0], 1);
    wait(NULL);
    return sink == 0;
}
";

/// Leaves functions in all ways there are, while signals arrive and threads run.
const LEAVING: &str = r#"
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <thread>
static jmp_buf place;
volatile long ticks;
static void tick(int) { for (int i = 0; i < 50; i++) ticks += i; }
__attribute__((noinline)) int deep(int n) {
    if (n == 0) throw std::runtime_error("x");
    std::string text(n, 'a');
    return deep(n - 1) + (int)text.size();
}
__attribute__((noinline)) void jump(int n) { if (n == 0) longjmp(place, 1); jump(n - 1); }
__attribute__((noinline)) long work(int seed) {
    long sum = 0;
    for (int i = 0; i < 3000; i++) {
        try { sum += deep(i % 13); } catch (std::exception &error) { sum += error.what()[0] + i; }
        for (int j = 0; j < i % 37; j++) { sum ^= j * seed; if (sum % 7 == 3) sum += 5; }
    }
    return sum;
}
__attribute__((noinline)) long jumps() {
    volatile long n = 0;
    for (int i = 0; i < 2000; i++) if (setjmp(place) == 0) jump(i % 9); else n += i;
    return n;
}
int main() {
    signal(SIGALRM, tick);
    itimerval often{{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, nullptr);
    long results[2];
    std::thread first([&] { results[0] = work(1); }), second([&] { results[1] = work(2); });
    first.join();
    second.join();
    printf("%ld %ld %ld\n", results[0], results[1], jumps());
}
"#;

#[test]
fn a_program_is_the_same_however_it_leaves_what_tells_of_its_blocks() {
    let place = Place::with("p.cpp", LEAVING);
    for level in ["-O0", "-O2"] {
        place.run(szc(), &["--driver-mode=g++", level, "-Rpaths", "p.cpp", "-pthread", "-o", "p"]);
        for options in [&["--spacing", "128"][..], &["--exact", "--max-length", "2"]] {
            let output = run(&place, &[&["paths"], options, &["--", "./p"]].concat());
            assert_eq!(code(&output), 0, "{}", errors(&output));
            let said = text(&output);
            assert!(said.starts_with("4884370 4896116 1999000\n"), "{level} {options:?}: {said}");
        }
    }
}

fn json(place: &Place) -> Value {
    let file = std::fs::read_to_string(place.path.join("p.json")).expect("written");
    serde_json::from_str(&file).expect("JSON")
}

#[test]
fn the_hottest_subpath_is_found_with_its_count() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O1", "-g", "-Rpaths", "p.c", "-o", "p"]);
    let exact = ["paths", "--exact", "--max-length", "4", "--memory", "1M", "--json", "p.json"];
    let counts = ["--profgen", "p.txt", "--", "./p", "200", "fork"];
    let output = run(&place, &[&exact[..], &counts].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = text(&output);
    assert!(table.contains("39.6 k                  exact        2   loop: "), "{table}");
    assert!(table.contains("step:5") && table.contains("main:15"), "{table}");
    let found = json(&place);
    let hottest = &found["subpaths"][0];
    // 99 times in each round of the outer loop both blocks begin it.
    assert_eq!((&hottest["executions"], &hottest["length"]), (&39_600.0.into(), &2.into()));
    assert_eq!(found["threads"], 2, "the child has a profile of its own");
    // The block that calls, and the one that is called, in the child once more.
    let counts = String::from_utf8(place.read("p.txt")).expect("text");
    let of = |line: &&str| ["20000", "20001"].contains(&line.rsplit(':').next().unwrap_or(""));
    assert!(counts.lines().filter(of).count() >= 2 && counts.ends_with("\n0\n"), "{counts}");

    let sampled = ["paths", "--spacing", "128", "--json", "p.json", "--flame", "p.svg"];
    let output = run(&place, &[&sampled[..], &["--", "./p", "20000"]].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let picture = String::from_utf8(place.read("p.svg")).expect("text");
    assert!(picture.contains("Subpaths of 8 blocks") && picture.contains("step:5 ("), "{picture}");
    let found = json(&place);
    let hottest = &found["subpaths"][0];
    let number = |name: &str| hottest[name].as_f64().expect("a number");
    let (count, is_loop) = (number("executions"), hottest["is_loop"] == true);
    // Five standard deviations of the count in the sample.
    let error = 5.0 * number("seen").sqrt().recip();
    assert!(is_loop && (count / 3_960_000.0 - 1.0).abs() < error, "{hottest}");
    assert!(number("lower") < count && count < number("upper"));
}

/// What is said, and found last, of a child that has done its work and waits, when a file of that
/// has been there `ask` was called for often enough.
fn looked_at(place: &Place, options: &[&str], ask: impl Fn(u32)) -> (String, Value) {
    let _ = std::fs::remove_file(place.path.join("p.json"));
    let rest = ["--spacing", "128", "--json", "p.json", "--", "./p", "20000", "two", "processes"];
    let mut command = laboratory(place, &[&["paths"], options, &rest].concat());
    let said = std::fs::File::create(place.path.join("p.out")).expect("a file");
    command.stdin(Stdio::piped()).stdout(said).stderr(Stdio::piped());
    let mut child = command.spawn().expect("szc starts");
    let started = Instant::now();
    let is_known = |found: &Value| found["blocks"].as_f64().is_some_and(|it| it > 3.5e6);
    loop {
        ask(child.id());
        let file = std::fs::read_to_string(place.path.join("p.json"));
        let found = file.ok().and_then(|text| serde_json::from_str(&text).ok());
        if let Some(found) = found.filter(is_known) {
            assert!(found["after_seconds"].as_f64().is_some_and(|it| it > 0.0), "{found}");
            // All is done: the child waits for a byte.
            let hottest = found["subpaths"][0]["executions"].as_f64().expect("a number");
            assert!((2e6..5e6).contains(&hottest), "{hottest}");
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "nothing is shown");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 0, "{}", errors(&output));
    (String::from_utf8(place.read("p.out")).expect("text"), json(place))
}

#[test]
fn what_is_known_is_shown_while_processes_run_and_at_a_signal() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O1", "-g", "-Rpaths", "p.c", "-o", "p"]);
    let (said, last) = looked_at(&place, &["--every", "10ms", "--listing"], |_| ());
    assert!(said.starts_with("after "), "{said}");
    assert!(last.get("after_seconds").is_none() && last["threads"].as_u64() >= Some(1));
    // The line of the source and an instruction of it, once, at the end.
    let listing = said.rsplit_once("\n1. ").expect("a listing").1;
    assert!(listing.contains("cycles each") && listing.contains("sink += i;"), "{listing}");
    assert!(listing.contains("  add "), "{listing}");

    let ask = |pid: u32| {
        let pid = Pid::from_raw(i32::try_from(pid).expect("a process id"));
        // It may not be ready for the signal yet, which then ends it.
        if place.path.join("p.json").exists() || has_children(pid) {
            kill(pid, Signal::SIGUSR1).expect("it still runs");
        }
    };
    let (said, last) = looked_at(&place, &["--weight", "time"], ask);
    assert!(said.contains("after ") && last["subpaths"][0]["cycles"].as_u64() > Some(1), "{said}");
}

/// Whether a process has started another.
fn has_children(pid: Pid) -> bool {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.is_ok_and(|children| !children.trim().is_empty())
}

#[test]
fn a_program_that_tells_of_no_blocks_is_an_error_that_says_what_to_do() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O1", "-Rcode", "p.c", "-o", "moves"]);
    for (command, said) in
        [(&["./moves", "1"][..], "tells of no blocks"), (&["true"], "left no profile")]
    {
        let output = run(&place, &[&["paths", "--"], command].concat());
        assert_eq!(code(&output), 2);
        assert!(errors(&output).contains(said) && errors(&output).contains("-Rpaths"));
    }
    assert_eq!(code(&run(&place, &["paths", "--max-length", "3", "--", "true"])), 2);
    assert_eq!(code(&run(&place, &["paths", "--", "./nothing"])), 2);
}
