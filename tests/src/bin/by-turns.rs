//! Runs commands by turns: all of them are under way at once, one at a time runs for some
//! milliseconds while the others are stopped. So what a shared machine's neighbours do for seconds
//! happens to all of them alike, and the ratio of their CPU times is known ten times better than
//! from runs one after the other.
//!
//! Time that passes while a command is stopped passes for its clocks: with n commands an interval
//! of the runtime (`SZC_INTERVAL_MS`) has to be n times as long to come as often in CPU time.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeValLike;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use szc_stats::random::Draws;

/// Runs commands by turns and writes the CPU time of each (user and system, in ms), one a line.
#[derive(Parser)]
#[command(name = "by-turns")]
struct Options {
    /// How long a turn is, in milliseconds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    turn: u64,
    /// What the order within each round follows from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Commands: files with one word a line. What a command says on standard error is left beside
    /// its file, in FILE.stderr
    #[arg(required = true)]
    commands: Vec<PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut draws = Draws::new(options.seed);
    let mut runs: Vec<Run> = options
        .commands
        .iter()
        .map(|file| Run { file: file.clone(), state: State::Waiting })
        .collect();
    let mut left: Vec<usize> = (0..runs.len()).collect();
    while !left.is_empty() {
        // Not a fixed order, in which each command would follow the same other, whose data the
        // caches hold.
        draws.shuffle(&mut left);
        for &index in &left {
            runs[index].take_turn(Duration::from_millis(options.turn))?;
        }
        left.retain(|&index| !matches!(runs[index].state, State::Ended { .. }));
    }
    for run in &runs {
        if let State::Ended { cpu_ms } = run.state {
            println!("{cpu_ms}");
        }
    }
    Ok(())
}

/// A command, and how far it is. Its process leads a group, so that what it starts stops with it.
struct Run {
    file: PathBuf,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// It starts with its first turn.
    Waiting,
    /// It runs, or is stopped until its next turn.
    Started(Pid),
    /// It ended.
    Ended { cpu_ms: i64 },
}

impl Run {
    /// Lets the command run for a turn.
    fn take_turn(&mut self, turn: Duration) -> Result<()> {
        let leader = match self.state {
            State::Waiting => start(&self.file)?,
            State::Started(leader) => {
                killpg(leader, Signal::SIGCONT)?;
                leader
            }
            State::Ended { .. } => return Ok(()),
        };
        // From here on `drop` ends it if anything fails.
        self.state = State::Started(leader);
        sleep(turn);
        let before = children_ms()?;
        match waitpid(leader, Some(WaitPidFlag::WNOHANG))? {
            // If it ends just now, it is a process still, until it is waited for at its next turn.
            WaitStatus::StillAlive => Ok(killpg(leader, Signal::SIGSTOP)?),
            status => {
                self.state = State::Ended { cpu_ms: children_ms()? - before };
                let said = said_by(&self.file);
                ensure!(
                    status == WaitStatus::Exited(leader, 0),
                    "{}: {status:?}; it said: {}",
                    self.file.display(),
                    last_line(&said)
                );
                Ok(())
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let State::Started(leader) = self.state {
            // Nothing can be done about a group that is gone.
            let _ = killpg(leader, Signal::SIGKILL);
        }
    }
}

/// Starts the command of a file as the leader of a process group.
fn start(file: &Path) -> Result<Pid> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let args: Vec<&str> = text.lines().collect();
    ensure!(!args.is_empty(), "{}: no command; a file has one word a line", file.display());
    let said = said_by(file);
    let stderr = File::create(&said).with_context(|| format!("cannot write {}", said.display()))?;
    let child = Command::new(args[0])
        .args(&args[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .process_group(0)
        .spawn()
        .with_context(|| format!("{}: cannot run {}", file.display(), args[0]))?;
    Ok(Pid::from_raw(i32::try_from(child.id())?))
}

/// Where the command of a file leaves what it says on standard error.
fn said_by(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".stderr");
    name.into()
}

/// CPU time of all processes that have been waited for, in ms.
fn children_ms() -> Result<i64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time() + usage.system_time()).num_milliseconds())
}

/// The last line of a file, for a message.
fn last_line(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default().lines().last().unwrap_or("nothing").to_owned()
}
