//! `by-turns`, on which what `tests/campaign` says of CPU times relies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// Leaves a command that the shell runs.
fn command(folder: &Path, name: &str, script: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, format!("sh\n-c\n{script}\n")).unwrap();
    file
}

fn by_turns(commands: &[PathBuf]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_by-turns"))
        .args(["--turn", "3ms"])
        .args(commands)
        .output()
        .unwrap()
}

#[test]
fn each_has_its_cpu_time_and_only_one_runs_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let burn = |n| format!("i=0; while [ $i -lt {n} ]; do i=$((i + 1)); done");
    let commands = [
        command(folder.path(), "nothing", "exit 0"),
        command(folder.path(), "much", &burn(600_000)),
        command(folder.path(), "half", &burn(300_000)),
    ];
    let start = Instant::now();
    let output = by_turns(&commands);
    let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let ms: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let [nothing, much, half] = ms[..] else { panic!("{text}") };
    assert!(nothing < half && half < much, "{text}");
    // Side by side on two processors they would take no longer than the longest. A tenth: who is
    // stopped may run on while the signal is on its way.
    assert!(elapsed_ms > 0.9 * (much + half), "{elapsed_ms} ms for {text}");
}

#[test]
fn a_command_that_fails_is_named_with_what_it_said_and_ends_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("left");
    let commands = [
        command(folder.path(), "fails", "echo first >&2; echo no luck >&2; exit 3"),
        command(folder.path(), "waits", &format!("sleep 1; touch {}", left.display())),
    ];
    let output = by_turns(&commands);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(said.contains("fails") && said.contains("no luck") && said.contains('3'), "{said}");
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert!(!left.exists(), "it ran on");
}

#[test]
fn a_file_without_a_command_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    let said = String::from_utf8(by_turns(&[empty]).stderr).unwrap();
    assert!(said.contains("one word a line"), "{said}");
}
