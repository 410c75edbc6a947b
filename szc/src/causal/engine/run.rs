//! One run of the program, with experiments while it runs or as one experiment.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use szc_abi::causal::{MEMORY_VARIABLE, Memory};
use szc_sampler::clock::now;

use super::breakpoints::Breakpoints;
use super::experiments::Experiments;
use super::memory::{Shared, set};
use super::plan::Plan;
use super::samples::Samples;
use super::spaces::{Found, Spaces};
use super::trial::{Trial, has_queues};
use crate::causal::file::{End, Experiment, Line, Point, Progress, Run as RunLine, Writer};
use crate::measure::stop::Stop;

/// Between experiments threads pay what they owe.
const COOL_OFF_NS: u64 = 10_000_000;
/// Longest time between two looks: while something is waited for, and else.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(10);
/// How long a program may go on that was asked to stop.
const GRACE_NS: u64 = 5_000_000_000;

/// What came of a run.
pub struct Outcome {
    /// How the program ended; nothing if it did not stop when it was asked to.
    pub status: Option<ExitStatus>,
    /// Experiments that were written.
    pub experiments: u64,
    /// Visits of progress points in them.
    pub visits: u64,
    /// Processes that joined.
    pub processes: usize,
    /// Threads that could not be sampled.
    pub unsampled_threads: u64,
    /// What was sampled.
    pub samples: Samples,
    /// Progress points that no program had.
    pub missing_points: Vec<String>,
}

/// A run that goes on.
pub struct Run<'a> {
    plan: &'a Plan,
    number: u32,
    shared: Shared,
    spaces: &'a mut Spaces,
    breakpoints: Breakpoints,
    samples: Samples,
    /// Whether something was sped up, by number of the experiment.
    altered: Vec<bool>,
    processes: BTreeSet<u32>,
    joined: usize,
    main_process: u32,
    begin_ns: u64,
    unaltered_ns: u64,
    experiments: u64,
    visits: u64,
}

enum Phase {
    /// Until this time nothing is sped up.
    Cooling(u64),
    /// The next sample in scope says what is.
    Choosing,
    /// Until this time something is.
    Running(Box<Trial>, u64),
}

struct Ended {
    status: ExitStatus,
    time_ns: u64,
}

impl<'a> Run<'a> {
    /// Ready to begin.
    ///
    /// # Errors
    /// There is no memory to share.
    pub fn new(plan: &'a Plan, number: u32, spaces: &'a mut Spaces) -> Result<Self> {
        let seed = plan.header.seed ^ u64::from(number);
        let shared = Shared::new(plan.header.period_ns, seed).context("no memory to share")?;
        shared.keep_alive();
        spaces.clear();
        Ok(Self {
            plan,
            number,
            shared,
            spaces,
            breakpoints: Breakpoints::new(&plan.progress),
            samples: Samples::default(),
            altered: vec![false],
            processes: BTreeSet::new(),
            joined: 0,
            main_process: 0,
            begin_ns: 0,
            unaltered_ns: 0,
            experiments: 0,
            visits: 0,
        })
    }

    /// Runs the program, and writes what is measured. With `throughout`, that is sped up by so many
    /// percent from the beginning to the end.
    ///
    /// # Errors
    /// The program cannot be started, or the profile not be written.
    pub fn carry_out(
        mut self,
        experiments: &mut Experiments,
        throughout: Option<(Option<&str>, u32)>,
        writer: &mut Writer,
        stop: &Stop,
    ) -> Result<Outcome> {
        let child = self.start()?;
        self.main_process = child.id();
        self.begin_ns = now();
        let child = wait_for(child);
        let mut phase = Phase::Cooling(self.begin_ns + COOL_OFF_NS);
        let mut asked_ns = None;
        let ended = loop {
            self.shared.keep_alive();
            let is_altered = |number: u64| {
                let at = usize::try_from(number).unwrap_or_default();
                self.altered.get(at).copied().unwrap_or(true)
            };
            let first = self.samples.read(self.memory(), self.spaces, is_altered);
            self.describe_new(throughout, &mut phase)?;
            if child.is_finished() {
                break Some(child.join().expect("waiting does not panic"));
            }
            if throughout.is_none() {
                phase = self.go_on(phase, first, experiments, writer)?;
            }
            if self.is_overdue(stop, &mut asked_ns) {
                break None;
            }
            thread::park_timeout(self.pause(&mut phase, experiments));
        };
        if let (Phase::Running(trial, _), Some(ended), true) = (phase, &ended, throughout.is_some())
        {
            let experiment = self.measured(*trial, Some(ended.time_ns));
            self.write(experiment, writer)?;
        }
        self.shared.end();
        self.finish(ended, writer)
    }

