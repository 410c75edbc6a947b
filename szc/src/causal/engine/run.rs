//! One run of the program, with experiments while it runs or as one experiment.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use szc_abi::causal::Memory;
use szc_sampler::clock::now;

use super::breakpoints::Breakpoints;
use super::child::{Ended, start, wait_for};
use super::ending::{self, Request};
use super::experiments::Experiments;
use super::lengths::needs_looks;
use super::load;
use super::memory::{Shared, set};
use super::outcome::{Outcome, how_ended, visits};
use super::plan::Plan;
use super::samples::Samples;
use super::spaces::{Found, Spaces};
use super::trial::{Measurement, Sources, Trial};
use crate::causal::file::{
    End, Experiment, Line, LoadRun, Point, Progress, Run as RunLine, Writer,
};
use crate::measure::stop::Stop;

/// Between experiments threads pay what they owe.
const COOL_OFF_NS: u64 = 10_000_000;
/// Longest time between two looks: while something is waited for, and else.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(10);

/// A run that goes on.
pub struct Run<'a> {
    plan: &'a Plan,
    number: u32,
    is_amplified: bool,
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
    altered_ns: u64,
    experiments: u64,
    visits: u64,
    has_arrival_place: bool,
}

enum Phase {
    /// Until this time nothing is sped up.
    Cooling(u64),
    /// The next sample in scope says what is.
    Choosing,
    /// Until this time something is.
    Running(Box<Trial>, u64),
    /// All of the run is measured, and nothing sped up but arrivals.
    Loaded(Box<Measurement>),
}

impl<'a> Run<'a> {
    /// Ready to begin.
    ///
    /// # Errors
    /// There is no memory to share.
    pub fn new(
        plan: &'a Plan,
        (number, is_amplified): (u32, bool),
        spaces: &'a mut Spaces,
    ) -> Result<Self> {
        let seed = plan.header.seed ^ u64::from(number);
        let shared = Shared::new(plan.header.period_ns, seed).context("no memory to share")?;
        shared.keep_alive();
        if let Some(load) = plan.header.load {
            load::count(shared.memory(), plan.arrival.is_some());
            if is_amplified {
                load::amplify(shared.memory(), load);
            }
        }
        spaces.clear();
        Ok(Self {
            plan,
            number,
            is_amplified,
            shared,
            spaces,
            breakpoints: Breakpoints::new(&plan.progress),
            samples: Samples::default(),
            altered: vec![false],
            processes: BTreeSet::new(),
            joined: 0,
            main_process: 0,
            begin_ns: 0,
            altered_ns: 0,
            experiments: 0,
            visits: 0,
            has_arrival_place: false,
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
        let (child, _guarded) = start(self.plan, &self.shared)?;
        self.main_process = child.id();
        self.begin_ns = now();
        let child = wait_for(child);
        let mut phase = Phase::Cooling(self.begin_ns + COOL_OFF_NS);
        let mut request = Request::default();
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
            self.check_load().inspect_err(|_| {
                let process = Pid::from_raw(self.main_process.cast_signed());
                let _ = kill(process, Signal::SIGTERM);
            })?;
            if throughout.is_none() {
                phase = self.go_on(phase, first, experiments, writer)?;
            }
            if request.is_overdue(stop, self.main_process) {
                break None;
            }
            thread::park_timeout(self.pause(&mut phase, experiments));
        };
        self.check_load()?;
        match (phase, &ended) {
            (Phase::Running(trial, _), Some(ended)) if throughout.is_some() => {
                let experiment = self.measured(*trial, Some(ended.time_ns));
                self.write(experiment, writer)?;
            }
            (Phase::Loaded(measurement), ended) => {
                let end_ns = ended.as_ref().map(|ended| ended.time_ns);
                self.write_load(*measurement, end_ns, writer)?;
            }
            _ => {}
        }
        self.shared.end();
        self.finish(ended, stop, writer)
    }

    fn memory(&self) -> &'static Memory {
        self.shared.memory()
    }

    /// Refuses a load, by what arrives in the first run.
    fn check_load(&self) -> Result<()> {
        match self.plan.header.load.filter(|_| self.number == 0) {
            Some(load) => load::check(load, &load::counts(self.memory())),
            None => Ok(()),
        }
    }

    fn sources(&self) -> Sources<'_> {
        let (memory, breakpoints) = (self.memory(), &self.breakpoints);
        Sources { memory, breakpoints, processes: &self.processes }
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
                if let Some(place) = &self.plan.arrival
                    && let Some(address) = Spaces::entry(pid, place)
                {
                    process.arrival.store(address, Relaxed);
                    self.has_arrival_place = true;
                }
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
                if let (true, Phase::Cooling(_)) = (self.plan.is_load_alone, &phase) {
                    *phase = Phase::Loaded(Box::new(Measurement::begin(self.sources())));
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
        let trial = Trial::begin(found, speedup, record, self.sources());
        Phase::Running(Box::new(trial), until)
    }

