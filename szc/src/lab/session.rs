//! Carries out a plan: runs the programs, checks every run, and stops at the first that is unfit.
//!
//! A program is compared only as long as it succeeds and prints the same bytes as
//! the first run did. What was measured until then is kept.
#![forbid(unsafe_code)]

mod refusal;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use crate::measure::child::{self, End, Invocation};
use crate::measure::instrument::Instrument;
use crate::measure::program::{PADDING_VARIABLE, Program, padding};
use crate::measure::randomization::RunLog;
use crate::measure::stop::Stop;
use crate::samples::design::{Design, Phase, PlannedRun};
use crate::samples::runtime_log::RuntimeLog;
use crate::samples::{Metric, Sample};

/// Under what conditions programs run, and what they must fulfil.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Refuse programs whose stdout differs.
    pub check_output: bool,
    /// Refuse programs on which this metric is zero.
    pub metric: Metric,
    /// Kill and refuse a run that takes longer.
    pub timeout: Option<Duration>,
    /// Run on this CPU only.
    pub cpu: Option<usize>,
    /// Shell command in front of each run, not measured.
    pub prepare: Option<String>,
    /// Shell command behind each run, not measured.
    pub cleanup: Option<String>,
}

impl Conditions {
    /// What is usual, with this metric.
    #[must_use]
    pub fn new(metric: Metric) -> Self {
        Self { check_output: true, metric, timeout: None, cpu: None, prepare: None, cleanup: None }
    }
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All blocks are measured, or the observer has seen enough.
    Complete,
    /// This signal asked to stop.
    Interrupted(i32),
    /// A program is unfit; the text says what was found, what is needed and what to do.
    Refused(String),
}

/// What is known about the randomization of one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramState {
    /// The last log object of its runtime.
    pub last_log: Option<RuntimeLog>,
    /// Why a run of it had no random layout; `None` as long as all had one.
    pub not_randomized: Option<String>,
    /// What of it does not move although it was built for it, and why.
    pub pinned: Option<String>,
    /// Whether its code budget ran out.
    pub exhausted: bool,
}

/// Whether to measure another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// As long as the design has one.
    Block,
    /// No: the question is answered or the time is spent.
    Stop,
}

/// What a session reports while it runs; all methods default to silence.
pub trait Observer {
    /// A run ended well.
    fn run_done(&mut self) {}
    /// Block `blocks − 1` is complete; `samples` are those of the whole session.
    fn block_done(&mut self, blocks: u32, samples: &[Sample]) -> Next {
        let _ = (blocks, samples);
        Next::Block
    }
    /// Something the user should know, said once.
    fn warning(&mut self, text: &str) {
        let _ = text;
    }
}

/// Everything a session found. An interrupted experiment is resumed from it.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Measured runs in the order of time, those of an incomplete last block included.
    pub samples: Vec<Sample>,
    /// Number of complete blocks.
    pub complete_blocks: u32,
    /// Randomization of each program.
    pub states: Vec<ProgramState>,
    /// How it ended.
    pub ending: Ending,
}

impl Findings {
    /// Nothing yet about this many programs.
    #[must_use]
    pub fn none(programs: usize) -> Self {
        Self {
            samples: Vec::new(),
            complete_blocks: 0,
            states: vec![ProgramState::default(); programs],
            ending: Ending::Complete,
        }
    }
}

/// What to run, and how.
pub struct Task<'a> {
    /// The programs, as many as the design says.
    pub programs: &'a [Program],
    /// Which runs when.
    pub design: &'a Design,
    /// Under what conditions.
    pub conditions: &'a Conditions,
    /// What measures further figures.
    pub instruments: &'a mut [Box<dyn Instrument>],
}

/// The first output of a program, which all later ones must repeat.
struct Reference {
    sha256: String,
    run: PlannedRun,
}

struct Session<'a> {
    task: Task<'a>,
    stop: &'a Stop,
    observer: &'a mut dyn Observer,
    logs: TempDir,
    scratch: TempDir,
    references: Vec<Option<Reference>>,
    findings: Findings,
}

