//! `szc profile record`: runs a program, or looks at one that runs, and writes samples of where its
//! threads are.
#![forbid(unsafe_code)]

mod options;
mod recording;

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use jiff::Timestamp;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use szc_sampler::clock::{Coverage, now};
use szc_sampler::form::Callers;
use szc_sampler::periods::Schedule;
use szc_sampler::recorder::{self, Recorder};
use szc_sampler::spawn::Held;

pub(super) use self::options::{Options, period_of};
pub(super) use self::recording::Recording;
use super::file::{Clocks, End, Header, Line, VERSION};
use crate::lab::exit::{EXIT_PROGRAM, EXIT_SIGNAL_BASE, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::measure::child::cpu_ns_of_children;
use crate::measure::stop::{Stop, stop_on_signals};

/// The variable with the time between layouts.
const INTERVAL: &str = "SZC_INTERVAL_MS";
/// The variables with seeds of pads, the one that counts first in front.
const STACK_SEEDS: [&str; 2] = ["SZC_STACK_SEED", "SZC_SEED"];

/// The longest wait for clocks: then a look whether the program has ended.
const WAIT: Duration = Duration::from_millis(20);
/// How long a program may go on that was asked to stop.
const GRACE_NS: u64 = 2_000_000_000;

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// Nothing could be recorded, or not all.
pub(super) fn record(options: Options) -> Result<u8, Failure> {
    let period_ns = options.period_ns().map_err(Failure::Usage)?;
    let paths = options.path_map().map_err(Failure::Usage)?;
    let seed = options.seed.unwrap_or_else(now);
    let schedule = Schedule { period_ns, jitter: options.jitter, seed };
    let how = recorder::Options {
        schedule,
        callers: options.callers(),
        by_thread: options.per_thread,
        off_cpu: options.off_cpu,
    };
    let stop = stop_on_signals().context("cannot handle signals")?;
    let mut recorder = Recorder::start(how)
        .map_err(|none| anyhow!(why_unavailable(&none.error, options.off_cpu)))?;
    let stack_seed = paths.and_then(|(map, seed)| {
        recorder.infer_by(map);
        seed
    });
    let held = start(&options, stack_seed).map_err(Failure::Usage)?;
    let pid = held.as_ref().map_or(options.pid.unwrap_or_default(), Held::pid);
    let header = Header {
        szc_profile: VERSION,
        pid,
        period_ns,
        jitter: options.jitter,
        seed,
        clocks: clocks(recorder.coverage()),
        callers: options.callers() != Callers::None,
        stack_bytes: match options.callers() {
            Callers::Tables { stack_bytes } => Some(stack_bytes),
            Callers::None | Callers::FramePointers | Callers::TwoRegisters => None,
        },
        paths: options.paths.as_ref().map(|paths| paths.display().to_string()),
        start: now(),
        date: Timestamp::now().to_string(),
        command: options.command,
    };
    let mut recording = Recording::begin(&options.output, &header);
    let is_own = held.is_some();
    recorder
        .follow(pid, |report| recording.put(report))
        .with_context(|| format!("cannot sample process {pid}"))?;
    if let Some(held) = held {
        held.release().context("the program is gone")?;
    }
    let ending = watch(&mut recorder, &mut recording, pid, is_own, stop)?;
    let missed = recorder.missed();
    recording.put_line(&Line::End(End {
        time: now(),
        lost: missed.lost,
        missed_threads: missed.threads,
        missed_ns: missed.beginnings_ns,
        cpu_ns: is_own.then(cpu_ns_of_children).flatten(),
        outcome: ending.outcome(),
    }));
    recording.flush();
    let code = finish(&recording, &options.output, ending)?;
    Ok(stop.signal().map_or(code, by_signal))
}

/// The program, waiting. With a path map it keeps one layout, that of the seed.
fn start(options: &Options, stack_seed: Option<u64>) -> Result<Option<Held>> {
    let Some((program, arguments)) = options.command.split_first() else { return Ok(None) };
    let mut command = Command::new(program);
    if options.paths.is_some() && std::env::var_os(INTERVAL).is_none() {
        // Of many layouts in one stack few heights say which.
        command.env(INTERVAL, "0");
    }
    if STACK_SEEDS.iter().all(|name| std::env::var_os(name).is_none()) {
        command.envs(stack_seed.map(|seed| (STACK_SEEDS[0], seed.to_string())));
    }
    let held = Held::start(command.args(arguments));
    held.map(Some).with_context(|| format!("cannot run {program}"))
}

fn clocks(coverage: Coverage) -> Clocks {
    match coverage {
        Coverage::Processors => Clocks::Processors,
        Coverage::Threads { with_kernel: true } => Clocks::Threads,
        Coverage::Threads { with_kernel: false } => Clocks::ThreadsInUserMode,
    }
}

pub(super) fn why_unavailable(error: &io::Error, off_cpu: bool) -> String {
    if error.kind() == io::ErrorKind::OutOfMemory {
        return error.to_string();
    }
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level = level.map_or_else(|_| "unknown".into(), |level| level.trim().to_owned());
    let most = if off_cpu { 1 } else { 2 };
    format!(
        "the kernel gives no clocks: {error}. They need perf_event_open(2), which containers often \
         forbid (docker: --cap-add PERFMON), and kernel.perf_event_paranoid of {most} or less, \
         which is {level}: sysctl kernel.perf_event_paranoid={most}"
    )
}

/// Why there is nothing more to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The program returned this.
    Returned(i32),
    /// This signal killed the program.
    Killed(Signal),
    /// This signal asked us to stop, and the program goes on.
    Asked(i32),
    /// The process that was looked at is gone.
    Gone,
}

