//! The runtime beside a program: its settings, its log, its memory, what it does when it cannot
//! work. What a program itself can see is tested by the programs below `programs/invisible`.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use szc_tests::build::{build, moving, plain};
use szc_tests::directives::{Ending, Program};
use szc_tests::records::{Log, read_map};
use szc_tests::run::{command, run};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/runtime").join(name)
}

/// The worker, built once for all tests.
fn worker() -> &'static Path {
    static WORKER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, image) = WORKER.get_or_init(|| {
        let place = tempfile::tempdir().expect("a temporary directory");
        let image = moving(&source("worker.c"), &["-O2"], place.path());
        (place, image)
    });
    image
}

fn worker_output() -> Vec<u8> {
    run(worker(), &[("SZC_CODE", "0")], &[]).stdout
}

/// Starts a worker that first says "ready" and then lives for a while.
fn started(settings: &[(&str, &str)], log: &Path) -> Child {
    let mut child = command(worker(), settings)
        .env("SZC_LOG", log)
        .args(["20000", "sleep"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut ready = [0; 5];
    child.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it says so");
    child
}

#[test]
fn no_page_is_ever_writable_and_executable() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut child = started(&[("SZC_INTERVAL_MS", "1")], &place.path().join("log"));
    let mut both_views = false;
    for _ in 0..60 {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("alive");
        for line in maps.lines() {
            let rights = line.split_whitespace().nth(1).expect("rights");
            assert!(!(rights.contains('w') && rights.contains('x')), "{line}");
        }
        let views =
            |rights| maps.lines().any(|line| line.contains("szc code") && line.contains(rights));
        both_views |= views(" r-xs ") && views(" rw-s ");
        let text_is_mapped_from_file = maps
            .lines()
            .any(|line| line.contains(" r-xp ") && line.ends_with(&worker().display().to_string()));
        assert!(text_is_mapped_from_file, "{maps}");
        std::thread::sleep(Duration::from_millis(3));
    }
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    assert!(both_views, "the copies of code were not found");
}

#[test]
fn a_malformed_setting_stops_the_program_before_it_runs() {
    for (name, value) in [
        ("SZC_SEED", ""),
        ("SZC_SEED", "-1"),
        ("SZC_SEED", "0x10"),
        ("SZC_SEED", "18446744073709551616"),
        ("SZC_SEED", " 1"),
        ("SZC_INTERVAL_MS", "fast"),
        ("SZC_INTERVAL_MS", "1.5"),
        ("SZC_ONCE", "yes"),
        ("SZC_CODE", "2"),
        ("SZC_CODE_BUDGET_MIB", "0"),
        ("SZC_CODE_BUDGET_MIB", "1025"),
        ("SZC_CODE_RECLAIM", "yes"),
        ("SZC_STACK_ROOM_KIB", "64k"),
        ("SZC_STACK_ROOM_KIB", "65537"),
        ("SZC_MAP", ""),
    ] {
        let outcome = run(worker(), &[(name, value)], &[]);
        assert_eq!(outcome.ending, Ending::Code(78), "{name}={value}");
        assert_eq!(outcome.text(), "", "{name}={value}");
        let found = format!("{name}={value}");
        assert!(outcome.stderr.contains(&found), "{found}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("needed is"), "{found}: {}", outcome.stderr);
    }
}

#[test]
fn a_log_or_map_that_cannot_be_written_stops_the_program_before_it_runs() {
    for name in ["SZC_LOG", "SZC_MAP"] {
        for path in ["/no/such/directory/log", "/proc/self/no-log", "/"] {
            let output = command(worker(), &[(name, path)]).output().expect("the program starts");
            assert_eq!(output.status.code(), Some(78), "{name}={path}");
            assert!(output.stdout.is_empty(), "{name}={path}");
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(message.contains(path) && message.contains(name), "{message}");
        }
    }
}

#[test]
fn names_that_the_runtime_does_not_know_are_left_alone() {
    let outcome = run(worker(), &[("SZC_UNKNOWN", "?"), ("SZCX", "1")], &[]);
    assert_eq!(outcome.log_of_success().interval_ms, 500);
}

#[test]
fn the_log_tells_what_was_set_and_what_happened() {
    let outcome =
        run(worker(), &[("SZC_SEED", "18446744073709551615"), ("SZC_INTERVAL_MS", "2")], &["60"]);
    let log = outcome.log_of_success();
    assert_eq!((log.abi, log.seed, log.interval_ms), (szc_abi::ABI_VERSION, u64::MAX, 2));
    assert!(log.randomize.code && log.randomize.stack);
    assert_eq!(log.functions.total, log.functions.movable + log.functions.pinned);
    assert!(log.functions.movable >= 9, "{log:?}");
    assert!((5..=31).contains(&log.epochs), "{log:?}");
    assert!(log.relocations > 9 && log.code_bytes_live > 0 && log.code_bytes_retained > 0);
    assert!(!log.exhausted && log.code_refused.is_none());
}

#[test]
fn one_layout_for_the_whole_run_means_no_epochs() {
    for setting in [("SZC_ONCE", "1"), ("SZC_INTERVAL_MS", "0")] {
        let outcome = run(worker(), &[setting], &[]);
        let log = outcome.log_of_success();
        assert_eq!(
            (log.interval_ms, log.epochs, log.code_bytes_retained),
            (0, 0, 0),
            "{setting:?}"
        );
        assert!(log.relocations >= 9, "{log:?}");
    }
}

#[test]
fn code_randomization_can_be_switched_off() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let expected = run(&plain(&source("worker.c"), &["-O2"], place.path()), &[], &[]);
    for stack in ["0", "1"] {
        let outcome = run(worker(), &[("SZC_CODE", "0"), ("SZC_STACK", stack)], &[]);
        let log = outcome.log_of_success();
        assert!(!log.randomize.code && log.code_refused.is_none(), "{log:?}");
        // Pads come with copies, which lie in the order of the link.
        assert_eq!(log.relocations > 0, stack == "1", "{log:?}");
        assert_eq!(outcome.stdout, expected.stdout);
    }
}

#[test]
fn without_a_seed_every_run_has_its_own() {
    let seeds: HashSet<u64> =
        (0..4).map(|_| run(worker(), &[], &["1"]).log_of_success().seed).collect();
    assert_eq!(seeds.len(), 4);
}

#[test]
fn a_spent_budget_ends_re_randomization_and_not_the_program() {
    let settings =
        [("SZC_INTERVAL_MS", "1"), ("SZC_CODE_BUDGET_MIB", "1"), ("SZC_CODE_RECLAIM", "0")];
    let outcome = run(worker(), &settings, &["150"]);
    let log = outcome.log_of_success();
    assert!(log.exhausted && log.randomize.code && log.epochs > 0, "{log:?}");
    assert!(log.code_bytes_live + log.code_bytes_retained <= 1 << 20, "{log:?}");
    assert_eq!(outcome.stdout, worker_output());
}

#[test]
fn the_process_number_can_stand_in_the_name_of_the_log() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let pattern = place.path().join("a-%p-%p.json");
    let mut child = command(worker(), &[]).env("SZC_LOG", pattern).spawn().expect("starts");
    assert!(child.wait().expect("the child is ours").success());
    let name = place.path().join(format!("a-{0}-{0}.json", child.id()));
    assert_eq!(Log::read_all(&name).expect("sound")[0].pid, child.id());
}

