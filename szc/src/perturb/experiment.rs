//! Carries an experiment out: a pilot, then all runs of all steps in an order drawn at random.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use szc_stats::random::Draws;

use super::metric::{Inside, Outside};
use super::probe::{Probe, Target};
use super::record::{Arm, Record, Run, Step};
use super::trace::{self, Clock, Outcome, Plan, Traced};
use crate::lab::failure::Failure;
use crate::measure::lane::LOG_VARIABLE;
use crate::measure::randomization::RunLog;
use crate::measure::stop::Stop;

/// A shorter trace says nothing.
const MIN_RECORDS: usize = 20;
/// No shorter interval is kept to.
pub(super) const MIN_INTERVAL_MS: f64 = 0.5;
/// A longer one says no more, and takes long to align.
const MAX_RECORDS: usize = 3000;

/// Time between two times at which traces are written while it goes on.
const BETWEEN_SAVES: Duration = Duration::from_secs(10);

/// What is measured, and how often.
pub(super) struct Experiment {
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// The words of a tool that starts it.
    pub(super) tool: Option<Vec<String>>,
    /// What is read from outside.
    pub(super) outside: Vec<Outside>,
    /// What is put inside, in the order in which it is added.
    pub(super) inside: Vec<Inside>,
    /// What an interval is of.
    pub(super) clock: Clock,
    /// Time between two records.
    pub(super) interval: Duration,
    /// Runs without anything added.
    pub(super) baselines: usize,
    /// Runs of each step.
    pub(super) runs: usize,
    /// The file that gets the traces meanwhile.
    pub(super) json: Option<PathBuf>,
    /// Called in front of each run, with how many there were and will be.
    pub(super) progress: fn(usize, usize),
}

/// An experiment that is under way.
pub(super) struct Session<'a> {
    experiment: &'a Experiment,
    stop: &'a Stop,
    target: Target,
    probes: Vec<Probe>,
    fixed_seed: u64,
    draws: Draws,
    is_random: bool,
    /// Runs of an earlier time that are not yet in the record.
    earlier: VecDeque<Run>,
    saved: Instant,
    /// What was measured.
    pub(super) record: Record,
}

/// A run to come.
#[derive(Clone, Copy)]
struct Planned {
    step: usize,
    arm: Arm,
}

impl<'a> Session<'a> {
    /// Runs the program once, to know what it is and whether it can be traced. Runs that an earlier
    /// record has are not made again.
    pub(super) fn begin(
        experiment: &'a Experiment,
        record: Record,
        earlier: Option<Record>,
        stop: &'a Stop,
    ) -> Result<Self, Failure> {
        let mut draws = Draws::new(record.seed);
        let fixed_seed = layout_seed(&mut draws);
        let logs = tempfile::tempdir().context("no folder for the log of the program")?;
        let log = (LOG_VARIABLE, logs.path().join("%p.json").into_os_string());
        let variables = vec![seed_variable(fixed_seed), log];
        let plan = Plan {
            argv: &experiment.command,
            variables,
            started_by_tool: None,
            clock: experiment.clock,
            interval: experiment.interval,
            outside: &experiment.outside,
            probes: &[],
        };
        let traced = carry_out(&plan, stop)?;
        check_length(&traced, experiment.interval).map_err(Failure::Usage)?;
        let log = RunLog::take(logs.path()).context("cannot read the log of the program")?;
        let target = Target {
            executable: traced.executable.context("the program cannot be looked at")?,
            c_library: traced.c_library,
            moves: log.processes.iter().any(|log| log.randomize.code && log.relocations > 0),
        };
        let find = |inside: &Inside| Probe::find(inside, &target);
        let probes: Vec<Probe> =
            experiment.inside.iter().map(find).collect::<Result<_>>().map_err(Failure::Usage)?;
        let is_random = log.why_not_randomized(fixed_seed).is_none();
        let arms = if is_random { vec![Arm::Layouts, Arm::Fixed] } else { vec![Arm::AsBuilt] };
        let record = Record { arms, ..record };
        let earlier = earlier.unwrap_or_else(|| Record { runs: Vec::new(), ..record.clone() });
        if !earlier.runs.is_empty() && earlier.arms != record.arms {
            let error =
                anyhow!("the traces that are there are of a program that is built otherwise");
            return Err(Failure::Usage(error));
        }
        Ok(Self {
            experiment,
            stop,
            target,
            probes,
            fixed_seed,
            draws,
            is_random,
            earlier: earlier.runs.into(),
            saved: Instant::now(),
            record,
        })
    }

    /// All runs of the baseline and of the steps.
    pub(super) fn measure(&mut self) -> Result<(), Failure> {
        let mut planned = Vec::new();
        for &arm in &self.record.arms {
            for (step, _) in self.record.steps.iter().enumerate() {
                let count =
                    if step == 0 { self.experiment.baselines } else { self.experiment.runs };
                planned.extend(std::iter::repeat_n(Planned { step, arm }, count));
            }
        }
        self.carry_out_all(planned)
    }

    /// Runs of one more step, with as many of the baseline among them. Returns its place.
    pub(super) fn measure_further(&mut self, step: Step) -> Result<usize, Failure> {
        let place = self.record.steps.len();
        self.record.steps.push(step);
        let mut planned = Vec::new();
        for &arm in &self.record.arms {
            for step in [0, place] {
                planned.extend(std::iter::repeat_n(Planned { step, arm }, self.experiment.runs));
            }
        }
        self.carry_out_all(planned)?;
        Ok(place)
    }