    fn memory(&self) -> &'static Memory {
        self.shared.memory()
    }

    fn start(&self) -> Result<Child> {
        let [program, arguments @ ..] = &self.plan.header.command[..] else {
            anyhow::bail!("no program was named");
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command.env(MEMORY_VARIABLE, self.shared.path());
        command.env("LD_PRELOAD", preloaded(&self.plan.library, env::var_os("LD_PRELOAD")));
        // Where szc has built the program: copies of code that come and go cannot be selected.
        if env::var_os("SZC_CODE").is_none() {
            command.env("SZC_CODE", "0");
        }
        command.spawn().with_context(|| format!("cannot run {program}"))
    }

    /// Describes the code of processes that wait for that.
    fn describe_new(
        &mut self,
        throughout: Option<(Option<&str>, u32)>,
        phase: &mut Phase,
    ) -> Result<()> {
        let memory = self.memory();
        while let Some(process) = memory.processes.get(self.joined) {
            // Pairs with the process's release, behind its number's neighbours.
            let pid = process.pid.load(Acquire);
            if pid == 0 {
                break;
            }
            self.joined += 1;
            self.processes.insert(pid);
            if process.is_described.load(Relaxed) == 0 {
                let space = process.space.load(Relaxed);
                let (first, words) = self.spaces.learn(space, pid, &mut self.shared);
                set(&process.scope, first, words);
                self.breakpoints.follow(pid, |name| Spaces::entry(pid, name)).inspect_err(
                    |_| {
                        // It has not begun, and nobody would wait for it.
                        let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
                    },
                )?;
                if let (Some((name, speedup)), Phase::Cooling(_)) = (throughout, &phase)
                    && let Some(found) = name.and_then(|name| self.spaces.named(name))
                {
                    *phase = self.begin(found, speedup, u64::MAX);
                }
                // The process acquires it before it reads the rest.
                process.is_described.store(1, Release);
            }
        }
        Ok(())
    }

    fn go_on(
        &mut self,
        phase: Phase,
        first: Option<Found>,
        experiments: &mut Experiments,
        writer: &mut Writer,
    ) -> Result<Phase> {
        Ok(match phase {
            Phase::Cooling(until) if now() >= until => Phase::Choosing,
            Phase::Choosing => {
                let fixed = self.plan.fixed.as_deref();
                let chosen = match fixed {
                    None => first,
                    Some(name) => self.spaces.named(name),
                };
                let Some(found) = chosen else { return Ok(Phase::Choosing) };
                let until = now() + experiments.duration_ns();
                self.begin(found, experiments.speedup(), until)
            }
            Phase::Running(trial, until) if now() >= until => {
                let experiment = self.measured(*trial, None);
                self.shared.end();
                experiments.learn(&experiment);
                self.write(experiment, writer)?;
                Phase::Cooling(now() + COOL_OFF_NS)
            }
            other => other,
        })
    }

    fn begin(&mut self, found: Found, percent: u32, until: u64) -> Phase {
        let selected = self.spaces.selected(found, &mut self.shared);
        let speedup = f64::from(percent) / 100.0;
        let step_ns = self.plan.header.period_ns * u64::from(percent) / 100;
        self.altered.push(percent != 0);
        let record = self.shared.begin(selected, step_ns);
        let (memory, processes) = (self.memory(), &self.processes);
        let trial = Trial::begin((found, speedup), record, memory, &self.breakpoints, processes);
        Phase::Running(Box::new(trial), until)
    }

    fn measured(&mut self, trial: Trial, end_ns: Option<u64>) -> Experiment {
        let selected = self.spaces.location(trial.found);
        let measured = (self.memory(), &self.breakpoints);
        let mut experiment = trial.end(measured, &self.processes, selected, end_ns);
        experiment.run = self.number;
        experiment.process = self.main_process;
        if self.plan.end_to_end {
            let progress = Progress::Throughput { visits: 1 };
            experiment.points.insert(0, Point { name: "end-to-end".into(), progress });
        }
        experiment
    }

    fn write(&mut self, experiment: Experiment, writer: &mut Writer) -> Result<()> {
        self.experiments += 1;
        if experiment.speedup == 0.0 {
            self.unaltered_ns += experiment.duration_ns;
        }
        self.visits += experiment.points.iter().fold(0, |sum, point| match point.progress {
            Progress::Throughput { visits } => sum + visits,
            Progress::Latency { departures, .. } => sum + departures,
        });
        writer.add(&Line::Experiment(experiment)).context("cannot write the profile")
    }

    /// How long to wait until the next look.
    fn pause(&self, phase: &mut Phase, experiments: &mut Experiments) -> Duration {
        if self.joined == 0 || matches!(phase, Phase::Choosing) {
            return SHORT;
        }
        let Phase::Running(trial, until) = phase else { return LONG };
        let left = Duration::from_nanos(until.saturating_sub(now()));
        if !has_queues(self.memory()) {
            return left.min(LONG);
        }
        trial.look(self.memory());
        // A mean of 2 ms, in no step with the program.
        left.min(Duration::from_micros(1_000 + experiments.below(2_000)))
    }

    /// Hands a request to stop on, and says whether the program goes on for too long behind it.
    fn is_overdue(&self, stop: &Stop, asked_ns: &mut Option<u64>) -> bool {
        let Some(signal) = stop.signal() else { return false };
        let since = *asked_ns.get_or_insert_with(|| {
            // Ctrl-C reaches the program by itself.
            if signal != Signal::SIGINT as i32 {
                let process = Pid::from_raw(self.main_process.cast_signed());
                let _ = kill(process, Signal::try_from(signal).ok());
            }
            now()
        });
        now() - since > GRACE_NS
    }

    fn finish(mut self, ended: Option<Ended>, writer: &mut Writer) -> Result<Outcome> {
        let memory = self.memory();
        let altered = std::mem::take(&mut self.altered);
        let is_altered = |number: u64| {
            let at = usize::try_from(number).unwrap_or_default();
            altered.get(at).copied().unwrap_or(true)
        };
        self.samples.read(memory, self.spaces, is_altered);
        let end_ns = ended.as_ref().map_or_else(now, |ended| ended.time_ns);
        let (run, process) = (self.number, self.main_process);
        let add = |writer: &mut Writer, line| writer.add(&line).context("cannot write the profile");
        add(
            writer,
            Line::Run(RunLine {
                run,
                process,
                elapsed_ns: end_ns.saturating_sub(self.begin_ns),
                samples: self.samples.by_location(),
                samples_out_of_scope: Some(self.samples.out_of_scope),
                samples_without_line: Some(self.samples.unknown),
                unaltered_ns: None,
            }),
        )?;
        let status = ended.map(|ended| ended.status);
        let reason = match status {
            None => "it was asked to stop, and went on".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit {code}"),
                (None, signal) => format!("signal {}", signal.unwrap_or_default()),
            },
        };
        add(writer, Line::End(End { reason, run, process }))?;
        Ok(Outcome {
            status,
            experiments: self.experiments,
            visits: self.visits,
            processes: self.joined,
            unsampled_threads: memory.unsampled_threads.load(Relaxed),
            missing_points: self.breakpoints.missing().into_iter().map(str::to_owned).collect(),
            samples: self.samples,
        })
    }
}

/// The library, before what is preloaded already.
fn preloaded(library: &Path, others: Option<OsString>) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// Waits for the program on a thread of its own, so that the time of its end is known exactly.
fn wait_for(mut child: Child) -> JoinHandle<Ended> {
    let waiting = thread::current();
    thread::spawn(move || {
        let status = child.wait().expect("it is our child");
        let time_ns = now();
        waiting.unpark();
        Ended { status, time_ns }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_already_comes_behind_the_library() {
        let with = |others: Option<&str>| preloaded(Path::new("/l.so"), others.map(Into::into));
        assert_eq!(with(None), "/l.so");
        assert_eq!(with(Some("")), "/l.so");
        assert_eq!(with(Some("/m.so")), "/l.so:/m.so");
    }
}
