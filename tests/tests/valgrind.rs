//! valgrind with the options that README states: memcheck finds what is wrong and nothing else, and
//! callgrind counts what runs.

use szc_tests::tools::{Place, succeed, szc};

const OPTIONS: [&str; 2] = ["--smc-check=all", "--fair-sched=yes"];

/// Without a word a program without fault; with one it reads a byte behind a block, and loses
/// another block.
const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static char *make(int n) {
  char *p = malloc(n); memset(p, 'a', n); return p; }
__attribute__((noinline)) static int read_behind(int n) {
  char *p = make(n); int r = p[n]; free(p); return r; }
__attribute__((noinline)) static int lose(int n) { volatile char *p = make(n); return p[1]; }
__attribute__((noinline)) static int add(int n) {
  int s = 0; for (volatile int i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) static int add_often(int n) {
  int s = 0; for (int i = 0; i < 100; i++) s += add(n) + 1; return s; }
int main(int argc, char **argv) {
  (void)argv;
  int sum = add_often(1000);
  for (int i = 0; i < 20; i++) { char *p = make(100); sum += p[3]; free(p); }
  if (argc > 1) sum += read_behind(77) + lose(123);
  printf(\"%d\\n\", sum > 0);
  return 0;
}
";

fn place() -> Place {
    let place = Place::with("x.c", SOURCE);
    // Debug information of a version that older valgrinds read, too.
    succeed(place.command(szc()).args(["-gdwarf-4", "-O1", "x.c", "-o", "x"]));
    place
}

/// Runs `./x` under memcheck; its exit code, and what memcheck says.
fn memcheck(place: &Place, args: &[&str], settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut valgrind = place.command("valgrind");
    valgrind.args(OPTIONS).args(["--leak-check=full", "--error-exitcode=9", "./x"]).args(args);
    valgrind.envs([("SZC_INTERVAL_MS", "5")]).envs(settings.iter().copied());
    let output = valgrind.output().unwrap_or_else(|error| {
        panic!("valgrind does not start ({error}); spec-scripts/setup.sh --tests installs it")
    });
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const AS_BUILT: [(&str, &str); 3] = [("SZC_CODE", "0"), ("SZC_STACK", "0"), ("SZC_HEAP", "0")];

/// The functions of the stack behind a line that contains these words.
fn stack_behind<'a>(text: &'a str, words: &str) -> Vec<&'a str> {
    let after = text.split_once(words).unwrap_or_else(|| panic!("{words}: {text}")).1;
    let frames = after.lines().skip(1).map_while(|line| {
        let frame = line.split_once("   at 0x").or_else(|| line.split_once("   by 0x"))?.1;
        frame.split_once(": ")?.1.split(" (").next()
    });
    frames.collect()
}

#[test]
fn memcheck_finds_a_bad_read_and_a_lost_block_with_true_stacks() {
    let (code, text) = memcheck(&place(), &["wrong"], &AS_BUILT);
    assert_eq!(code, Some(9), "{text}");
    assert_eq!(stack_behind(&text, "Invalid read of size 1"), ["read_behind", "main"], "{text}");
    let made = stack_behind(&text, "bytes after a block of size 77 alloc'd");
    assert_eq!(made, ["malloc", "make", "read_behind", "main"], "{text}");
    let lost = stack_behind(&text, "123 bytes in 1 blocks are definitely lost");
    assert_eq!(lost, ["malloc", "make", "lose", "main"], "{text}");
    assert!(text.contains("ERROR SUMMARY: 2 errors from 2 contexts"), "{text}");
}

#[test]
fn memcheck_has_no_complaints_of_a_program_without_fault() {
    let place = place();
    for settings in [&AS_BUILT[..], &AS_BUILT[2..], &[]] {
        let (code, text) = memcheck(&place, &[], settings);
        assert_eq!(code, Some(0), "{settings:?}: {text}");
        assert!(text.contains("ERROR SUMMARY: 0 errors from 0 contexts"), "{settings:?}: {text}");
    }
}

#[test]
fn callgrind_counts_calls_and_instructions_by_function() {
    let place = place();
    let callgrind = |settings: &[(&str, &str)]| {
        let mut valgrind = place.command("valgrind");
        valgrind.arg("--tool=callgrind").args(OPTIONS).arg("--callgrind-out-file=out");
        valgrind.arg("./x").envs(settings.iter().copied());
        assert_eq!(succeed(&mut valgrind), "1\n");
        let mut annotate = place.command("callgrind_annotate");
        succeed(annotate.args(["--tree=caller", "--inclusive=yes", "--threshold=100", "out"]))
    };
    let text = callgrind(&AS_BUILT);
    let from = text.lines().find(|line| line.contains("< ") && line.contains("add_often"));
    assert!(from.is_some_and(|line| line.contains("(100x)")), "{text}");
    // The loop of `add` runs 100,000 times, in more than one instruction and less than twenty.
    let total = |text: &str| -> u64 {
        let line = text.lines().find(|line| line.contains("PROGRAM TOTALS"));
        let number = line.and_then(|line| line.split_whitespace().next()).expect("a total");
        number.replace(',', "").parse().expect("a number")
    };
    let least = 100_000;
    assert!((least..20 * least).contains(&total(&text)), "{text}");
    // While code moves, all is counted, without names.
    assert!(total(&callgrind(&[("SZC_INTERVAL_MS", "5")])) > least);
}
