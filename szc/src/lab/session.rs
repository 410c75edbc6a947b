//! Carries out a plan: runs the programs, checks every run, and stops at the first that is unfit.
//!
//! A program is compared only as long as it succeeds and prints the same bytes as
//! the first run did. What was measured until then is kept.
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use tempfile::TempDir;

use super::design::{Design, Phase, PlannedRun};
use crate::measure::child::{self, End, Invocation, Outcome, Stop};
use crate::measure::program::Program;
use crate::measure::randomization::{RunLog, RuntimeLog};
use crate::measure::sample::{Metric, Sample};

/// What a session watches for.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Refuse programs whose stdout differs.
    pub output: bool,
    /// Refuse programs on which this metric is zero.
    pub metric: Metric,
    /// Kill and refuse a run that takes longer.
    pub timeout: Option<Duration>,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All blocks are measured.
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
    /// Whether its code budget ran out.
    pub exhausted: bool,
}

/// What a session reports while it runs; all methods default to silence.
pub trait Observer {
    /// A run ended well.
    fn run_done(&mut self) {}
    /// Block `blocks − 1` is complete; `samples` are those of the whole session.
    fn block_done(&mut self, blocks: u32, samples: &[Sample]) {
        let _ = (blocks, samples);
    }
    /// Something the user should know, said once.
    fn warning(&mut self, text: &str) {
        let _ = text;
    }
}

/// Everything a session found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Measured runs in the order of time, those of an incomplete last block included.
    pub samples: Vec<Sample>,
    /// Number of complete blocks.
    pub complete_blocks: u32,
    /// Randomization of A and B.
    pub states: [ProgramState; 2],
    /// How it ended.
    pub ending: Ending,
}

/// The first output of a program, which all later ones must repeat.
struct Reference {
    sha256: String,
    run: PlannedRun,
}

struct Session<'a> {
    programs: &'a [Program; 2],
    checks: Checks,
    stop: &'a Stop,
    observer: &'a mut dyn Observer,
    logs: TempDir,
    states: [ProgramState; 2],
    references: [Option<Reference>; 2],
}

/// Runs the warm-up and all blocks of `design`.
///
/// # Errors
/// When files for the logs of the runtime cannot be made or read. A program that
/// cannot be run is no error but [`Ending::Refused`].
pub fn measure(
    programs: &[Program; 2],
    design: &Design,
    checks: Checks,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> io::Result<Findings> {
    let mut session = Session {
        programs,
        checks,
        stop,
        observer,
        logs: tempfile::Builder::new().prefix("szc-log-").tempdir()?,
        states: Default::default(),
        references: Default::default(),
    };
    let mut samples = Vec::new();
    let mut complete_blocks = 0;
    let ending = session.carry_out(design, &mut samples, &mut complete_blocks)?;
    Ok(Findings { samples, complete_blocks, states: session.states, ending })
}

impl Session<'_> {
    fn carry_out(
        &mut self,
        design: &Design,
        samples: &mut Vec<Sample>,
        complete_blocks: &mut u32,
    ) -> io::Result<Ending> {
        for run in design.warm_up_runs() {
            if let Err(ending) = self.run(run)? {
                return Ok(ending);
            }
        }
        for block in 0..design.blocks {
            for run in design.block_runs(block) {
                match self.run(run)? {
                    Ok(sample) => samples.push(sample),
                    Err(ending) => return Ok(ending),
                }
            }
            *complete_blocks = block + 1;
            self.observer.block_done(block + 1, samples);
        }
        Ok(Ending::Complete)
    }

    /// One run: its sample, or why the session is over.
    fn run(&mut self, run: PlannedRun) -> io::Result<Result<Sample, Ending>> {
        if let Some(signal) = self.stop.signal() {
            return Ok(Err(Ending::Interrupted(signal)));
        }
        let program = &self.programs[run.program.index()];
        let seed = run.seed.to_string();
        let log_file = self.logs.path().join("%p.json");
        let invocation = Invocation {
            argv: &program.argv,
            environment: &[("SZC_SEED", seed.as_ref()), ("SZC_LOG", log_file.as_os_str())],
            timeout: self.checks.timeout,
        };
        let outcome = match child::run(&invocation, self.stop) {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(Ending::Refused(cannot_start(program, &error)))),
        };
        let log = RunLog::take(self.logs.path())?;
        if outcome.end != End::Exited(0) {
            // A program that dies of the user's Ctrl-C has not failed.
            return Ok(Err(match self.stop.signal() {
                Some(signal) => Ending::Interrupted(signal),
                None => Ending::Refused(failure(program, run, &outcome, self.checks.timeout)),
            }));
        }
        if let Some(refusal) = self.unfit(run, &outcome) {
            return Ok(Err(Ending::Refused(refusal)));
        }
        self.note_randomization(run, &log, outcome.pid);
        self.observer.run_done();
        let mut sample = Sample::new(run.block, run.position, run.program, run.seed, &outcome);
        sample.relocations = log.relocations();
        sample.epochs = log.epochs();
        Ok(Ok(sample))
    }

    /// Why a run that succeeded cannot be compared with the others.
    fn unfit(&mut self, run: PlannedRun, outcome: &Outcome) -> Option<String> {
        let program = &self.programs[run.program.index()];
        let sample = Sample::new(run.block, run.position, run.program, run.seed, outcome);
        if sample.value(self.checks.metric) <= 0.0 {
            return Some(too_short(program, self.checks.metric));
        }
        if !self.checks.output {
            return None;
        }
        // Its own first run comes first: a program that does not repeat itself
        // is not to be reported as a difference between the two.
        let own = run.program.index();
        let differing = [own, 1 - own]
            .iter()
            .filter_map(|index| self.references[*index].as_ref())
            .find(|reference| reference.sha256 != outcome.stdout_sha256);
        if let Some(reference) = differing {
            return Some(output_differs(self.programs, reference.run, run));
        }
        self.references[own]
            .get_or_insert_with(|| Reference { sha256: outcome.stdout_sha256.clone(), run });
        None
    }

    /// Keeps the log and warns, once per program and reason, when a layout was not random.
    fn note_randomization(&mut self, run: PlannedRun, log: &RunLog, pid: u32) {
        let program = &self.programs[run.program.index()];
        let state = &mut self.states[run.program.index()];
        if let Some(principal) = log.principal(pid) {
            state.last_log = Some(principal.clone());
        }
        if state.not_randomized.is_none()
            && let Some(reason) = log.why_not_randomized(run.seed)
        {
            self.observer.warning(&format!(
                "{} is not randomized: {reason}. The verdict will be about one layout only; to make it about the program, build it with CC=szc, and run it without SZC_CODE=0 and the like",
                program.title()
            ));
            state.not_randomized = Some(reason);
        }
        if !state.exhausted && log.exhausted() {
            state.exhausted = true;
            self.observer.warning(&format!(
                "{} used up its code budget, after which its layout stood still: raise SZC_CODE_BUDGET_MIB or SZC_INTERVAL_MS",
                program.title()
            ));
        }
    }
}