#[test]
fn the_log_is_where_the_program_started_even_if_it_goes_elsewhere() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let status = command(worker(), &[("SZC_LOG", "log"), ("SZC_MAP", "map")])
        .current_dir(place.path())
        .args(["5", "chdir"])
        .status()
        .expect("the program starts");
    assert!(status.success());
    assert_eq!(Log::read_all(&place.path().join("log")).expect("sound").len(), 1);
    assert!(!read_map(&place.path().join("map")).is_empty());
}

#[test]
fn a_program_that_is_terminated_from_outside_writes_its_log() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("USR1", 10), ("SEGV", 11)] {
        let place = tempfile::tempdir().expect("a temporary directory");
        let log = place.path().join("log");
        let mut child = started(&[("SZC_INTERVAL_MS", "1")], &log);
        let sent =
            Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
        assert!(sent.expect("kill starts").success());
        let status = child.wait().expect("the child is ours");
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(number),
            "{signal}"
        );
        let logs = Log::read_all(&log).expect("sound");
        assert_eq!(logs.len(), 1, "{signal}");
        assert!(logs[0].relocations > 0, "{signal}: {:?}", logs[0]);
    }
}

#[test]
fn the_map_lists_every_copy_once_and_copies_do_not_overlap() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let map = place.path().join("map");
    let map_text = map.display().to_string();
    let settings = [("SZC_INTERVAL_MS", "1"), ("SZC_MAP", map_text.as_str())];
    let outcome = run(worker(), &settings, &["60"]);
    let log = outcome.log_of_success();
    let mut copies = read_map(&map);
    assert_eq!(copies.len() as u64, log.relocations, "{log:?}");
    copies.sort_by_key(|copy| copy.address);
    for pair in copies.windows(2) {
        assert!(pair[0].address + pair[0].bytes <= pair[1].address, "{pair:?}");
    }
    assert!(copies.iter().all(|copy| copy.address % 16 == 0 && copy.epoch <= log.epochs));
    let names: HashSet<&str> = copies.iter().map(|copy| copy.name.as_str()).collect();
    for name in ["main", "f1", "f8"] {
        assert!(names.contains(name), "{name} is missing in {names:?}");
    }
}

