//! Moved functions seen from outside: gdb's backtraces and breakpoints, core dumps, perf's map.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use szc_tests::tools::{Place, succeed, szc};

/// Calls down through moved functions, again and again, for about as many milliseconds as it is
/// told.
const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
volatile int kept, ends;
static long now(void) {
  struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
__attribute__((noinline)) static int innermost(int x) {
  kept = x; for (volatile int i = 0; i < 2000; i++) {} return x + 1;
}
__attribute__((noinline)) static int inner(int x) {
  int y = innermost(x + 1); kept = y; return y * 2;
}
__attribute__((noinline)) static int outer(int x) { int y = inner(x) + 3; kept = y; return y; }
__attribute__((noinline)) static int outermost(long until) {
  int s = 0; while (now() < until) s += outer(kept & 7);
  if (ends) abort(); return s; }
int main(int argc, char **argv) {
  ends = argc > 2;
  puts(\"started\"); fflush(stdout);
  kept = outermost(now() + atoi(argv[1]));
  puts(\"ended\");
  return 0;
}
";

const MOVED: [&str; 4] = ["innermost", "inner", "outer", "outermost"];

fn place() -> Place {
    let place = Place::with("x.c", SOURCE);
    succeed(place.command(szc()).args(["-g", "-O2", "x.c", "-o", "x"]));
    place
}

fn gdb(place: &Place, commands: &[&str]) -> Command {
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx", "-ex", "set width 0", "-ex", "set confirm off"]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    gdb.current_dir(&place.path).env("SZC_INTERVAL_MS", "20").stdin(Stdio::null());
    gdb
}

/// A session in which the program runs to its end. gdb (13; once in 40 sessions) may ask for a
/// thread's registers at the moment in which all threads go, and gives up, although the program
/// ended as it should: such a session is repeated.
fn to_the_end(gdb: &mut Command) -> String {
    let output = gdb.output().expect("gdb starts");
    let lost = String::from_utf8_lossy(&output.stderr).contains("No such process");
    if lost && String::from_utf8_lossy(&output.stdout).contains("\nended\n") {
        return succeed(gdb);
    }
    assert!(output.status.success(), "{gdb:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The program, running.
fn running(place: &Place, symbols: &str, ms: &str) -> Child {
    let mut program = place.command(place.path.join("x"));
    program.arg(ms).env("SZC_SYMBOLS", symbols).env("SZC_INTERVAL_MS", "20");
    let mut child = program.stdout(Stdio::piped()).spawn().expect("it was built");
    let mut line = String::new();
    let output = BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line);
    assert!(output.is_ok() && line == "started\n", "{line:?}");
    std::thread::sleep(std::time::Duration::from_millis(100));
    child
}

/// The functions of each backtrace, innermost first.
fn backtraces(text: &str) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let Some(name) = line.split(" (").next().and_then(|part| part.split_whitespace().last())
        else {
            continue;
        };
        if line.starts_with("#0 ") {
            all.push(Vec::new());
        }
        if let Some(last) = all.last_mut() {
            last.push(name);
        }
    }
    all
}

/// Whether a backtrace shows the moved functions, from one of them out to `main`.
fn is_whole(frames: &[&str]) -> bool {
    let own: Vec<&str> = frames.iter().copied().filter(|name| MOVED.contains(name)).collect();
    !own.is_empty() && MOVED.ends_with(&own) && frames.contains(&"main")
}

#[test]
fn a_breakpoint_from_the_start_shows_source_and_the_moved_callers_by_name() {
    let place = place();
    let commands =
        ["break inner", "run 60000", "bt", "continue 3", "bt", "finish", "delete", "kill"];
    let text = to_the_end(gdb(&place, &commands).arg("./x"));
    assert!(
        text.contains("inner (x=") && (text.contains("x.c:12") || text.contains("x.c:13")),
        "{text}"
    );
    let all = backtraces(&text);
    assert_eq!(all.len(), 2, "{text}");
    assert!(all.iter().all(|frames| is_whole(frames) && frames[0] == "inner"), "{text}");
    assert!(text.contains("Value returned"), "{text}");
}

#[test]
fn a_breakpoint_in_a_function_that_has_moved_is_hit_again_and_again() {
    let place = place();
    let commands = [
        "break main",
        "run 1500",
        "delete",
        "break innermost",
        "continue",
        "bt",
        "continue 20",
        "bt",
        "finish",
        "stepi 50",
        "bt",
        "delete",
        "continue",
    ];
    let text = to_the_end(gdb(&place, &commands).arg("./x"));
    let all = backtraces(&text);
    assert_eq!(all.len(), 3, "{text}");
    assert!(all.iter().all(|frames| is_whole(frames)), "{text}");
    assert_eq!((all[0][0], all[1][0]), ("innermost", "innermost"), "{text}");
    assert!(text.contains("ended") && text.contains("exited normally"), "{text}");
}

#[test]
fn gdb_attaches_to_a_program_that_was_asked_for_symbols() {
    let place = place();
    let mut child = running(&place, "gdb", "60000");
    let process = child.id().to_string();
    let commands = ["bt", "break outer", "continue", "bt", "continue 5", "bt", "delete", "detach"];
    let text = succeed(gdb(&place, &commands).args(["-p", &process]));
    let still_runs = child.try_wait().expect("a child").is_none();
    child.kill().expect("it runs");
    child.wait().expect("a child");
    let all = backtraces(&text);
    assert!(all.len() == 3 && still_runs, "{text}");
    assert!(all.iter().all(|frames| is_whole(frames)), "{text}");
    assert_eq!((all[1][0], all[2][0]), ("outer", "outer"), "{text}");
}

#[test]
fn breakpoints_of_a_debugger_that_nobody_expected_are_not_copied() {
    let place = place();
    let mut child = running(&place, "none", "3000");
    let process = child.id().to_string();
    let commands = ["break innermost", "break inner", "break outer", "continue"];
    let text = succeed(gdb(&place, &commands).args(["-p", &process]));
    assert!(text.contains("exited normally") && !text.contains("SIGTRAP"), "{text}");
    child.wait().expect("a child");
}

/// As [`place`], but all but `outermost` and `main` in a library, and what it calls back in the
/// program.
fn place_with_library() -> Place {
    let (library, program) = SOURCE
        .split_once("__attribute__((noinline)) static int outermost")
        .expect("the program's last functions");
    let library = library.replace("static int outer", "int outer");
    let library = library.replace("volatile int kept, ends;", "extern volatile int kept;");
    let program = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n\
         volatile int kept, ends; int outer(int);\n\
         static long now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);\n\
         return t.tv_sec * 1000 + t.tv_nsec / 1000000; }}\n\
         __attribute__((noinline)) static int outermost{program}"
    );
    let place = Place::with("library.c", &library);
    fs::write(place.path.join("x.c"), program).expect("writable");
    let args = ["-g", "-O2", "-fPIC", "-shared", "library.c", "-o", "liblower.so"];
    succeed(place.command(szc()).args(args));
    let args = ["-g", "-O2", "x.c", "-L.", "-llower", "-Wl,-rpath,$ORIGIN", "-o", "x"];
    succeed(place.command(szc()).args(args));
    place
}

