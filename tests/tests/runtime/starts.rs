//! Programs that are started in unusual ways, from damaged files, or by an emulator.

use super::{worker, worker_output};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use szc_tests::build::{build, moving};
use szc_tests::directives::{Ending, Program};
use szc_tests::records::Log;
use szc_tests::run::{command, run};

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
    for (args, keeps) in [
        ("strip", true),
        ("llvm-strip-22", true),
        ("llvm-strip-22 --strip-sections", false),
        ("llvm-objcopy-22 --strip-non-alloc", false),
    ] {
        std::fs::write(&image, &whole).expect("writable");
        let mut args = args.split(' ');
        let stripper = args.next().expect("a name");
        let status = Command::new(stripper).args(args).arg(&image).status().expect("it starts");
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
        "copy=$(mktemp) && cp \"$0\" \"$copy\" && chmod 111 \"$copy\" && \"$copy\"; code=$?\n\
         rm \"$copy\"; exit $code",
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