/// Runs the worker by words of the shell, where `$0` is its path; standard output and log.
fn by_shell(script: &str) -> (Vec<u8>, Vec<Log>) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let log = place.path().join("log");
    let output = command(Path::new("/bin/sh"), &[("SZC_INTERVAL_MS", "1")])
        .env("SZC_LOG", &log)
        .arg("-c")
        .arg(script)
        .arg(worker())
        .output()
        .expect("the shell starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {}\n{message}", output.status);
    (output.stdout, Log::read_all(&log).expect("sound"))
}

#[test]
fn under_the_loader_by_name_the_program_runs_as_ever_and_the_log_says_why_code_stays() {
    // The loader is the program that the kernel knows of.
    let (stdout, logs) = by_shell("/lib64/ld-linux-x86-64.so.2 \"$0\"");
    assert_eq!(stdout, worker_output());
    let [log] = &logs[..] else { panic!("{logs:?}") };
    assert!(!log.randomize.code && log.relocations == 0, "{log:?}");
    assert!(log.code_refused.as_ref().is_some_and(|reason| !reason.is_empty()), "{log:?}");
}

#[test]
fn where_address_space_is_limited_the_program_runs_as_ever_and_the_log_says_what_does_not_move() {
    let mut reasons = HashSet::new();
    for kib in (6_000..20_000).step_by(500) {
        let script = format!("ulimit -v {kib}; \"$0\"");
        let (stdout, logs) = by_shell(&script);
        assert_eq!(stdout, worker_output(), "{script}");
        let [log] = &logs[..] else { panic!("{script}: {logs:?}") };
        assert_eq!(log.randomize.code, log.code_refused.is_none(), "{script}: {log:?}");
        reasons.extend(log.code_refused.clone());
    }
    assert!(!reasons.is_empty(), "there is no limit at which copies have no room");
}

/// Where the worker's file has its table.
fn table_of(image: &[u8]) -> std::ops::Range<usize> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(image).expect("an image");
    let section = file.section_by_name(szc_abi::TABLE_SECTION).expect("a table");
    let (start, length) = section.file_range().expect("in the file");
    let at = |place| usize::try_from(place).expect("an address");
    at(start)..at(start + length)
}

/// Runs a copy of the worker; why its code stays.
fn refusal(place: &Path, image: &[u8]) -> Option<String> {
    let copy = place.join("copy");
    // Not the same file: it may still be open for writing in a child that another test forks.
    let _ = std::fs::remove_file(&copy);
    std::fs::copy(worker(), &copy).expect("writable");
    std::fs::write(&copy, image).expect("writable");
    let outcome = run(&copy, &[("SZC_INTERVAL_MS", "1")], &[]);
    assert_eq!(outcome.stdout, worker_output());
    let log = outcome.log_of_success();
    assert_eq!(log.randomize.code, log.code_refused.is_none(), "{log:?}");
    log.code_refused.clone()
}

#[test]
fn a_table_of_which_any_byte_was_changed_is_refused() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let whole = std::fs::read(worker()).expect("readable");
    assert_eq!(refusal(place.path(), &whole), None);
    let table = table_of(&whole);
    let mut damaged: Vec<_> =
        table.clone().step_by(table.len() / 24).map(|at| at..at + 1).collect();
    damaged.push(table.start + table.len() / 2..table.end);
    for range in damaged {
        let mut image = whole.clone();
        image[range.clone()].iter_mut().for_each(|byte| *byte ^= 4);
        let reason = refusal(place.path(), &image);
        assert_eq!(reason.as_deref(), Some("the relocation table cannot be read"), "{range:?}");
    }
}