impl Ending {
    fn outcome(self) -> Option<String> {
        match self {
            Self::Returned(code) => Some(format!("returned {code}")),
            Self::Killed(signal) => Some(format!("killed by {signal}")),
            Self::Asked(_) | Self::Gone => None,
        }
    }
}

/// Records until the program has ended, or somebody asks to stop.
pub(super) fn watch(
    recorder: &mut Recorder,
    recording: &mut Recording,
    pid: u32,
    is_own: bool,
    stop: &Stop,
) -> Result<Ending> {
    let process = Pid::from_raw(pid.cast_signed());
    let mut asked: Option<u64> = None;
    let ending = loop {
        if recording.goes_on() {
            recorder
                .read(WAIT, false, |report| recording.put(report))
                .context("cannot go on sampling")?;
            recording.flush();
        } else {
            std::thread::sleep(WAIT);
        }
        if let Some(ending) = if is_own { ended(process)? } else { gone(process) } {
            break ending;
        }
        let Some(signal) = stop.signal() else { continue };
        let since = *asked.get_or_insert_with(|| {
            // Ctrl-C reaches the program by itself.
            if is_own && signal != Signal::SIGINT as i32 {
                let _ = kill(process, Signal::try_from(signal).ok());
            }
            now()
        });
        if !is_own || now() - since > GRACE_NS {
            break Ending::Asked(signal);
        }
    };
    recorder
        .read(Duration::ZERO, true, |report| recording.put(report))
        .context("cannot read the last samples")?;
    Ok(ending)
}

fn ended(process: Pid) -> Result<Option<Ending>> {
    match waitpid(process, Some(WaitPidFlag::WNOHANG)).context("cannot wait for the program")? {
        WaitStatus::Exited(_, code) => Ok(Some(Ending::Returned(code))),
        WaitStatus::Signaled(_, signal, _) => Ok(Some(Ending::Killed(signal))),
        _ => Ok(None),
    }
}

fn gone(process: Pid) -> Option<Ending> {
    (kill(process, None) == Err(nix::errno::Errno::ESRCH)).then_some(Ending::Gone)
}

fn finish(recording: &Recording, output: &Path, ending: Ending) -> Result<u8, Failure> {
    let shown = output.display();
    if let Some(error) = &recording.failure {
        return Err(Failure::Internal(anyhow!(
            "cannot write {shown}: {error}. What was written so far can be read; the program was \
             not disturbed. Make room, or write elsewhere with -o"
        )));
    }
    eprintln!("szc: {} samples in {shown}; `szc profile report` shows them", recording.samples);
    match ending {
        Ending::Returned(0) | Ending::Gone => Ok(EXIT_VERDICT),
        Ending::Returned(code) => {
            eprintln!("szc: the program returned {code}");
            Ok(EXIT_PROGRAM)
        }
        Ending::Killed(signal) => {
            eprintln!("szc: the program was killed by {signal}");
            Ok(EXIT_PROGRAM)
        }
        Ending::Asked(signal) => Ok(by_signal(signal)),
    }
}

pub(super) fn by_signal(signal: i32) -> u8 {
    EXIT_SIGNAL_BASE + u8::try_from(signal).unwrap_or_default()
}