#[test]
fn breakpoints_in_a_library_from_before_its_start_and_from_later_are_hit() {
    let place = place_with_library();
    let pending = "set breakpoint pending on";
    let first = [pending, "break inner", "run 500", "bt", "continue 3", "bt"];
    let later = ["break main", "run 500", "break innermost", "continue", "bt", "continue 20", "bt"];
    for (commands, stops_in) in [(&first[..], "inner"), (&later, "innermost")] {
        let mut commands = commands.to_vec();
        commands.extend(["finish", "delete", "continue"]);
        let text = to_the_end(gdb(&place, &commands).arg("./x"));
        let all = backtraces(&text);
        assert_eq!(all.len(), 2, "{text}");
        assert!(all.iter().all(|frames| is_whole(frames) && frames[0] == stops_in), "{text}");
        assert!(text.contains("ended") && text.contains("exited normally"), "{text}");
    }
}

#[test]
fn gdb_attaches_while_functions_of_a_library_run() {
    let place = place_with_library();
    let mut child = running(&place, "gdb", "60000");
    let process = child.id().to_string();
    let commands = ["bt", "break outer", "continue", "bt", "detach"];
    let text = succeed(gdb(&place, &commands).args(["-p", &process]));
    child.kill().expect("it runs");
    child.wait().expect("a child");
    let all = backtraces(&text);
    assert!(all.len() == 2 && all.iter().all(|frames| is_whole(frames)), "{text}");
}

