//! `szc profile record --call-graph icpp`: call paths from the height of the stack, of a program
//! that calls itself, in two threads, held against its unwind tables.

use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::{Place, szc};

/// Each way through `even` and `odd` has its own height; `again` has one frame more each time.
const PROGRAM: &str = "\
#include <pthread.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
volatile int kept;
NOINLINE static int work(int x) {
  kept = x; for (volatile int i = 0; i < 20000; i++) {}
  return x + 1; }
NOINLINE static int odd(int n);
NOINLINE static int even(int n) {
  int some[4]; some[n & 3] = n; kept = some[kept & 3];
  int y = work(n); return n ? odd(n - 1) + y : y; }
NOINLINE static int odd(int n) { int y = work(n); return n ? even(n - 1) + y : y; }
NOINLINE static int again(int n) { int y = n ? again(n - 1) + 1 : work(n); kept = y; return y; }
static long spent(void) {
  struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
NOINLINE static void *turns(void *ms) {
  while (spent() < (long)ms) { kept += even(5); kept += again(6); }
  return 0; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, turns, (void *)300);
  turns((void *)300);
  pthread_join(thread, 0);
  return 0;
}
";

/// The number in front of some words of a text.
fn number(text: &str, behind: &str) -> Option<u64> {
    text.split(behind)
        .next()
        .filter(|front| front.len() < text.len())?
        .rsplit(' ')
        .next()?
        .parse()
        .ok()
}

#[test]
fn the_height_of_a_stack_gives_its_call_path() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O2", "-g", "-pthread", "p.c", "-o", "p"]);
    let args = ["profile", "train", "--runs", "2", "-o", "paths", "--", "./p"];
    let output = run(&place, &args);
    if errors(&output).contains("perf_event_paranoid of 2 or less") {
        return;
    }
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(errors(&output).contains("that of stack seed"), "{}", errors(&output));
    let record = ["profile", "record", "-F", "250", "--call-graph", "icpp", "--paths", "paths"];
    let held = |program: &[&str]| {
        let output = run(&place, &[&record[..], &["--truth", "--"], program].concat());
        assert_eq!(code(&output), 0, "{}", errors(&output));
        text(&run(&place, &["profile", "report"]))
    };
    // One layout for the run.
    let report = held(&["./p"]);
    let right = number(&report, " precise ones are right").expect(&report);
    assert!(right >= 20 && report.contains("are right and 0 wrong"), "{report}");
    // Of a thousand layouts a second few samples are precise. What is wrong can only be a path that
    // the training has not seen, as one into the runtime.
    let report = held(&["env", "SZC_INTERVAL_MS=1", "./p"]);
    let wrong = number(&report, " wrong;").unwrap_or(0);
    assert!(20 * wrong <= number(&report, " precise ones").unwrap_or(0).max(20), "{report}");
    // Without the stack the profile has the callers.
    let output = run(&place, &[&record[..], &["--", "./p"]].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let folded = text(&run(&place, &["profile", "report", "--folded", "-"]));
    let deepest = format!("turns;{}work ", "again;".repeat(7));
    assert!(folded.contains(&deepest) && folded.contains("even;odd;even;odd;work "), "{folded}");
}
