//! What happens where the runtime contradicts itself: one line, and the signal of abort(3).

use super::source;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use szc_tests::build::moving;
use szc_tests::run::command;

/// `SIGABRT`.
const ABORT: i32 = 6;

#[test]
fn an_internal_error_aborts_with_one_line_that_says_where_and_in_which_run() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source("lost_call.c"), &["-O2"], place.path());
    for arguments in [&[][..], &["ignored"]] {
        let output = command(&image, &[("SZC_SEED", "4711"), ("SZC_INTERVAL_MS", "0")])
            .args(arguments)
            .current_dir(place.path())
            .output()
            .expect("the program starts");
        assert_eq!(output.status.signal(), Some(ABORT), "{arguments:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "before\n");
        let message = String::from_utf8_lossy(&output.stderr);
        let [line] = message.lines().collect::<Vec<_>>()[..] else { panic!("{message}") };
        for part in ["internal error", "runtime/src/resolver.rs:", "seed 4711", "epoch 0"] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}

#[test]
fn an_internal_error_leaves_a_core_dump_where_the_kernel_writes_one() {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").expect("readable");
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source("lost_call.c"), &["-O2"], place.path());
    let status = |blocks: &str| {
        let script = format!("ulimit -c {blocks} && exec \"$0\" ignored");
        Command::new("/bin/sh")
            .args(["-c", &script])
            .arg(&image)
            .env("SZC_INTERVAL_MS", "0")
            .current_dir(place.path())
            .output()
            .expect("the shell starts")
            .status
    };
    assert!(!status("0").core_dumped());
    // A program of the system's may take dumps, or they may go elsewhere.
    let is_here = !pattern.starts_with(['|', '@', '/']) && !pattern.trim().is_empty();
    if is_here && Path::new("/proc/self/coredump_filter").exists() {
        assert!(status("unlimited").core_dumped(), "{pattern}");
    }
}
