//! `szc paths` on a program whose hottest subpath is known.

use serde_json::Value;
use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::{Place, szc};

/// 200 times 100 rounds of the inner loop, whose block calls another.
const PROGRAM: &str = "\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) static void step(int i) { sink += i; }
int main(int count, char **args) {
    for (int i = 0; i < atoi(args[1]); i++)
        for (int j = 0; j < 100; j++)
            step(j);
    if (count > 2 && fork() == 0) { step(1); exit(0); }
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
    let output = run(&place, &[&exact[..], &["--", "./p", "200", "fork"]].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = text(&output);
    assert!(table.contains("39.6 k                  exact        2   loop: "), "{table}");
    assert!(table.contains("step:5") && table.contains("main:9"), "{table}");
    let found = json(&place);
    let hottest = &found["subpaths"][0];
    // 99 times in each round of the outer loop both blocks begin it.
    assert_eq!((&hottest["executions"], &hottest["length"]), (&39_600.0.into(), &2.into()));
    assert_eq!(found["threads"], 2, "the child has a profile of its own");

    let sampled = ["paths", "--spacing", "128", "--json", "p.json", "--", "./p", "20000"];
    let output = run(&place, &sampled);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let found = json(&place);
    let hottest = &found["subpaths"][0];
    let number = |name: &str| hottest[name].as_f64().expect("a number");
    let (count, is_loop) = (number("executions"), hottest["is_loop"] == true);
    // Five standard deviations of the count in the sample.
    let error = 5.0 * number("seen").sqrt().recip();
    assert!(is_loop && (count / 3_960_000.0 - 1.0).abs() < error, "{hottest}");
    assert!(number("lower") < count && count < number("upper"));
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