#[test]
fn a_stripped_program_moves_or_says_why_not() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let (image, whole) = (place.path().join("worker"), std::fs::read(worker()).expect("readable"));
    for (words, keeps) in [
        ("strip", true),
        ("llvm-strip-22", true),
        ("llvm-strip-22 --strip-sections", false),
        ("llvm-objcopy-22 --strip-non-alloc", false),
    ] {
        std::fs::write(&image, &whole).expect("writable");
        let mut words = words.split(' ');
        let stripper = words.next().expect("a name");
        let status = Command::new(stripper).args(words).arg(&image).status().expect("it starts");
        assert!(status.success(), "{stripper}: {status}");
        let reason = refusal(place.path(), &std::fs::read(&image).expect("readable"));
        assert_eq!(reason.is_none(), keeps, "{stripper}: {reason:?}");
    }
}

#[test]
fn a_program_started_in_unusual_ways_is_randomized_all_the_same() {
    for script in [
        "exec \"$0\" <&- 2>&-",
        "ulimit -v 60000; \"$0\"",
        "ulimit -f 1000; \"$0\"",
        "ulimit -n 4; \"$0\"",
        "copy=$(mktemp -d) && ln -s \"$0\" \"$copy/link\" && \"$copy/link\"",
        "copy=$(mktemp) && cp \"$0\" \"$copy\" && chmod 111 \"$copy\" && \"$copy\"; code=$?; rm \"$copy\"; exit $code",
        "env -i SZC_LOG=\"$SZC_LOG\" SZC_INTERVAL_MS=1 \"$0\"",
        "trap '' TRAP; \"$0\"",
        "ulimit -s 256; \"$0\"",
        "setarch -R \"$0\"",
    ] {
        let (stdout, logs) = by_shell(script);
        assert_eq!(stdout, worker_output(), "{script}");
        let log = logs.last().expect("a log");
        assert!(log.randomize.code && log.epochs > 2, "{script}: {log:?}");
    }
}

/// An emulator learns of changes of code by the mapping that it has executed from alone.
#[test]
fn where_changes_of_code_are_not_seen_the_program_runs_as_ever_and_the_log_says_so() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    for name in [
        "calls/recursion.c",
        "calls/tail_calls.c",
        "exceptions/frames.cpp",
        "heap/semantics.c",
        "threads/together.c",
    ] {
        let program = Program::read(&programs.join(name)).expect("sound").expect("directives");
        for variant in &program.variants[..program.variants.len().min(2)] {
            let place = tempfile::tempdir().expect("a temporary directory");
            let builds =
                build(&program, variant, &[], place.path()).unwrap_or_else(|e| panic!("{e}"));
            let plain = run(&builds.plain, &[], &[]);
            let image = builds.moving.display().to_string();
            let emulator = Path::new("qemu-x86_64-static");
            let outcome = run(emulator, &[("SZC_INTERVAL_MS", "1")], &[&image]);
            let log = outcome.log_of_success();
            assert_eq!(outcome.text(), plain.text(), "{name} {}", variant.text);
            let heap = log.randomize.heap || log.heap_refused.is_some();
            assert!(!log.randomize.code && heap, "{name}: {log:?}");
            let reason = log.code_refused.as_deref().unwrap_or_default();
            assert!(reason.contains("emulator"), "{name}: {log:?}");
        }
    }
}

#[test]
fn an_abort_under_an_emulator_ends_the_program_by_its_signal_and_leaves_a_log() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let source = place.path().join("aborts.c");
    std::fs::write(&source, "#include <stdlib.h>\nint main(void) { abort(); }\n").expect("room");
    let image = moving(&source, &["-O2"], place.path()).display().to_string();
    let outcome = run(Path::new("qemu-x86_64-static"), &[], &[&image]);
    assert_eq!(outcome.ending, Ending::Signal(6), "{}", outcome.stderr);
    assert!(outcome.log.is_some_and(|log| !log.randomize.code), "{}", outcome.stderr);
}
