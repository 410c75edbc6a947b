//! `szc profile record --call-graph dwarf`: callers by unwind tables, of programs without frame
//! pointers, through signals, exceptions, threads, and copies whose frames have pads.

use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::{Place, szc, szcxx};

/// Calls down through functions that are not inlined, in a thread, in a signal's handler and in
/// main itself, for so many milliseconds of processor time each. Then it waits: layouts of a
/// process that ended cannot be read, and szc may have to wait for a processor.
const THREADS: &str = "\
#include <pthread.h>
#include <signal.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
volatile int kept;
static long spent(void) {
  struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
NOINLINE static int innermost(int x) {
  kept = x; for (volatile int i = 0; i < 20000; i++) {}
  return x + 1; }
NOINLINE static int inner(int x) { int y = innermost(x + 1); kept = y; return y * 2; }
NOINLINE static int outer(int x) { int y = inner(x) + 3; kept = y; return y; }
NOINLINE static void *outermost(void *ms) {
  long end = spent() + (long)ms; while (spent() < end) kept += outer(kept & 7);
  return 0; }
static void handler(int signal) { kept = signal; outermost((void *)60); kept = 0; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, outermost, (void *)60);
  outermost((void *)60);
  pthread_join(thread, 0);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, 0);
  return 0;
}
";

/// Exceptions, a frame of no fixed size and one that is aligned to more than a stack is. It waits
/// at its end, too.
const EXCEPTIONS: &str = "\
#include <cstring>
#include <ctime>
#include <stdexcept>
#define NOINLINE __attribute__((noinline))
volatile int kept;
NOINLINE static int innermost(int x) {
  kept = x; for (volatile int i = 0; i < 20000; i++) {}
  if (x % 8 == 5) throw std::runtime_error(\"5\");
  return x + 1; }
struct Guard { int value; ~Guard() { kept = value; } };
NOINLINE static int inner(int x) {
  Guard guard{x}; int y = innermost(x + 1); kept = y; return y * 2; }
NOINLINE static int outer(int x) {
  alignas(64) char aligned[64]; char some[(x & 7) + 100];
  memset(aligned, x, sizeof aligned); memset(some, x, sizeof some);
  try { int y = inner(x) + aligned[3] + some[3]; kept = y; return y; }
  catch (std::exception &) { return 1; } }
NOINLINE static int outermost() {
  int turns = 0;
  while (clock() < CLOCKS_PER_SEC / 5) kept += outer(turns++ & 7);
  return turns; }
int main() {
  kept = outermost(); kept += 1;
  timespec pause{0, 300000000}; nanosleep(&pause, nullptr);
  return 0; }
";

const CALLS: [&str; 4] = ["innermost", "inner", "outer", "outermost"];

/// Stacks and how often they were seen, outermost first. Nothing where the machine has no clocks.
fn stacks(place: &Place, args: &[&str]) -> Option<Vec<(Vec<String>, u64)>> {
    let output = run(place, &[&["profile", "record", "-F", "2000"], args].concat());
    if errors(&output).contains("perf_event_paranoid of 2 or less") {
        return None;
    }
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let output = run(place, &["profile", "report", "--folded", "-"]);
    let stack = |line: &str| {
        let (frames, count) = line.rsplit_once(' ').expect("a count");
        // C++ names come with arguments.
        let name = |frame: &str| frame.split('(').next().unwrap_or("").to_owned();
        (frames.split(';').map(name).collect(), count.parse().expect("a number"))
    };
    Some(text(&output).lines().map(stack).collect())
}

/// Of the samples that show the innermost function, the share whose callers are the true ones, up
/// to where the program, the thread or the signal came from, and how many there are.
fn true_share(stacks: &[(Vec<String>, u64)], roots: &[&str]) -> (f64, u64) {
    let (mut all, mut right) = (0, 0);
    for (frames, count) in stacks {
        let own: Vec<&str> =
            frames.iter().map(String::as_str).filter(|name| CALLS.contains(name)).collect();
        if own.last() != Some(&"innermost") {
            continue;
        }
        let expected: Vec<&str> = CALLS.iter().rev().copied().collect();
        let has_root = frames.iter().any(|name| roots.contains(&name.as_str()));
        all += count;
        right += if own == expected && has_root { *count } else { 0 };
    }
    (right as f64 / all.max(1) as f64, all)
}

/// One in a hundred or more would be a rule that is wrong.
fn assert_true(stacks: &[(Vec<String>, u64)], roots: &[&str]) {
    let (share, count) = true_share(stacks, roots);
    assert!(count >= 20 && share > 0.99, "{share} of {count}: {stacks:?}");
}

#[test]
fn callers_by_tables_lead_through_threads_and_signals_without_frame_pointers() {
    let place = Place::with("p.c", THREADS);
    let args = ["-g", "-O2", "-fomit-frame-pointer", "-pthread", "p.c", "-o"];
    place.run("cc", &[&args[..], &["plain"]].concat());
    place.run(szc(), &[&args[..], &["moves"]].concat());
    // libc's symbols may be in no file of this machine.
    let roots = ["_start", "clone3", "__clone3", "clone", "__clone", "[libc.so.6]"];
    for program in [&["./plain"][..], &["env", "SZC_INTERVAL_MS=2", "./moves"]] {
        let args = [&["--call-graph", "dwarf,32768", "--"][..], program].concat();
        let Some(found) = stacks(&place, &args) else { return };
        assert_true(&found, &roots);
        let below = |name: &str| {
            let is_in = |frames: &[String], name: &str| frames.iter().any(|frame| frame == name);
            found.iter().any(|(frames, _)| is_in(frames, name) && is_in(frames, "innermost"))
        };
        assert!(below("main") && below("handler"), "{found:?}");
    }
    // Where the stack is longer than what there is of it, the report says so.
    let args = ["--call-graph", "dwarf,64", "--", "./plain"];
    stacks(&place, &args).expect("clocks as before");
    let report = text(&run(&place, &["profile", "report"]));
    assert!(report.contains("go beyond 64 bytes of the stack"), "{report}");
    let report = text(&run(&place, &["profile", "report", "--perf-script", "-"]));
    assert!(report.contains("innermost+0x"), "{report}");
    let output = run(&place, &["profile", "record", "--call-graph", "lbr", "--", "./plain"]);
    assert!(code(&output) == 2 && errors(&output).contains("dwarf"), "{}", errors(&output));
}

#[test]
fn callers_by_tables_lead_through_frames_that_exceptions_leave() {
    let place = Place::with("p.cpp", EXCEPTIONS);
    place.run("c++", &["-g", "-O2", "p.cpp", "-o", "plain"]);
    place.run(szcxx(), &["-g", "-O2", "p.cpp", "-o", "moves"]);
    for program in [&["./plain"][..], &["env", "SZC_INTERVAL_MS=2", "./moves"]] {
        let args = [&["--per-thread", "--call-graph", "dwarf,32768", "--"][..], program].concat();
        let Some(found) = stacks(&place, &args) else { return };
        assert_true(&found, &["_start"]);
    }
}
