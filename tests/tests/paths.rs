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
