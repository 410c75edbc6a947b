//! What the runtime writes: the log, and the map of copies.

use super::{started, worker};
use std::collections::HashSet;
use std::process::Command;
use std::time::Instant;
use szc_tests::records::{Log, read_map};
use szc_tests::run::{command, run};

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
fn the_log_tells_what_was_set_and_what_happened() {
    let begin = Instant::now();
    let outcome =
        run(worker(), &[("SZC_SEED", "18446744073709551615"), ("SZC_INTERVAL_MS", "2")], &["60"]);
    let intervals = begin.elapsed().as_millis() / 2;
    let log = outcome.log_of_success();
    assert_eq!((log.abi, log.seed, log.interval_ms), (szc_abi::ABI_VERSION, u64::MAX, 2));
    assert!(log.randomize.code && log.randomize.stack);
    assert_eq!(log.functions.total, log.functions.movable + log.functions.pinned);
    assert!(log.functions.movable >= 9, "{log:?}");
    assert!((5..=intervals).contains(&u128::from(log.epochs)), "{intervals} intervals: {log:?}");
    assert!(log.relocations > 9 && log.code_bytes_live > 0 && log.code_bytes_retained > 0);
    assert!(!log.exhausted && log.code_refused.is_none());
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
