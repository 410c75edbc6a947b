//! perf on programs whose code moves and whose frames have pads: it names the functions, and its stacks are true.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use szc_tests::tools::{Place, succeed, szc, szcxx};

/// Calls down through functions that are not inlined, for so many milliseconds of its own processor time. Prints its
/// process number first.
const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile int kept;
static long spent(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
__attribute__((noinline)) static int innermost(int x) { kept = x; for (volatile int i = 0; i < 20000; i++) {} return x + 1; }
__attribute__((noinline)) static int inner(int x) { int y = innermost(x + 1); kept = y; return y * 2; }
__attribute__((noinline)) static int outer(int x) { int y = inner(x) + 3; kept = y; return y; }
__attribute__((noinline)) static int outermost(long ms) { int s = 0; while (spent() < ms) s += outer(kept & 7); kept = s; return s; }
int main(int argc, char **argv) {
  (void)argc;
  printf(\"%d\\n\", (int)getpid()); fflush(stdout);
  kept = outermost(atoi(argv[1]));
  return 0;
}
";

/// The same in a library, a thread, a forked child and C++: with exceptions, a frame of no fixed size and one that a
/// handler is found in.
const LIBRARY: &str = "\
#include <stdexcept>
extern volatile int kept;
__attribute__((noinline)) static int innermost(int x) { kept = x; for (volatile int i = 0; i < 20000; i++) {} if (x == 5) throw std::runtime_error(\"5\"); return x + 1; }
struct Guard { int value; ~Guard() { kept = value; } };
__attribute__((noinline)) static int inner(int x) { Guard guard{x}; int y = innermost(x + 1); kept = y; return y * 2; }
int outer(int x) { char a[x + 100]; a[x] = 1; asm volatile(\"\" :: \"r\"(a) : \"memory\"); try { int y = inner(x) + 3; kept = y; return y; } catch (std::exception &) { return 1; } }
";
const PROGRAM: &str = "\
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
volatile int kept;
int outer(int x);
static long spent() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
__attribute__((noinline)) static int outermost(long ms) { int s = 0; while (spent() < ms) s += outer(kept & 7); kept = s; return s; }
int main(int, char **argv) {
  long ms = atoi(argv[1]);
  printf(\"%d\\n\", int(getpid()));
  fflush(stdout);
  std::thread thread([=] { outermost(ms); });
  kept = outermost(ms);
  thread.join();
  pid_t child = fork();
  if (child == 0) { printf(\"%d\\n\", int(getpid())); fflush(stdout); outermost(ms); _exit(0); }
  waitpid(child, nullptr, 0);
}
";

/// The functions that call one another, innermost first.
const CALLS: [&str; 5] = ["innermost", "inner", "outer", "outermost", "main"];

/// Whether the kernel lets this user sample programs by the clock; says so if not.
fn may_sample() -> bool {
    let place = Place::new();
    let mut record = place.command("perf");
    record.args(["record", "-q", "-e", "cpu-clock", "-o", "perf.data", "true"]);
    let output = record.output().unwrap_or_else(|error| {
        panic!("perf does not start ({error}); spec-scripts/setup.sh --tests installs what the tests need")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    let forbidden = ["ermission", "not permitted", "perf_event_paranoid"];
    if !output.status.success() && forbidden.iter().any(|words| errors.contains(words)) {
        eprintln!("not checked: the kernel lets this user record no events: {errors}");
        return false;
    }
    assert!(output.status.success(), "{record:?}: {errors}");
    true
}

/// A recording of `./x`, whose files are gone with it.
struct Recording {
    place: Place,
    processes: Vec<String>,
}

impl Recording {
    /// Records `./x` with stacks by this method, under these settings.
    fn of(place: Place, stacks: &str, ms: &str, settings: &[(&str, &str)]) -> Self {
        let mut record = place.command("perf");
        record.args(["record", "-q", "-e", "cpu-clock", "-F", "500", "--call-graph", stacks]);
        record.args(["-o", "perf.data", "./x", ms]).envs(settings.iter().copied());
        let processes = succeed(&mut record).lines().map(str::to_owned).collect();
        Self { place, processes }
    }

    /// What `perf report` says of functions, without their callers.
    fn report(&self, options: &[&str]) -> String {
        let mut report = self.place.command("perf");
        report.args(["report", "-i", "perf.data", "--stdio", "--no-children", "-g", "none"]);
        succeed(report.args(options))
    }

    /// The functions of each sample that shows any of [`CALLS`], innermost first, and where it was taken.
    fn stacks(&self) -> Vec<(String, Vec<String>)> {
        let mut script = self.place.command("perf");
        script.args(["script", "-i", "perf.data", "--no-inline", "-F", "ip,sym"]);
        let text = succeed(&mut script);
        let samples = text.split("\n\n").filter_map(|sample| {
            let frame = |line: &str| {
                let (address, name) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
                // C++ names come with arguments.
                let name = name.split('(').next().unwrap_or("");
                (address.to_owned(), name.to_owned())
            };
            let frames: Vec<(String, String)> = sample.lines().map(frame).collect();
            let own = |name: &str| CALLS.contains(&name);
            let (address, _) = frames.iter().find(|(_, name)| own(name))?;
            Some((address.clone(), frames.iter().map(|(_, name)| name.clone()).collect()))
        });
        samples.collect()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let begins: Vec<String> =
            self.processes.iter().map(|process| format!("szc-{process}-")).collect();
        for file in fs::read_dir("/tmp").into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if begins.iter().any(|begin| name.starts_with(begin)) {
                let _ = fs::remove_file(file.path());
            }
        }
        for process in &self.processes {
            let _ = fs::remove_file(format!("/tmp/perf-{process}.map"));
        }
    }
}

/// Whether a stack ends with the true callers of its innermost function of [`CALLS`], and goes on to where the program
/// or a thread began.
fn is_true(stack: &[String]) -> bool {
    let own: Vec<&str> =
        stack.iter().map(String::as_str).filter(|name| CALLS.contains(name)).collect();
    let is_whole = match stack.last().map(String::as_str) {
        Some("_start") => CALLS.ends_with(&own),
        Some("clone3" | "__clone3" | "clone" | "__clone") => CALLS[..4].ends_with(&own),
        _ => false,
    };
    is_whole && !own.is_empty()
}

/// Whether a stack ends with the caller of the function that was running. clang's rules have no line for `pop %rbp`: at
/// the `ret` behind it they say that the caller's `rbp` lies in memory, below the stack pointer by then, which no recording
/// holds. So it is without szc, too.
fn ends_at_the_caller(stack: &[String]) -> bool {
    let own: Vec<&str> =
        stack.iter().skip_while(|name| name.is_empty()).map(String::as_str).collect();
    own.len() == 2 && CALLS.windows(2).any(|calls| calls == own)
}

/// Asserts that there are samples, that all stacks are true, and how many layouts they saw at least. One in a hundred may
/// end at a caller.
fn assert_true(stacks: &[(String, Vec<String>)], least: usize, layouts: usize) {
    assert!(stacks.len() >= least, "{} samples", stacks.len());
    let (cut, whole): (Vec<_>, Vec<_>) =
        stacks.iter().partition(|(_, stack)| ends_at_the_caller(stack));
    assert!(cut.len() * 100 <= stacks.len(), "{cut:?} of {}", stacks.len());
    for (address, stack) in whole {
        assert!(is_true(stack), "{address}: {stack:?}");
    }
    let of = |name: &str| {
        let innermost = stacks.iter().filter(|(_, stack)| stack.iter().any(|found| found == name));
        // A function of less than a page lies on two of them at most.
        let mut pages: Vec<&str> =
            innermost.map(|(address, _)| &address[..address.len().saturating_sub(3)]).collect();
        pages.sort_unstable();
        pages.dedup();
        pages.len().div_ceil(2)
    };
    assert!(of("innermost") >= layouts, "{} layouts", of("innermost"));
}

fn place(words: &[&str]) -> Place {
    let place = Place::with("x.c", SOURCE);
    succeed(place.command(szc()).args(["-g", "-O2", "x.c", "-o", "x"]).args(words));
    place
}

#[test]
fn the_map_names_moved_functions_and_frame_pointers_lead_through_them() {
    if !may_sample() {
        return;
    }
    let place = place(&["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"]);
    let settings = [("SZC_SYMBOLS", "perf"), ("SZC_INTERVAL_MS", "20")];
    let recording = Recording::of(place, "fp", "600", &settings);
    let stacks = recording.stacks();
    let own = |stack: &[String]| -> Vec<&'static str> {
        let found = |name: &&str| stack.iter().any(|found| found == name);
        CALLS.iter().copied().filter(found).collect()
    };
    assert!(stacks.len() > 100, "{} samples", stacks.len());
    let whole = stacks.iter().filter(|(_, stack)| CALLS.ends_with(&own(stack))).count();
    // Between a function's first instruction and the one that sets its frame pointer the caller is not seen.
    assert!(whole * 10 > stacks.len() * 9, "{whole} of {}", stacks.len());
    assert!(stacks.iter().all(|(_, stack)| own(stack).contains(&"main")), "{stacks:?}");
    let report = recording.report(&["--sort", "sym"]);
    assert!(report.contains("[.] innermost"), "{report}");
}

#[test]
fn stacks_by_unwind_rules_are_true_through_copies_with_pads() {
    if !may_sample() {
        return;
    }
    let settings = [("SZC_SYMBOLS", "elf"), ("SZC_INTERVAL_MS", "20")];
    let recording = Recording::of(place(&[]), "dwarf,65528", "600", &settings);
    assert_true(&recording.stacks(), 200, 10);
    let report = recording.report(&["--no-inline"]);
    let file = format!("szc-{}-0.so", recording.processes[0]);
    let named = |line: &str| line.contains(&file) && line.contains("[.] innermost");
    assert!(report.lines().any(named), "{report}");
    let mut readelf = recording.place.command("readelf");
    readelf.args(["-W", "--section-headers", "--symbols", "--debug-dump=frames"]);
    let output = readelf.arg(format!("/tmp/{file}")).output().expect("binutils are there");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn stacks_are_true_in_libraries_threads_forked_children_and_between_exceptions() {
    if !may_sample() {
        return;
    }
    let place = Place::with("lower.cpp", LIBRARY);
    place.write("x.cpp", PROGRAM);
    let library = ["-g", "-O2", "-fPIC", "-shared", "lower.cpp", "-o", "liblower.so"];
    succeed(place.command(szcxx()).args(library));
    let program =
        ["-g", "-O2", "x.cpp", "-pthread", "-L.", "-llower", "-Wl,-rpath,$ORIGIN", "-o", "x"];
    succeed(place.command(szcxx()).args(program));
    let settings = [("SZC_SYMBOLS", "elf"), ("SZC_INTERVAL_MS", "20")];
    let recording = Recording::of(place, "dwarf,65528", "600", &settings);
    let stacks = recording.stacks();
    assert_true(&stacks, 300, 10);
    let in_thread = |(_, stack): &&(String, Vec<String>)| !stack.iter().any(|name| name == "main");
    assert!(stacks.iter().filter(in_thread).count() > 50, "{stacks:?}");
}

#[test]
fn perf_that_comes_later_sees_the_same() {
    if !may_sample() {
        return;
    }
    let place = place(&[]);
    let mut program = place.command("./x");
    program.arg("1500").envs([("SZC_SYMBOLS", "elf"), ("SZC_INTERVAL_MS", "20")]);
    let mut child = program.stdout(Stdio::piped()).spawn().expect("it was built");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let process = line.trim().to_owned();
    let mut record = place.command("perf");
    record.args(["record", "-q", "-e", "cpu-clock", "-F", "500", "--call-graph", "dwarf,65528"]);
    succeed(record.args(["-o", "perf.data", "-p", &process]));
    assert!(child.wait().expect("a child").success());
    let recording = Recording { place, processes: vec![process] };
    assert_true(&recording.stacks(), 100, 5);
}

#[test]
fn stacks_are_true_where_pads_come_from_tables() {
    if !may_sample() {
        return;
    }
    for mode in ["-Rstack", "-Rstack=per-function"] {
        for level in ["-O0", "-O2"] {
            let recording = Recording::of(place(&[mode, level]), "dwarf,65528", "300", &[]);
            assert_true(&recording.stacks(), 100, 1);
        }
    }
}

#[test]
fn where_the_file_cannot_be_executed_a_program_runs_without_it() {
    let unshare = |script: &str| {
        let mut shell = Command::new("unshare");
        shell.args(["-m", "sh", "-c", script]);
        shell
    };
    let may_mount = unshare("mount -t tmpfs -o noexec none /tmp").output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        eprintln!("not checked: this user cannot mount a folder without execution over /tmp");
        return;
    }
    let place = place(&[]);
    let script =
        "exec 3<x; mount -t tmpfs -o noexec none /tmp; /proc/self/fd/3 50; echo $?; ls /tmp";
    let mut shell = unshare(script);
    let text = succeed(shell.current_dir(&place.path).env("SZC_SYMBOLS", "elf"));
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["0"], "{text}");
}