    fn carry_out_all(&mut self, mut planned: Vec<Planned>) -> Result<(), Failure> {
        self.draws.shuffle(&mut planned);
        for (number, planned_run) in planned.iter().enumerate() {
            let Planned { step, arm } = *planned_run;
            let layout_seed = match arm {
                Arm::Layouts => layout_seed(&mut self.draws),
                Arm::Fixed | Arm::AsBuilt => self.fixed_seed,
            };
            let run = match self.earlier.pop_front() {
                None => {
                    (self.experiment.progress)(number, planned.len());
                    self.run(*planned_run, layout_seed)?
                }
                Some(run) if (run.step, run.arm, run.layout_seed) == (step, arm, layout_seed) => {
                    run
                }
                Some(run) => {
                    self.earlier.push_front(run);
                    return Err(Failure::Usage(anyhow!(
                        "the runs that are there come in another order: --baseline, --runs and \
                         --advise must be as they were"
                    )));
                }
            };
            self.record.runs.push(run);
            if self.saved.elapsed() > BETWEEN_SAVES {
                self.save()?;
            }
        }
        (self.experiment.progress)(planned.len(), planned.len());
        Ok(())
    }

    /// Writes the record, unless the file has more than that.
    pub(super) fn save(&mut self) -> Result<()> {
        self.saved = Instant::now();
        let path = self.experiment.json.as_ref().filter(|_| self.earlier.is_empty());
        path.map_or(Ok(()), |path| self.record.write(path))
    }

    fn run(&self, planned: Planned, layout_seed: u64) -> Result<Run, Failure> {
        let experiment = self.experiment;
        let step = &self.record.steps[planned.step];
        let is_of_step = |inside: &Inside| step.probes.contains(&inside.to_string());
        let probes: Vec<&Probe> = experiment
            .inside
            .iter()
            .zip(&self.probes)
            .filter(|(inside, _)| is_of_step(inside))
            .map(|(_, probe)| probe)
            .collect();
        let tool = experiment.tool.as_ref().filter(|_| step.tool.is_some());
        let argv: Vec<String> =
            tool.into_iter().flatten().chain(&experiment.command).cloned().collect();
        let plan = Plan {
            argv: &argv,
            variables: self.is_random.then(|| seed_variable(layout_seed)).into_iter().collect(),
            started_by_tool: tool.map(|_| self.target.executable.as_path()),
            clock: experiment.clock,
            interval: experiment.interval,
            outside: &experiment.outside,
            probes: &probes,
        };
        let traced = carry_out(&plan, self.stop)
            .map_err(|failure| in_step(failure, &step.name, planned.step > 0))?;
        check_length(&traced, experiment.interval)
            .with_context(|| format!("a run of {}", step.name))
            .map_err(Failure::Usage)?;
        Ok(Run {
            step: planned.step,
            arm: planned.arm,
            layout_seed,
            wall_ns: traced.wall_ns,
            cpu_ns: traced.cpu_ns,
            late: traced.late,
            signals: traced.signals,
        })
    }

    /// The file of the program.
    pub(super) fn executable(&self) -> &PathBuf {
        &self.target.executable
    }
}

fn carry_out(plan: &Plan<'_>, stop: &Stop) -> Result<Traced, Failure> {
    match trace::run(plan, stop)? {
        Outcome::Traced(traced) => Ok(traced),
        Outcome::Failed(how) => Err(Failure::Build(format!("{}: {how}", plan.argv.join(" ")))),
        Outcome::Stopped => Err(Failure::Interrupted(stop.signal().unwrap_or_default())),
    }
}

fn in_step(failure: Failure, name: &str, is_named: bool) -> Failure {
    match failure {
        Failure::Build(text) if is_named => Failure::Build(format!("with {name}: {text}")),
        other => other,
    }
}

fn check_length(traced: &Traced, interval: Duration) -> Result<()> {
    let records = traced.signals.first().map_or(0, Vec::len);
    let milliseconds = interval.as_secs_f64() * 1e3;
    let factor = |wanted: usize| milliseconds * records as f64 / wanted as f64;
    if records < MIN_RECORDS {
        let shorter = Some(factor(300)).filter(|shorter| *shorter >= MIN_INTERVAL_MS);
        let shorter = shorter.map_or(String::new(), |shorter| {
            format!(", or shorten the interval (--interval {shorter:.1}ms)")
        });
        bail!(
            "{records} records of {milliseconds} ms, and a trace needs {MIN_RECORDS}, better some \
             hundreds: give the program more to do{shorter}"
        );
    }
    if records > MAX_RECORDS {
        return Err(anyhow!(
            "{records} records of {milliseconds} ms, and at most {MAX_RECORDS} are compared: \
             --interval {:.0}ms",
            factor(MAX_RECORDS).ceil() + 1.0
        ));
    }
    Ok(())
}

/// Sixteen digits, so that the length of the variable moves no stack.
fn layout_seed(draws: &mut Draws) -> u64 {
    1_000_000_000_000_000 + draws.index(8_000_000_000_000_000) as u64
}

fn seed_variable(seed: u64) -> (&'static str, OsString) {
    ("SZC_SEED", seed.to_string().into())
}

/// A line that says how far it is, for who looks.
pub(super) fn progress(done: usize, all: usize) {
    let mut stderr = std::io::stderr().lock();
    if stderr.is_terminal() {
        let end = if done == all { "\r\x1b[K" } else { "" };
        // Nobody reads it, or the terminal is gone.
        let _ = write!(stderr, "\rszc perturb: {done} of {all} runs{end}");
    }
}