#[test]
fn a_core_dump_names_moved_functions() {
    let place = place();
    // Where dumps go is the machine's affair; gdb makes one itself, as the kernel would.
    let commands = ["run 200 aborts", "generate-core-file core.made"];
    let text = succeed(gdb(&place, &commands).arg("./x").env("SZC_SYMBOLS", "gdb"));
    assert!(text.contains("Saved corefile"), "{text}");
    let text = succeed(gdb(&place, &["bt"]).args(["./x", "core.made"]));
    let all = backtraces(&text);
    // gdb shows the innermost frame of a core by itself.
    let last = all.last().expect("a backtrace");
    assert!(is_whole(last) && last.contains(&"outermost"), "{text}");
}

#[test]
fn a_core_dump_of_the_kernel_has_moved_functions_with_names_and_instructions() {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").expect("readable");
    let name = pattern.trim().split('%').next().unwrap_or("");
    if name.is_empty() || name.starts_with(['|', '/']) {
        eprintln!(
            "not checked: this machine's core dumps go to {pattern:?}, not to the program's folder"
        );
        return;
    }
    let place = place();
    let mut shell = place.command("sh");
    shell.args(["-c", "ulimit -c unlimited && exec ./x 200 aborts"]);
    let ending = shell.env("SZC_SYMBOLS", "gdb").env("SZC_INTERVAL_MS", "20").output();
    let ending = ending.expect("a shell").status;
    assert!(ending.core_dumped(), "{ending}; `ulimit -Hc` must allow core dumps");
    let files = fs::read_dir(&place.path).expect("readable").flatten();
    let mut dumps = files.filter(|file| file.file_name().to_string_lossy().starts_with(name));
    let dump = dumps.next().expect("a core dump").path();
    let commands = ["bt", "frame function main", "x/1i $pc"];
    let text = succeed(gdb(&place, &commands).arg("./x").arg(dump));
    let all = backtraces(&text);
    // gdb shows the frame that it goes to, too.
    let whole = all.iter().find(|frames| frames.len() > 4).expect("a backtrace");
    assert!(is_whole(whole) && whole.contains(&"outermost"), "{text}");
    // Behind the call of outermost there is an instruction, not the zeros of memory that was left
    // out.
    let instruction = text.lines().find(|line| line.starts_with("=> ")).expect("an instruction");
    assert!(instruction.contains("<main+") && !instruction.contains("add    %al,(%rax)"), "{text}");
}

#[test]
fn the_map_for_perf_names_every_address_that_runs() {
    let place = Place::with(
        "x.c",
        "#include <stdio.h>\n#include <unistd.h>\n\
         #define NOINLINE __attribute__((noinline))\n\
         NOINLINE static void *here(void) { return ((void **)__builtin_frame_address(0))[1]; }\n\
         NOINLINE static void *there(void) { void *p = here(); usleep(3000); return p; }\n\
         int main(void) {\n\
         for (int i = 0; i < 50; i++) printf(\"%lx\\n\", (unsigned long)there());\n\
         char line[256]; FILE *f = fopen(\"/proc/self/maps\", \"r\");\n\
         while (fgets(line, 256, f)) fputs(line, stdout);\n\
         return 0; }\n",
    );
    succeed(place.command(szc()).args(["-O2", "-fno-inline", "x.c", "-o", "x"]));
    let mut program = place.command(place.path.join("x"));
    program.env("SZC_SYMBOLS", "perf").env("SZC_INTERVAL_MS", "5").stdout(Stdio::piped());
    let child = program.spawn().expect("it was built");
    let map = format!("/tmp/perf-{}.map", child.id());
    let output = child.wait_with_output().expect("a child");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = fs::read_to_string(&map).expect("the map was written");
    fs::remove_file(&map).expect("it is there");

    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let functions: Vec<(u64, u64, &str)> = lines
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((number(words.next()?), number(words.next()?), words.next()?))
        })
        .collect();
    let mut addresses: Vec<u64> = text.lines().take(50).map(number).collect();
    for &address in &addresses {
        let name = functions
            .iter()
            .find(|(start, bytes, _)| (*start..start + bytes).contains(&address))
            .map(|(_, _, name)| *name);
        assert_eq!(name, Some("there"), "{address:x}");
    }
    addresses.dedup();
    assert!(addresses.len() > 5, "{addresses:x?}");
    // perf takes names from the map for memory without a file, and for `/dev/zero`.
    let executable = text.lines().find(|line| line.contains("r-xs")).expect("copies are mapped");
    assert!(executable.contains("/dev/zero"), "{executable}");
}
