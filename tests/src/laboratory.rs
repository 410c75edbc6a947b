//! The measuring subcommands, run as a user runs them.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::tools::{Place, szc};

/// A subcommand of szc in a place, whose baselines stay there; builds beside it, since it is copied
/// for them.
#[must_use]
pub fn laboratory(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(szc());
    command
        .args(args)
        .env("XDG_DATA_HOME", place.path.join("data"))
        .env("XDG_CACHE_HOME", place.path.with_file_name("cache"));
    command
}

/// Runs a subcommand to its end.
#[must_use]
pub fn run(place: &Place, args: &[&str]) -> Output {
    laboratory(place, args).output().expect("szc starts")
}

/// Starts a subcommand, sends SIGINT once `ready` says so, and waits for the end.
#[must_use]
pub fn interrupted(place: &Place, args: &[&str], ready: impl Fn() -> bool) -> Output {
    let mut command = laboratory(place, args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("szc starts");
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing happened");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
    kill(pid, Signal::SIGINT).expect("it still runs");
    child.wait_with_output().expect("it ends")
}

/// Processes whose program and arguments begin so, with a zero between them.
#[must_use]
pub fn running(command: &[u8]) -> usize {
    let entries = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let lines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")));
    lines.flatten().filter(|line| line.starts_with(command)).count()
}

/// Whether something comes true within a minute.
#[must_use]
pub fn soon(is_true: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_true() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    is_true()
}

/// The exit code.
#[must_use]
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {output:?}"))
}

/// What was written to stderr.
#[must_use]
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was written to stdout.
#[must_use]
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A samples file.
#[must_use]
pub fn samples(place: &Place, name: &str) -> Value {
    let text = std::fs::read(place.path.join(name)).expect("the samples were saved");
    serde_json::from_slice(&text).expect("JSON")
}

/// What was run, without what it cost.
#[must_use]
pub fn plan(file: &Value) -> Vec<[Value; 4]> {
    let runs = file["runs"].as_array().expect("runs").iter();
    runs.map(|run| ["block", "position", "program", "seed"].map(|name| run[name].clone())).collect()
}