    fn measured(&mut self, trial: Trial, end_ns: Option<u64>) -> Experiment {
        let selected = self.spaces.location(trial.found);
        let mut experiment = trial.end(self.sources(), selected, end_ns);
        experiment.run = self.number;
        experiment.process = self.main_process;
        self.add_end(&mut experiment.points);
        experiment
    }

    /// A run is the progress point, if that was asked for.
    fn add_end(&self, points: &mut Vec<Point>) {
        if self.plan.end_to_end {
            let progress = Progress::Throughput { visits: 1 };
            points.insert(0, Point { name: "end-to-end".into(), progress });
        }
    }

    fn write_load(
        &mut self,
        measurement: Measurement,
        end_ns: Option<u64>,
        writer: &mut Writer,
    ) -> Result<()> {
        let mut measured = measurement.end(self.sources(), end_ns);
        self.add_end(&mut measured.points);
        self.experiments += 1;
        self.visits += visits(&measured.points);
        let run = LoadRun {
            run: self.number,
            process: self.main_process,
            is_amplified: self.is_amplified,
            start_ns: measured.start_ns,
            duration_ns: measured.duration_ns,
            delay_ns: measured.delay_ns,
            runnable_mean: measured.runnable_mean,
            arrivals: load::counts(self.memory()),
            points: measured.points,
        };
        writer.add(&Line::Load(run)).context("cannot write the profile")
    }

    fn write(&mut self, experiment: Experiment, writer: &mut Writer) -> Result<()> {
        self.experiments += 1;
        if experiment.speedup != 0.0 {
            self.altered_ns += experiment.duration_ns;
        }
        self.visits += visits(&experiment.points);
        writer.add(&Line::Experiment(experiment)).context("cannot write the profile")
    }

    /// How long to wait until the next look.
    fn pause(&self, phase: &mut Phase, experiments: &mut Experiments) -> Duration {
        if self.joined == 0 || matches!(phase, Phase::Choosing) {
            return SHORT;
        }
        let memory = self.memory();
        let left = match phase {
            Phase::Running(_, until) => Duration::from_nanos(until.saturating_sub(now())),
            _ => LONG,
        };
        match phase {
            Phase::Running(trial, _) if needs_looks(memory) => trial.look(memory),
            Phase::Loaded(measurement) if needs_looks(memory) => measurement.look(memory),
            _ => return left.min(LONG),
        }
        // A mean of 2 ms, in no step with the program.
        left.min(Duration::from_micros(1_000 + experiments.below(2_000)))
    }

    fn finish(mut self, ended: Option<Ended>, stop: &Stop, writer: &mut Writer) -> Result<Outcome> {
        let memory = self.memory();
        let altered = std::mem::take(&mut self.altered);
        let is_altered = |number: u64| {
            let at = usize::try_from(number).unwrap_or_default();
            altered.get(at).copied().unwrap_or(true)
        };
        self.samples.read(memory, self.spaces, is_altered);
        let end_ns = ended.as_ref().map_or_else(now, |ended| ended.time_ns);
        let (run, process) = (self.number, self.main_process);
        let elapsed_ns = end_ns.saturating_sub(self.begin_ns);
        let add = |writer: &mut Writer, line| writer.add(&line).context("cannot write the profile");
        add(
            writer,
            Line::Run(RunLine {
                run,
                process,
                elapsed_ns,
                samples: self.samples.by_location(),
                samples_out_of_scope: Some(self.samples.out_of_scope),
                samples_without_line: Some(self.samples.unknown),
                unaltered_ns: Some(elapsed_ns.saturating_sub(self.altered_ns)),
                arrivals: self.plan.header.load.map(|_| load::counts(memory)),
            }),
        )?;
        let mut left = Vec::new();
        if ended.is_some() && stop.signal().is_none() {
            left = ending::left(&self.processes);
        }
        let status = ended.map(|ended| ended.status);
        let reason = how_ended(status);
        add(writer, Line::End(End { reason, run, process }))?;
        Ok(Outcome {
            status,
            experiments: self.experiments,
            visits: self.visits,
            processes: self.joined,
            left,
            unsampled_threads: memory.unsampled_threads.load(Relaxed),
            arrivals: load::counts(memory).count,
            has_arrival_place: self.has_arrival_place,
            missing_points: self.breakpoints.missing().into_iter().map(str::to_owned).collect(),
            samples: self.samples,
        })
    }
}
