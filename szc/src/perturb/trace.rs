//! One run, traced: metrics at equal intervals from its first instruction to its end.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use szc_sampler::maps::family;
use szc_sampler::spawn::Held;

use super::image;
use super::metric::Outside;
use super::outside::Reader;
use super::probe::{Attached, Probe, preload};
use crate::measure::child::cpu_ns_of_children;
use crate::measure::stop::Stop;

/// How often the program is looked for that a tool starts.
const LOOK: Duration = Duration::from_millis(1);

/// The longest wait for the CPU time of a program: then a look whether it has ended.
const PATIENCE: Duration = Duration::from_millis(50);

/// The shortest sleep: to wait for CPU time more closely would take it from others.
const NAP: Duration = Duration::from_micros(200);

/// The end of what a program complained that is shown.
const COMPLAINT_BYTES: u64 = 2000;

/// What to run, and what to trace of it.
pub(super) struct Plan<'a> {
    /// Program and arguments, behind a tool's if there is one.
    pub(super) argv: &'a [String],
    /// Variables over those of szc.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// The program's file, if a tool starts it.
    pub(super) started_by_tool: Option<&'a Path>,
    /// What an interval is of.
    pub(super) clock: Clock,
    /// Time between two records.
    pub(super) interval: Duration,
    /// What is read from outside.
    pub(super) outside: &'a [Outside],
    /// What is put inside.
    pub(super) probes: &'a [&'a Probe],
}

/// What an interval is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Clock {
    /// Wall time
    Wall,
    /// CPU time of the program
    Cpu,
}

/// A run that was traced.
#[derive(Clone, Debug, Default)]
pub(super) struct Traced {
    /// Of each metric, outside ones first, what it did in each interval.
    pub(super) signals: Vec<Vec<f64>>,
    /// Intervals that were longer than half as much again.
    pub(super) late: usize,
    /// How long it ran, to the accuracy of an interval.
    pub(super) wall_ns: u64,
    /// CPU time of all that was started.
    pub(super) cpu_ns: u64,
    /// The file that the traced process executed last.
    pub(super) executable: Option<PathBuf>,
    /// Its C library, if it had one.
    pub(super) c_library: Option<PathBuf>,
}

/// How a run came out.
pub(super) enum Outcome {
    /// It returned 0.
    Traced(Traced),
    /// It failed: how, and what it said.
    Failed(String),
    /// Somebody asked to stop.
    Stopped,
}

/// Carries it out.
pub(super) fn run(plan: &Plan<'_>, stop: &Stop) -> Result<Outcome> {
    let Some((program, arguments)) = plan.argv.split_first() else {
        return Err(anyhow!("an empty command"));
    };
    let mut complaints = tempfile::tempfile().context("no file for stderr")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(plan.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaints.try_clone().context("no file for stderr")?);
    if let Some(libraries) = preload(plan.probes.iter().filter_map(|probe| probe.preloads())) {
        command.env("LD_PRELOAD", libraries);
    }
    let cpu_before = cpu_ns_of_children().unwrap_or(0);
    let held = Held::start(&mut command).with_context(|| format!("cannot run {program}"))?;
    let process = Pid::from_raw(held.pid().cast_signed());
    let mut reaped = None;
    let traced = follow(plan, held, stop, &mut reaped);
    if reaped.is_none() {
        // It is ours and not reaped: the id is still its own.
        let _ = kill(process, Signal::SIGKILL);
        let _ = waitpid(process, None);
    }
    let traced = traced?;
    if stop.signal().is_some() {
        return Ok(Outcome::Stopped);
    }
    let mut traced = match (traced, reaped) {
        (Some(traced), Some(status)) if status.success() => traced,
        (_, status) => return failed(status, &mut complaints).map(Outcome::Failed),
    };
    traced.cpu_ns = cpu_ns_of_children().unwrap_or(0).saturating_sub(cpu_before);
    Ok(Outcome::Traced(traced))
}

fn failed(status: Option<ExitStatus>, complaints: &mut fs::File) -> Result<String> {
    let length = complaints.metadata().map_or(0, |metadata| metadata.len());
    complaints
        .seek(SeekFrom::Start(length.saturating_sub(COMPLAINT_BYTES)))
        .context("cannot read stderr")?;
    let mut tail = Vec::new();
    complaints.read_to_end(&mut tail).context("cannot read stderr")?;
    let how = match status {
        Some(status) if status.success() => {
            "the tool ended, and no process of it executed the program itself".to_owned()
        }
        Some(status) => format!("{status}"),
        None => "it was killed".to_owned(),
    };
    Ok(format!("{how}\n{}", String::from_utf8_lossy(&tail).trim_end()).trim_end().to_owned())
}

