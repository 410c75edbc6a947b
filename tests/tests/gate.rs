//! `szc gate` in a repository: what a change costs decides, and a change that does not build is
//! nobody's pass.
//!
//! By the number of instructions, which noise cannot touch, so that the tests say the same on a
//! busy machine.

use std::process::Output;

use szc_tests::tools::{Place, szc};

const MAKEFILE: &str = "bench: bench.c\n\t$(CC) -O1 -o $@ bench.c\n";

/// A loop of as many rounds, behind a comment.
fn source(rounds: u32, comment: &str) -> String {
    format!(
        "/* {comment} */\n\
         #include <stdio.h>\n\
         __attribute__((noinline)) static unsigned step(unsigned x) {{\n\
         return x * 1664525u + 1013904223u; }}\n\
         int main(void) {{\n\
         unsigned x = 1;\n\
         for (volatile unsigned i = 0; i < {rounds}u; i++) x = step(x);\n\
         puts(x ? \"done\" : \"zero\");\n\
         return 0;\n}}\n"
    )
}

/// A repository with one commit.
fn repository() -> Place {
    let place = Place::with("Makefile", MAKEFILE);
    place.run("git", &["init", "-q", "-b", "main"]);
    place.run("git", &["config", "user.name", "somebody"]);
    place.run("git", &["config", "user.email", "somebody@example.org"]);
    place.write(".gitignore", "bench\ncache\n");
    commit(&place, &source(1_000_000, "the first"));
    place
}

fn commit(place: &Place, source: &str) {
    place.write("bench.c", source);
    place.run("git", &["add", "-A"]);
    place.run("git", &["commit", "-q", "-m", "a change"]);
}

fn gate(place: &Place) -> Output {
    let mut command = place.command(szc());
    command.args(["gate", "--metric", "instructions", "--max-slowdown", "5%", "--budget", "12"]);
    command.args(["--build", "make CC=szc", "--cache", "cache", "--seed", "1"]);
    command.args(["--rev", "HEAD~1", "--rev", "HEAD", "--", "./bench"]);
    command.output().expect("szc starts")
}

fn assert_exit(output: &Output, code: i32, words: &str) {
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_change_of_a_comment_passes() {
    let place = repository();
    commit(&place, &source(1_000_000, "the second, which does the same"));
    assert_exit(&gate(&place), 0, "PASS");
}

#[test]
fn a_change_that_makes_the_program_slower_fails() {
    let place = repository();
    commit(&place, &source(1_100_000, "the second, which does more"));
    assert_exit(&gate(&place), 1, "FAIL");
}

#[test]
fn a_change_that_does_not_build_is_neither() {
    let place = repository();
    commit(&place, "this is not C\n");
    assert_exit(&gate(&place), 4, "the build of HEAD failed");
}
