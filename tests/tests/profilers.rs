//! perf on programs whose code moves and whose frames have pads: it names the functions, and its
//! stacks are true.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use szc_tests::tools::{Place, succeed, szc, szcxx};

/// Calls down through functions that are not inlined, for so many milliseconds of its own processor
/// time. Prints its process number first.
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

/// The same in a library, a thread, a forked child and C++: with exceptions, a frame of no fixed
/// size and one that a handler is found in.
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

/// A library whose calls go by the original entries, which is where samples fall, too.
const SHORT_CALLS: &str = "\
extern volatile int kept;
__attribute__((noinline)) int innermost(int x) { for (int i = 0; i < 8; i++) x = x * 3 + (x >> 5); return x; }
int inner(int x) { for (int i = 0; i < 20000; i++) x += innermost(x); kept = x; return x; }
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

    /// The samples that show any of [`CALLS`].
    fn samples(&self) -> Vec<Sample> {
        let mut script = self.place.command("perf");
        script.args(["script", "-i", "perf.data", "--no-inline", "-F", "ip,sym,dso"]);
        let text = succeed(&mut script);
        let samples = text.split("\n\n").filter_map(|sample| {
            let frame = |line: &str| {
                let (address, rest) = line.trim().split_once(' ')?;
                let (name, file) = rest.rsplit_once(" (")?;
                // C++ names come with arguments.
                let name = name.split('(').next().unwrap_or("").to_owned();
                let offset = u64::from_str_radix(address, 16).ok()?;
                Some((offset, file.trim_end_matches(')').to_owned(), name))
            };
            let frames: Vec<(u64, String, String)> = sample.lines().filter_map(frame).collect();
            let (offset, file, _) =
                frames.iter().find(|(_, _, name)| CALLS.contains(&name.as_str()))?.clone();
            let functions = frames.into_iter().map(|(_, _, name)| name).collect();
            Some(Sample { offset, file: self.place.path.join(file), functions })
        });
        samples.collect()
    }
}

/// Where a sample was taken, and the functions that called one another there.
#[derive(Debug)]
struct Sample {
    /// Offset in a file of the first instruction that belongs to any of [`CALLS`].
    offset: u64,
    file: PathBuf,
    /// Innermost first.
    functions: Vec<String>,
}

impl Sample {
    fn own(&self) -> Vec<&str> {
        self.functions.iter().map(String::as_str).filter(|name| CALLS.contains(name)).collect()
    }

    /// Whether the stack ends with the true callers of its innermost function of [`CALLS`], and
    /// goes on to where the program or a thread began.
    fn is_true(&self) -> bool {
        let own = self.own();
        let is_whole = match self.functions.last().map(String::as_str) {
            Some("_start") => CALLS.ends_with(&own),
            Some("clone3" | "__clone3" | "clone" | "__clone") => CALLS[..4].ends_with(&own),
            _ => false,
        };
        is_whole && !own.is_empty()
    }

    /// Whether the stack ends with the caller of a function that was about to return. clang's rules
    /// have no line for `pop %rbp`: at the `ret` behind it they say that the caller's `rbp` lies in
    /// memory, below the stack pointer by then, which no recording holds. So it is without szc,
    /// too.
    fn ends_at_the_caller(&self) -> bool {
        let own = self.own();
        let is_pair = own == self.functions && CALLS.windows(2).any(|calls| calls == own);
        let mut byte = [0];
        is_pair
            && fs::File::open(&self.file)
                .and_then(|file| file.read_exact_at(&mut byte, self.offset))
                .is_ok()
            && byte == [RETURN]
    }

    /// Whether the stack ends where an exception is caught, with the unwinder's own last
    /// instructions: they have put the handler in the place of their return address, and the stack
    /// pointer is not yet where the handler's frame begins. So it is without szc, too.
    fn ends_at_a_handler(&self) -> bool {
        let is_handler =
            |pair: &[String]| pair[0].starts_with("_Unwind_R") && CALLS.contains(&pair[1].as_str());
        !self.is_true() && self.functions.windows(2).any(is_handler)
    }
}

/// The instruction `ret` (Intel SDM volume 2).
const RETURN: u8 = 0xc3;

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

/// Asserts that there are samples, that all stacks are true, and how many layouts they saw at
/// least. One in a hundred may end at the caller or at a handler.
fn assert_true(samples: &[Sample], least: usize, layouts: usize) {
    assert!(samples.len() >= least, "{} samples", samples.len());
    let (cut, whole): (Vec<_>, Vec<_>) = samples
        .iter()
        .partition(|sample| sample.ends_at_the_caller() || sample.ends_at_a_handler());
    assert!(cut.len() * 100 <= samples.len(), "{cut:?} of {}", samples.len());
    for sample in whole {
        assert!(sample.is_true(), "{sample:?}");
    }
    let innermost = samples.iter().filter(|sample| sample.own().contains(&"innermost"));
    // A function of less than a page lies on two of them at most.
    let pages: HashSet<u64> = innermost.map(|sample| sample.offset >> 12).collect();
    let seen = pages.len().div_ceil(2);
    assert!(seen >= layouts, "{seen} layouts");
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
    let samples = recording.samples();
    assert!(samples.len() > 100, "{} samples", samples.len());
    let whole = samples.iter().filter(|sample| CALLS.ends_with(&sample.own())).count();
    // Between a function's first instruction and the one that sets its frame pointer the caller is
    // not seen.
    assert!(whole * 10 > samples.len() * 9, "{whole} of {}", samples.len());
    assert!(samples.iter().all(|sample| sample.own().contains(&"main")), "{samples:?}");
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
    assert_true(&recording.samples(), 200, 10);
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
    let samples = recording.samples();
    assert_true(&samples, 300, 10);
    let in_thread = |sample: &&Sample| !sample.own().contains(&"main");
    assert!(samples.iter().filter(in_thread).count() > 50, "{samples:?}");
}

#[test]
fn stacks_are_true_at_the_entries_of_a_library_that_stay() {
    if !may_sample() {
        return;
    }
    let place = Place::with("short.c", SHORT_CALLS);
    let own = |line: &&str| !line.contains("static int inner");
    let program: Vec<&str> = SOURCE.lines().filter(own).collect();
    place.write("x.c", &format!("int inner(int);\n{}\n", program.join("\n")));
    let library = ["-g", "-O2", "-fPIC", "-shared", "short.c", "-o", "libshort.so"];
    succeed(place.command(szc()).args(library));
    let words = ["-g", "-O2", "x.c", "-L.", "-lshort", "-Wl,-rpath,$ORIGIN", "-o", "x"];
    succeed(place.command(szc()).args(words));
    let settings = [("SZC_SYMBOLS", "elf"), ("SZC_INTERVAL_MS", "20")];
    let recording = Recording::of(place, "dwarf,65528", "2000", &settings);
    let samples = recording.samples();
    assert_true(&samples, 300, 10);
    let at_entries = samples.iter().filter(|sample| sample.file.ends_with("libshort.so"));
    assert!(at_entries.count() > 0, "no sample says anything of entries");
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
    assert_true(&recording.samples(), 100, 5);
}

#[test]
fn stacks_are_true_where_pads_come_from_tables() {
    if !may_sample() {
        return;
    }
    for mode in ["-Rstack", "-Rstack=per-function"] {
        for level in ["-O0", "-O2"] {
            let recording = Recording::of(place(&[mode, level]), "dwarf,65528", "300", &[]);
            assert_true(&recording.samples(), 100, 1);
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