/// From the first instruction to the end. Nothing if there was no program to trace.
fn follow(
    plan: &Plan<'_>,
    held: Held,
    stop: &Stop,
    reaped: &mut Option<ExitStatus>,
) -> Result<Option<Traced>> {
    let pid = held.pid();
    let process = Pid::from_raw(pid.cast_signed());
    let mut probes = Vec::new();
    for probe in plan.probes {
        probes.push(probe.attach(pid)?);
    }
    held.release().context("the program is gone")?;
    let started = Instant::now();
    let mut has_ended = || -> Result<bool> {
        *reaped = ended(process)?;
        Ok(reaped.is_some())
    };
    let traced_pid = match plan.started_by_tool {
        None => pid,
        Some(executable) => loop {
            if let Some(found) = descendant_that_executes(pid, executable) {
                break found;
            }
            if has_ended()? || stop.signal().is_some() {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        },
    };
    let mut recorder = Recorder::begin(traced_pid, plan, probes)?;
    loop {
        let goes_on = !recorder.wait() || recorder.record()?;
        if has_ended()? {
            break;
        }
        if stop.signal().is_some() {
            return Ok(None);
        }
        if !goes_on {
            // What is left is the end of the process, or of the tool.
            std::thread::sleep(LOOK);
        }
    }
    let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(Some(Traced { wall_ns, ..recorder.traced }))
}

fn ended(process: Pid) -> Result<Option<ExitStatus>> {
    match waitpid(process, Some(WaitPidFlag::WNOHANG)).context("cannot wait for the program")? {
        WaitStatus::Exited(_, code) => Ok(Some(ExitStatus::from_raw(code << 8))),
        WaitStatus::Signaled(_, signal, _) => Ok(Some(ExitStatus::from_raw(signal as i32))),
        _ => Ok(None),
    }
}

/// Takes records of one process.
struct Recorder<'a> {
    plan: &'a Plan<'a>,
    pid: u32,
    reader: Option<Reader>,
    probes: Vec<Attached>,
    before: Vec<f64>,
    started: Instant,
    at: Duration,
    next: Instant,
    traced: Traced,
}

impl<'a> Recorder<'a> {
    fn begin(pid: u32, plan: &'a Plan<'a>, probes: Vec<Attached>) -> Result<Self> {
        let metrics = plan.outside.len() + probes.len();
        let started = Instant::now();
        let mut recorder = Self {
            plan,
            pid,
            // It may have ended already.
            reader: Reader::open(pid, plan.outside).ok(),
            probes,
            before: Vec::new(),
            started,
            at: Duration::ZERO,
            next: started,
            traced: Traced { signals: vec![Vec::new(); metrics], ..Traced::default() },
        };
        recorder.traced.executable = fs::read_link(format!("/proc/{pid}/exe")).ok();
        recorder.at = recorder.now();
        recorder.before = recorder.values()?.unwrap_or_default();
        Ok(recorder)
    }

    fn values(&mut self) -> Result<Option<Vec<f64>>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let read = reader.read().context("cannot read the metrics of the program")?;
        let Some(mut values) = read else { return Ok(None) };
        for probe in &mut self.probes {
            let Some(value) = probe.read()? else { return Ok(None) };
            values.push(value);
        }
        Ok(Some(values))
    }

    /// Whether the interval has ended.
    fn wait(&mut self) -> bool {
        if self.plan.clock == Clock::Cpu {
            return self.wait_for_cpu_time();
        }
        self.next += self.plan.interval;
        let now = Instant::now();
        while self.next <= now {
            self.next += self.plan.interval;
        }
        std::thread::sleep(self.next - now);
        true
    }

    fn wait_for_cpu_time(&self) -> bool {
        let since = Instant::now();
        loop {
            let left = self.plan.interval.saturating_sub(self.now().saturating_sub(self.at));
            if left.is_zero() {
                return true;
            }
            if since.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(left.clamp(NAP, PATIENCE));
        }
    }

    /// The time of the clock.
    fn now(&self) -> Duration {
        match (self.plan.clock, &self.reader) {
            (Clock::Cpu, Some(reader)) => reader.cpu().unwrap_or_default(),
            _ => self.started.elapsed(),
        }
    }

    /// Whether there was something to record.
    fn record(&mut self) -> Result<bool> {
        let now = self.now();
        let Some(values) = self.values()? else { return Ok(false) };
        if self.traced.c_library.is_none() {
            self.traced.c_library = image::c_library(self.pid);
        }
        // A shell may become the program: `sh -c 'exec program <input'`.
        if let Ok(executable) = fs::read_link(format!("/proc/{}/exe", self.pid)) {
            self.traced.executable = Some(executable);
        }
        if self.before.len() != values.len() {
            (self.before, self.at) = (values, now);
            return Ok(true);
        }
        let elapsed = now.saturating_sub(self.at).as_secs_f64() / self.plan.interval.as_secs_f64();
        self.traced.late += usize::from(elapsed > 1.5);
        for (place, signal) in self.traced.signals.iter_mut().enumerate() {
            let is_level = self.plan.outside.get(place).is_some_and(|metric| metric.is_level());
            let grown = (values[place] - self.before[place]) / elapsed;
            signal.push(if is_level { values[place] } else { grown });
        }
        (self.before, self.at) = (values, now);
        Ok(true)
    }
}

