//! Carries out a plan: runs the programs, checks every run, and stops at the first that is unfit.
//!
//! A program is compared only as long as it succeeds and prints the same bytes as
//! the first run did. What was measured until then is kept.
#![forbid(unsafe_code)]

mod blocks;
mod conditions;
mod pilot;
mod refusal;
mod single;

pub(super) use self::blocks::Blocks;
pub use self::blocks::{Ending, Next};
pub use self::conditions::Conditions;
pub use self::pilot::pilot;

use std::io;

use self::single::ended_well;
pub(super) use self::single::start;
use crate::measure::child::{self, End, Invocation};
use crate::measure::instrument::Instrument;
use crate::measure::lane::{Lane, Ran, Start, round};
use crate::measure::program::Program;
use crate::measure::randomization::RunLog;
use crate::measure::stop::Stop;
use crate::samples::Sample;
use crate::samples::design::{Bases, Design, Phase, PlannedRun};
use crate::samples::runtime_log::RuntimeLog;

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
    /// What measures further figures, one of each kind.
    pub instruments: &'a [Box<dyn Instrument>],
    /// Rounds of the warm-up that a pilot was good for.
    pub warm_rounds: u32,
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
    /// As many as there are runs under way at once.
    lanes: Vec<Lane>,
    /// By how much the environment of each program is longer, so that the stacks of all begin
    /// alike.
    levelling: Vec<u32>,
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
    let at_once = if task.design.by_turns { task.design.runs_by_turns() } else { 1 };
    let mut session = Session {
        references: first_outputs(task.programs.len(), &earlier.samples),
        levelling: levelling(task.programs, task.design.bases),
        lanes: Lane::several(at_once, task.instruments)?,
        task,
        stop,
        observer,
        findings: earlier,
    };
    session.findings.ending = session.carry_out()?;
    Ok(session.findings)
}

/// What the environment of each program needs to be longer by, where the plan chooses bases.
pub(super) fn levelling(programs: &[Program], bases: Bases) -> Vec<u32> {
    let lengths: Vec<usize> = programs.iter().map(Program::start_bytes).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let less = |length: usize| u32::try_from(longest - length).unwrap_or(0);
    lengths.into_iter().map(|own| if bases == Bases::Kernel { 0 } else { less(own) }).collect()
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
            redrawn: None,
            layouts: [None; 3],
            padding_bytes: None,
            addresses: None,
            setup: None,
        };
        Some(Reference { sha256: sample.stdout_sha256.clone(), run })
    };
    (0..programs).map(first).collect()
}

impl Blocks for Session<'_> {
    fn make(&mut self, runs: &[PlannedRun]) -> io::Result<Result<(), Ending>> {
        Ok(self.round(runs)?.map(|samples| self.findings.samples.extend(samples)))
    }

    fn block_done(&mut self, blocks: u32) -> Next {
        self.findings.complete_blocks = blocks;
        self.observer.block_done(blocks, &self.findings.samples)
    }
}

impl Session<'_> {
    fn carry_out(&mut self) -> io::Result<Ending> {
        let design = *self.task.design;
        let first_block = self.findings.complete_blocks;
        if first_block >= design.blocks {
            return Ok(Ending::Complete);
        }
        let warm = self.task.warm_rounds;
        for run in design.warm_up_runs().filter(|run| run.block >= warm) {
            if let Err(ending) = self.round(&[run])? {
                return Ok(ending);
            }
        }
        self.carry_out_blocks(&design, first_block)
    }

    /// Runs that are under way at once, with what comes in front of them and behind: their samples,
    /// or why the session is over.
    fn round(&mut self, runs: &[PlannedRun]) -> io::Result<Result<Vec<Sample>, Ending>> {
        let mut runs = runs.to_vec();
        for run in &mut runs {
            let more = self.levelling[run.program];
            run.padding_bytes = run.padding_bytes.map(|bytes| bytes + more);
        }
        if let Some(signal) = self.stop.signal() {
            return Ok(Err(Ending::Interrupted(signal)));
        }
        if let Err(ending) = self.errand("--prepare", self.task.conditions.prepare.clone())? {
            return Ok(Err(ending));
        }
        let measured = self.measured_round(&runs);
        let cleaned = self.errand("--cleanup", self.task.conditions.cleanup.clone())?;
        Ok(measured?.and_then(|samples| cleaned.map(|()| samples)))
    }

    /// A command of the user's that is not measured.
    fn errand(&self, option: &str, command: Option<String>) -> io::Result<Result<(), Ending>> {
        let Some(command) = command else {
            return Ok(Ok(()));
        };
        let argv = ["/bin/sh", "-c", &command].map(str::to_owned);
        let timeout = self.task.conditions.timeout;
        let invocation = Invocation { timeout, ..Invocation::new(&argv) };
        let outcome = child::run(&invocation, self.stop)?;
        if outcome.end == End::Exited(0) {
            return Ok(Ok(()));
        }
        Ok(Err(match self.stop.signal() {
            Some(signal) => Ending::Interrupted(signal),
            None => Ending::Refused(refusal::errand_failed(option, &command, &outcome, timeout)),
        }))
    }

    fn measured_round(&mut self, runs: &[PlannedRun]) -> io::Result<Result<Vec<Sample>, Ending>> {
        let task = &self.task;
        let starts: Vec<Start<'_>> =
            runs.iter().map(|run| start(task.programs, task.conditions, *run)).collect();
        let ran = round(&mut self.lanes, &starts, self.stop)?;
        // A run that was killed because another one failed is not the one to report.
        let (killed, ended): (Vec<_>, Vec<_>) =
            runs.iter().zip(ran).partition(|(_, ran)| ran.was_abandoned);
        let mut samples = Vec::new();
        for (run, ran) in ended.into_iter().chain(killed) {
            match self.sample(*run, &ran) {
                Ok(sample) => samples.push(sample),
                Err(ending) => return Ok(Err(ending)),
            }
        }
        samples.sort_by_key(|sample| sample.position);
        Ok(Ok(samples))
    }

    /// What a run was, if it is fit to be compared.
    fn sample(&mut self, run: PlannedRun, ran: &Ran) -> Result<Sample, Ending> {
        let program = &self.task.programs[run.program];
        let outcome = ended_well(program, run, ran, self.task.conditions, self.stop)?;
        let mut sample = outcome.sample(run);
        match &ran.figures {
            Ok(figures) => sample.figures.extend(figures.clone()),
            Err(reason) => {
                return Err(Ending::Refused(refusal::no_figure(program, run, reason)));
            }
        }
        let pid = outcome.pid;
        if let Some(refusal) = self.unfit(run, &sample) {
            return Err(Ending::Refused(refusal));
        }
        self.note_randomization(run, &ran.log, pid);
        self.observer.run_done();
        sample.relocations = ran.log.relocations();
        sample.epochs = ran.log.epochs();
        Ok(sample)
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
        if self.task.design.setups.is_some() {
            // One layout is what it is about.
            state.not_randomized = state.not_randomized.take().or(log.why_not_randomized(run.seed));
        } else if state.not_randomized.is_none()
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

#[cfg(test)]
mod tests;
