//! Runs a program under a setting of the runtime and collects everything it leaves behind.

use crate::directives::Ending;
use crate::records::Log;
use nix::sys::signal::{SigHandler, Signal, signal};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Longer than any test program runs, on a loaded machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// Variables of the runtime; a test sets all that it needs.
const VARIABLES: &[&str] = &[
    "SZC_SEED",
    "SZC_CODE_SEED",
    "SZC_STACK_SEED",
    "SZC_HEAP_SEED",
    "SZC_INTERVAL_MS",
    "SZC_CODE",
    "SZC_CODE_BUDGET_MIB",
    "SZC_CODE_RECLAIM",
    "SZC_STACK",
    "SZC_STACK_ROOM_KIB",
    "SZC_HEAP",
    "SZC_HEAP_SHUFFLE",
    "SZC_HEAP_BASE",
    "SZC_LOG",
    "SZC_MAP",
];

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: String,
    /// How it ended.
    pub ending: Ending,
    /// The log of the process that was started.
    pub log: Option<Log>,
    /// The logs of all processes, in the order of their ends.
    pub logs: Vec<Log>,
}

impl Outcome {
    /// Standard output as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The log of a program that must have ended with exit code 0 and written one.
    ///
    /// # Panics
    /// When it did not.
    #[must_use]
    pub fn log_of_success(&self) -> &Log {
        assert_eq!(self.ending, Ending::Code(0), "{}\n{}", self.text(), self.stderr);
        self.log.as_ref().expect("the program wrote a log")
    }
}

/// Runs an image with these settings; `SZC_LOG` is added.
///
/// # Panics
/// When the image cannot be started or wrote a log that cannot be read.
#[must_use]
pub fn run(image: &Path, settings: &[(&str, &str)], args: &[&str]) -> Outcome {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let log = scratch.path().join("log");
    let mut command = command(image, settings);
    command.env("SZC_LOG", &log).args(args);
    let (ending, pid, stdout, stderr) = finish(&mut command, scratch.path());
    let logs = Log::read_all(&log).unwrap_or_else(|error| panic!("{}: {error}", image.display()));
    let log = logs.iter().find(|log| log.pid == pid).cloned();
    Outcome { stdout, stderr, ending, log, logs }
}

/// A command for an image with exactly these settings of the runtime.
#[must_use]
pub fn command(image: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(image);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.envs(settings.iter().copied());
    // SAFETY: between fork and exec, sigaction(2) is all that happens.
    unsafe { command.pre_exec(with_default_signals) };
    command
}

/// For `pre_exec`: the default actions. A shell starts what runs in its background with SIGINT
/// ignored, nohup with SIGHUP, Python with SIGXFSZ; a test of signals must not depend on that.
///
/// # Errors
/// Those of sigaction(2).
pub fn with_default_signals() -> io::Result<()> {
    for ignored in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGXFSZ] {
        // SAFETY: the default action runs no code of this process.
        unsafe { signal(ignored, SigHandler::SigDfl)? };
    }
    Ok(())
}

/// Runs a command to its end; its output goes through files, so that no pipe can fill up.
fn finish(command: &mut Command, scratch: &Path) -> (Ending, u32, Vec<u8>, String) {
    let file = |name: &str| -> (PathBuf, File) {
        let path = scratch.join(name);
        let file = File::create(&path).expect("writable");
        (path, file)
    };
    let ((stdout_path, stdout), (stderr_path, stderr)) = (file("stdout"), file("stderr"));
    command.current_dir(scratch).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let started = Instant::now();
    let ending = loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            break ending(status);
        }
        if started.elapsed() > PATIENCE {
            child.kill().expect("the child is ours");
            child.wait().expect("the child is ours");
            break Ending::TimedOut;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let stdout = fs::read(stdout_path).expect("written");
    let stderr = String::from_utf8_lossy(&fs::read(stderr_path).expect("written")).into_owned();
    (ending, child.id(), stdout, stderr)
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, signal) => Ending::Signal(signal.unwrap_or(0)),
    }
}