/// The process that a tool has started, or has become.
fn descendant_that_executes(pid: u32, executable: &Path) -> Option<u32> {
    let executes =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == executable);
    family(pid).into_iter().find(executes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(command: &[&str], tool_of: Option<&Path>) -> Outcome {
        traced_by(Clock::Wall, command, tool_of)
    }

    fn traced_by(clock: Clock, command: &[&str], tool_of: Option<&Path>) -> Outcome {
        let argv: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let plan = Plan {
            argv: &argv,
            variables: Vec::new(),
            started_by_tool: tool_of,
            clock,
            interval: Duration::from_millis(5),
            outside: &[Outside::Written, Outside::Rss],
            probes: &[],
        };
        run(&plan, &Stop::new()).unwrap()
    }

    const LOOP: &str = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); echo $i; done";

    #[test]
    fn what_a_program_writes_is_in_its_trace_also_behind_a_tool() {
        let Outcome::Traced(alone) = traced(&["/bin/sh", "-c", LOOP], None) else { panic!() };
        assert_eq!(alone.signals.len(), 2);
        assert_eq!(alone.signals[0].len(), alone.signals[1].len());
        assert!(alone.signals[0].iter().sum::<f64>() > 10_000.0, "{alone:?}");
        assert!(alone.signals[1].iter().all(|pages| *pages > 50.0), "{alone:?}");
        assert!(alone.cpu_ns > 0 && alone.wall_ns > 5_000_000);
        let shell = alone.executable.unwrap();
        let tool = ["/usr/bin/env", "-u", "NOBODY", "/bin/sh", "-c", LOOP];
        let Outcome::Traced(behind) = traced(&tool, Some(&shell)) else { panic!() };
        assert!(behind.signals[0].iter().sum::<f64>() > 10_000.0, "{behind:?}");
        assert_eq!(behind.executable.unwrap(), shell);
    }

    #[test]
    fn a_shell_that_became_a_program_is_that_program_also_behind_a_tool() {
        let text = "exec /usr/bin/env bash -c 'for i in {1..20000}; do echo $i; done'";
        let Outcome::Traced(alone) = traced(&["/bin/sh", "-c", text], None) else { panic!() };
        let program = alone.executable.unwrap();
        assert_eq!(program.file_name().unwrap(), "bash");
        let tool = ["/usr/bin/env", "/bin/sh", "-c", text];
        let Outcome::Traced(behind) = traced(&tool, Some(&program)) else { panic!() };
        assert_eq!(behind.executable.unwrap(), program);
    }

    #[test]
    fn by_cpu_time_a_program_that_waits_has_few_records() {
        let command = ["/bin/sh", "-c", &format!("sleep 0.3; {LOOP}")];
        let Outcome::Traced(traced) = traced_by(Clock::Cpu, &command, None) else { panic!() };
        let records = traced.signals[0].len() as u64;
        assert!(records > 0 && records * 5_000_000 <= traced.cpu_ns, "{traced:?}");
    }

    #[test]
    fn a_program_that_fails_is_told_with_what_it_said() {
        let Outcome::Failed(how) = traced(&["/bin/sh", "-c", "echo why >&2; exit 3"], None) else {
            panic!()
        };
        assert!(how.contains('3') && how.contains("why"), "{how}");
        let missing = Path::new("/nowhere/at/all");
        let Outcome::Failed(how) = traced(&["/bin/true"], Some(missing)) else { panic!() };
        assert!(how.contains("no process of it executed the program"), "{how}");
    }
}
