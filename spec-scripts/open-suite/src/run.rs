//! Runs a command once and says what became of it.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::hash;
use crate::workload::{Prepared, last_lines};

/// How often to look whether a run has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Variables of the runtime that the caller's environment must not bring in.
const VARIABLES: [&str; 2] = ["SZC_SEED", "SZC_INTERVAL_MS"];

/// How programs built by szc run.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Seed of all layouts.
    pub seed: u64,
    /// Time between layouts.
    pub interval_ms: u64,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// SHA-256 of what it wrote to standard output.
    pub stdout: String,
    /// How much that was.
    pub stdout_bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// The runtime's account, if it was built by szc.
    pub log: Option<Log>,
}

/// The parts that matter here of what the runtime writes to `SZC_LOG`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Log {
    /// What was randomized.
    pub randomize: Randomize,
    /// Layouts after the first.
    pub epochs: u64,
    /// Functions that were moved.
    pub relocations: u64,
}

/// `randomize` of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Randomize {
    /// Functions.
    pub code: bool,
    /// Frames.
    pub stack: bool,
    /// Blocks.
    pub heap: bool,
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, does not end with 0, or takes longer than `patience`.
pub fn run(prepared: &Prepared, layout: Option<Layout>, patience: Duration) -> Result<Outcome> {
    let (program, arguments) = prepared.args.split_first().context("an empty command")?;
    let folder = tempfile::tempdir().context("cannot make a folder to run in")?;
    let log = folder.path().join("szc-log.json");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path()).env("LC_ALL", "C").env("SZC_LOG", &log);
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    if let Some(Layout { seed, interval_ms }) = layout {
        command.env("SZC_SEED", seed.to_string()).env("SZC_INTERVAL_MS", interval_ms.to_string());
    }
    let stdin = match &prepared.stdin {
        Some(file) => {
            File::open(file).with_context(|| format!("cannot open {}", file.display()))?.into()
        }
        None => Stdio::null(),
    };
    let started = Instant::now();
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let stdout = child.stdout.take().context("no standard output")?;
    let mut stderr = child.stderr.take().context("no standard error")?;
    let output = thread::spawn(move || hash::of_reader(stdout));
    let errors = thread::spawn(move || {
        let mut said = Vec::new();
        // Whatever can be read of it is better than nothing.
        let _ = stderr.read_to_end(&mut said);
        said
    });
    let ended = wait(&mut child, started, patience)?;
    let seconds = started.elapsed().as_secs_f64();
    let said = errors.join().unwrap_or_default();
    if !ended.success() {
        let end = last_lines(&String::from_utf8_lossy(&said), 2);
        bail!("{}{}{end}", ending(ended), if end.is_empty() { "" } else { ": " });
    }
    let (stdout, stdout_bytes) =
        output.join().ok().context("cannot hash output")?.context("cannot read output")?;
    let text = std::fs::read_to_string(&log).ok();
    // Only the first process: those it starts add lines of their own.
    let line = text.as_deref().and_then(|text| text.lines().next());
    let log = line.map(serde_json::from_str).transpose().context("a log that cannot be read")?;
    Ok(Outcome { stdout, stdout_bytes, seconds, log })
}

fn wait(child: &mut Child, started: Instant, patience: Duration) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a program")? {
            return Ok(status);
        }
        if started.elapsed() > patience {
            // It may have ended meanwhile, which comes to the same.
            let _ = child.kill();
            child.wait().context("cannot wait for a program")?;
            bail!("took longer than {} s", patience.as_secs());
        }
        thread::sleep(LOOK);
    }
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Prepared {
        Prepared { args: ["sh", "-c", script].map(str::to_owned).to_vec(), stdin: None }
    }

    #[test]
    fn output_is_hashed_and_endings_are_told_apart() {
        let outcome = run(&shell("printf abc"), None, Duration::from_secs(60)).unwrap();
        assert_eq!(
            outcome.stdout,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(outcome.log, None);
        for (script, message) in
            [("echo no >&2; exit 3", "exit code 3: no"), ("kill -9 $$", "ended by signal 9")]
        {
            let error = run(&shell(script), None, Duration::from_secs(60)).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn a_run_that_never_ends_is_ended() {
        let endless = Prepared { args: vec!["sleep".into(), "1000".into()], stdin: None };
        let error = run(&endless, None, Duration::from_millis(100)).unwrap_err();
        assert!(error.to_string().contains("took longer"), "{error}");
    }
}