/// Runs the warm-up and all blocks of the design that are not in `earlier`, whose incomplete last
/// block is measured anew.
///
/// # Errors
/// When files for the logs of the runtime cannot be made or read. A program that
/// cannot be run is no error but [`Ending::Refused`].
pub fn measure(
    task: Task<'_>,
    mut earlier: Findings,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> io::Result<Findings> {
    let complete = earlier.complete_blocks;
    earlier.samples.retain(|sample| sample.block < complete);
    let temporary = |prefix| tempfile::Builder::new().prefix(prefix).tempdir();
    let mut session = Session {
        references: first_outputs(task.programs.len(), &earlier.samples),
        task,
        stop,
        observer,
        logs: temporary("szc-log-")?,
        scratch: temporary("szc-run-")?,
        findings: earlier,
    };
    session.findings.ending = session.carry_out()?;
    Ok(session.findings)
}

fn first_outputs(programs: usize, samples: &[Sample]) -> Vec<Option<Reference>> {
    let first = |program| {
        let sample = samples.iter().find(|sample| sample.program == program)?;
        let run = PlannedRun {
            phase: Phase::Measured,
            block: sample.block,
            position: sample.position,
            program,
            seed: sample.seed,
            padding_bytes: None,
        };
        Some(Reference { sha256: sample.stdout_sha256.clone(), run })
    };
    (0..programs).map(first).collect()
}

impl Session<'_> {
    fn carry_out(&mut self) -> io::Result<Ending> {
        let design = *self.task.design;
        let first_block = self.findings.complete_blocks;
        if first_block >= design.blocks {
            return Ok(Ending::Complete);
        }
        for run in design.warm_up_runs() {
            if let Err(ending) = self.run(run)? {
                return Ok(ending);
            }
        }
        for block in first_block..design.blocks {
            for run in design.block_runs(block) {
                match self.run(run)? {
                    Ok(sample) => self.findings.samples.push(sample),
                    Err(ending) => return Ok(ending),
                }
            }
            self.findings.complete_blocks = block + 1;
            if self.observer.block_done(block + 1, &self.findings.samples) == Next::Stop {
                break;
            }
        }
        Ok(Ending::Complete)
    }

    /// One run with what comes in front of it and behind: its sample, or why the session is over.
    fn run(&mut self, run: PlannedRun) -> io::Result<Result<Sample, Ending>> {
        if let Some(signal) = self.stop.signal() {
            return Ok(Err(Ending::Interrupted(signal)));
        }
        if let Err(ending) = self.errand("--prepare", self.task.conditions.prepare.clone())? {
            return Ok(Err(ending));
        }
        let measured = self.measured_run(run);
        let cleaned = self.errand("--cleanup", self.task.conditions.cleanup.clone())?;
        Ok(measured?.and_then(|sample| cleaned.map(|()| sample)))
    }

    /// A command of the user's that is not measured.
    fn errand(&self, option: &str, command: Option<String>) -> io::Result<Result<(), Ending>> {
        let Some(command) = command else {
            return Ok(Ok(()));
        };
        let argv = ["/bin/sh", "-c", &command].map(str::to_owned);
        let timeout = self.task.conditions.timeout;
        let invocation =
            Invocation { argv: &argv, environment: &[], timeout, folder: None, cpu: None };
        let outcome = child::run(&invocation, self.stop)?;
        if outcome.end == End::Exited(0) {
            return Ok(Ok(()));
        }
        Ok(Err(match self.stop.signal() {
            Some(signal) => Ending::Interrupted(signal),
            None => Ending::Refused(refusal::errand_failed(option, &command, &outcome, timeout)),
        }))
    }

    fn measured_run(&mut self, run: PlannedRun) -> io::Result<Result<Sample, Ending>> {
        let program = &self.task.programs[run.program];
        let conditions = self.task.conditions;
        let scratch = self.scratch.path();
        let (argv, environment) = self.command_of(run);
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), value.as_os_str())).collect();
        let invocation = Invocation {
            argv: &argv,
            environment: &environment,
            timeout: conditions.timeout,
            folder: program.folder.as_deref(),
            cpu: conditions.cpu,
        };
        for instrument in &mut *self.task.instruments {
            instrument.start(scratch)?;
        }
        let outcome = match child::run(&invocation, self.stop) {
            Ok(outcome) => outcome,
            Err(error) => {
                return Ok(Err(Ending::Refused(refusal::cannot_start(program, &argv, &error))));
            }
        };
        let log = RunLog::take(self.logs.path())?;
        if outcome.end != End::Exited(0) {
            // A program that dies of the user's Ctrl-C has not failed.
            return Ok(Err(match self.stop.signal() {
                Some(signal) => Ending::Interrupted(signal),
                None => {
                    Ending::Refused(refusal::failure(program, run, &outcome, conditions.timeout))
                }
            }));
        }
        let mut sample = outcome.sample(run);
        for instrument in &mut *self.task.instruments {
            match instrument.figures(scratch, &outcome) {
                Ok(figures) => sample.figures.extend(figures),
                Err(reason) => {
                    let text = refusal::no_figure(program, run, &reason);
                    return Ok(Err(Ending::Refused(text)));
                }
            }
        }
        empty(scratch)?;
        if let Some(refusal) = self.unfit(run, &sample) {
            return Ok(Err(Ending::Refused(refusal)));
        }
        self.note_randomization(run, &log, outcome.pid);
        self.observer.run_done();
        sample.relocations = log.relocations();
        sample.epochs = log.epochs();
        Ok(Ok(sample))
    }

    /// What is executed for a run: the arguments, and the variables set over the inherited ones.
    fn command_of(&self, run: PlannedRun) -> (Vec<String>, Vec<(String, OsString)>) {
        let scratch = self.scratch.path();
        let log_file = self.logs.path().join("%p.json");
        let mut argv = self.task.programs[run.program].argv.clone();
        let mut environment = vec![
            ("SZC_SEED".to_owned(), run.seed.to_string().into()),
            ("SZC_LOG".to_owned(), log_file.into_os_string()),
        ];
        if let Some(bytes) = run.padding_bytes {
            environment.push((PADDING_VARIABLE.to_owned(), padding(bytes).into()));
        }
        for instrument in &*self.task.instruments {
            argv = instrument.command(argv, scratch);
            environment.extend(instrument.environment(scratch));
        }
        (argv, environment)
    }

    /// Why a run that succeeded cannot be compared with the others.
    fn unfit(&mut self, run: PlannedRun, sample: &Sample) -> Option<String> {
        let programs = self.task.programs;
        let metric = &self.task.conditions.metric;
        let value = sample.value(metric);
        if !(value > 0.0 && value.is_finite()) {
            return Some(refusal::too_short(&programs[run.program], metric));
        }
        if !self.task.conditions.check_output {
            return None;
        }
        // Its own first run comes first: a program that does not repeat itself
        // is not to be reported as a difference between two.
        let own = run.program;
        let others = (0..programs.len()).filter(|index| *index != own);
        let differing = std::iter::once(own)
            .chain(others)
            .filter_map(|index| self.references[index].as_ref())
            .find(|reference| reference.sha256 != sample.stdout_sha256);
        if let Some(reference) = differing {
            return Some(refusal::output_differs(programs, reference.run, run));
        }
        self.references[own]
            .get_or_insert_with(|| Reference { sha256: sample.stdout_sha256.clone(), run });
        None
    }

    /// Keeps the log and warns, once per program and reason, when a layout was not random.
    fn note_randomization(&mut self, run: PlannedRun, log: &RunLog, pid: u32) {
        let program = &self.task.programs[run.program];
        let state = &mut self.findings.states[run.program];
        if let Some(principal) = log.principal(pid) {
            state.last_log = Some(principal.clone());
        }
        if state.not_randomized.is_none()
            && let Some(reason) = log.why_not_randomized(run.seed)
        {
            self.observer.warning(&refusal::one_layout_only(&program.title(), &reason));
            state.not_randomized = Some(reason);
        } else if state.not_randomized.is_none()
            && state.pinned.is_none()
            && let Some(reason) = log.pinned()
        {
            self.observer.warning(&refusal::in_part(program, &reason));
            state.pinned = Some(reason);
        }
        if !state.exhausted && log.exhausted() {
            state.exhausted = true;
            self.observer.warning(&refusal::budget_used_up(&program.title()));
        }
    }
}

/// Removes what an instrument left in its folder.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