fn when(run: PlannedRun) -> String {
    match run.phase {
        Phase::WarmUp => "in warm-up".to_owned(),
        Phase::Measured => format!("in block {}", run.block + 1),
    }
}

fn cannot_start(program: &Program, error: &io::Error) -> String {
    format!(
        "{} cannot be run: {}: {error}\n  needed: a program that can be executed from this folder\n  next: check the path, and quote the whole command: -- './program input' '…'",
        program.title(),
        program.argv[0],
    )
}

fn failure(
    program: &Program,
    run: PlannedRun,
    outcome: &Outcome,
    timeout: Option<Duration>,
) -> String {
    let found = match outcome.end {
        End::Exited(status) => format!("ended with exit status {status}"),
        End::Signalled(signal) => format!("was killed by {}", signal_name(signal)),
        End::TimedOut => format!(
            "was still running after {} s (--timeout) and was killed",
            timeout.unwrap_or_default().as_secs_f64()
        ),
    };
    let mut text = format!(
        "{} {found} {} with layout seed {}\n  needed: programs that succeed (exit status 0) in every layout\n  next: repeat this run: {}",
        program.title(),
        when(run),
        run.seed,
        program.reproduction(run.seed),
    );
    let stderr = String::from_utf8_lossy(&outcome.stderr_tail);
    let lines: Vec<&str> = stderr.trim_end().lines().collect();
    if lines.iter().any(|line| !line.trim().is_empty()) {
        text.push_str("\n  the end of its stderr:");
        for line in &lines[lines.len().saturating_sub(10)..] {
            text.push_str("\n    ");
            text.push_str(line);
        }
    }
    text
}

fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or_else(|_| format!("signal {signal}"), |known| known.to_string())
}

fn output_differs(programs: &[Program; 2], first: PlannedRun, second: PlannedRun) -> String {
    let title = |run: PlannedRun| programs[run.program.index()].title();
    let repeat = |run: PlannedRun| programs[run.program.index()].reproduction(run.seed);
    let found = if first.program == second.program {
        format!("stdout of {} differs between two runs", title(first))
    } else {
        format!("stdout of {} and {} differs", title(first), title(second))
    };
    format!(
        "{found} ({} and {})\n  needed: programs that do the same work, which identical output shows\n  next: look at the difference of\n    {}\n    {}\n  or, when output may differ (times, addresses), add --no-check-output",
        when(first),
        when(second),
        repeat(first),
        repeat(second),
    )
}

fn too_short(program: &Program, metric: Metric) -> String {
    let what = match metric {
        Metric::Cpu => "CPU time",
        Metric::Wall => "wall time",
        Metric::Rss => "resident memory",
    };
    format!(
        "{} is too short to measure by {what}: the kernel accounts none to it\n  needed: a run of some milliseconds at least, better a second\n  next: give it more work, or add --metric wall",
        program.title()
    )
}

#[cfg(test)]
mod tests;
