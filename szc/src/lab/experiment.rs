//! An experiment from its description to its samples file: measure, judge after every block, keep.
//!
//! The subcommands differ in what they ask and print; this is what they have in common. Results
//! are made from the file, so that what is printed, what is saved and what a later reading says
//! are the same.
#![forbid(unsafe_code)]

mod bases;
mod pace;
mod schedule;
mod watch;

pub(super) use self::watch::Watch;
pub use self::watch::{Keep, Stopping};

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use self::schedule::Scheduled;
use super::analysis::analyse;
use super::output;
use super::session::{Conditions, Ending, Findings, ProgramState, Task, measure};
use crate::measure::child::guardian;
use crate::measure::instrument::Instrument;
use crate::measure::machine;
use crate::measure::program::Program;
use crate::measure::shared;
use crate::measure::stop::{Stop, stop_on_signals};
use crate::samples::design::Design;
use crate::samples::{
    Command, DesignRecord, EndedRecord, OrderRecord, ProgramRecord, RowTolerance, SamplesFile,
    ScheduleRecord, io,
};

/// How runs are measured.
pub struct Measurement {
    /// Under what conditions.
    pub conditions: Conditions,
    /// What measures further figures.
    pub instruments: Vec<Box<dyn Instrument>>,
    /// The value of --metric where it says more than the metric's name.
    pub metric_option: Option<String>,
}

/// Everything about an experiment that is known before its first run.
pub struct Experiment {
    /// The subcommand.
    pub command: Command,
    /// Its command line, word by word.
    pub command_line: Vec<String>,
    /// What is measured.
    pub programs: Vec<Program>,
    /// Which runs when.
    pub design: Design,
    /// How the runs are measured.
    pub measurement: Measurement,
    /// When to stop.
    pub stopping: Stopping,
    /// What rows of a harness are tolerated, if not what all are.
    pub row_tolerances: Vec<RowTolerance>,
    /// Whether nobody said how many blocks there are at most.
    pub usual_budget: bool,
    /// Where the samples go.
    pub json: Option<PathBuf>,
    /// Whether progress and warnings are silenced.
    pub quiet: bool,
    /// How the runs are scheduled, if that is known already.
    pub schedule: Option<ScheduleRecord>,
    /// What was measured before an interruption.
    pub earlier: Option<SamplesFile>,
    /// What makes its intervals wider than they could be, apart from the machine.
    pub advice: Vec<String>,
}

impl Experiment {
    /// An experiment of all its blocks, which nobody has begun and whose samples are not saved.
    #[must_use]
    pub fn new(
        command: Command,
        command_line: Vec<String>,
        programs: Vec<Program>,
        design: Design,
        measurement: Measurement,
    ) -> Self {
        Self {
            command,
            command_line,
            programs,
            design,
            measurement,
            stopping: Stopping::default(),
            row_tolerances: Vec::new(),
            usual_budget: false,
            json: None,
            quiet: false,
            schedule: None,
            earlier: None,
            advice: Vec::new(),
        }
    }

    /// What is printed in front of the report: the programs, and the seed.
    #[must_use]
    pub fn header(&self) -> String {
        let line = |program: &Program| format!("{}: {}\n", program.title(), program.command);
        let programs: String = self.programs.iter().map(line).collect();
        format!("{programs}--seed {}\n\n", self.design.seed)
    }

    /// Measures until the question is answered, the budget is spent, a signal comes or a program
    /// fails. The file it returns has its results; it is not saved yet, see [`output::save`],
    /// but it was saved about every minute on the way.
    ///
    /// # Errors
    /// When szc itself cannot work. A program that fails is [`EndedRecord::Refused`].
    pub fn carry_out(self) -> Result<SamplesFile> {
        if let Some(path) = &self.json {
            io::check_writable(path)?;
        }
        let path = self.json.clone().filter(|path| !io::is_special(path));
        let keep = path.map(|path| -> Keep<'_> {
            Box::new(move |file: &SamplesFile| output::save(&path, file))
        });
        self.carry_out_keeping(keep)
    }

    /// As [`Self::carry_out`], where somebody else keeps what there is on the way.
    ///
    /// # Errors
    /// Those of [`Self::carry_out`].
    pub(super) fn carry_out_keeping(mut self, keep: Option<Keep<'_>>) -> Result<SamplesFile> {
        let stop = stop_on_signals().context("cannot handle signals")?;
        guardian::start().context("cannot start what ends programs if szc is killed")?;
        let warm_rounds = match self.decide_schedule(stop)? {
            Ok(rounds) => rounds,
            Err(ending) => {
                let mut file = self.empty_file();
                fill_in(&mut file, Findings { ending, ..Findings::none(self.programs.len()) });
                analyse(&mut file);
                return Ok(file);
            }
        };
        let mut file = self.empty_file();
        let done = self.earlier.as_ref().map_or(0, |earlier| earlier.runs.len());
        let mut watch = Watch::new(&file, self.stopping, self.quiet, done, keep);
        for advice in &file.advice {
            watch.warn(advice);
        }
        let earlier = match self.earlier.take() {
            Some(earlier) => Findings {
                samples: earlier.runs,
                complete_blocks: earlier.design.complete_blocks,
                states: earlier.programs.iter().map(state_of).collect(),
                ending: Ending::Complete,
            },
            None => Findings::none(self.programs.len()),
        };
        let findings = if watch.is_decided(earlier.complete_blocks, &earlier.samples) {
            earlier
        } else {
            let task = Task {
                programs: &self.programs,
                design: &self.design,
                conditions: &self.measurement.conditions,
                instruments: &self.measurement.instruments,
                warm_rounds,
            };
            measure(task, earlier, stop, &mut watch)
                .context("cannot read the log of the measured programs")?
        };
        watch.finish();
        fill_in(&mut file, findings);
        analyse(&mut file);
        Ok(file)
    }

    /// Schedules the runs, if that was not done before; the rounds of the warm-up that this was
    /// good for, or why the experiment is over.
    fn decide_schedule(&mut self, stop: &Stop) -> Result<Result<u32, Ending>> {
        let begun = self.schedule.is_some();
        let scheduled = match self.schedule.take() {
            Some(record) => Scheduled { record, piloted: false },
            None => {
                let (bases, reason) = bases::possible(self.design.bases, &self.programs);
                self.design.bases = bases;
                self.advice.extend(reason);
                let conditions = &self.measurement.conditions;
                match schedule::decide(&self.programs, &self.design, conditions, stop)? {
                    Ok(Scheduled { record, piloted }) => {
                        Scheduled { record: ScheduleRecord { bases, ..record }, piloted }
                    }
                    Err(ending) => return Ok(Err(ending)),
                }
            }
        };
        let record = scheduled.record;
        self.design.bases = record.bases;
        let conditions = &mut self.measurement.conditions;
        self.design.by_turns = record.by_turns;
        if record.by_turns && self.usual_budget && !begun {
            // As many runs: those blocks have half of them.
            self.design.blocks *= 2;
        }
        conditions.cpu = record.cpu;
        conditions.turn = record.turn_ms.map(|turn| Duration::from_secs_f64(turn / 1e3));
        self.schedule = Some(record);
        Ok(Ok(u32::from(scheduled.piloted)))
    }

    /// The file before the first run.
    pub(super) fn empty_file(&self) -> SamplesFile {
        let machine = machine::current();
        let created = match &self.earlier {
            Some(earlier) => earlier.created.clone(),
            None => io::iso_8601(SystemTime::now()),
        };
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let design = DesignRecord {
            tolerance: self.stopping.tolerance,
            row_tolerances: self.row_tolerances.clone(),
            slowest_layout: self.stopping.slowest_layout,
            precision: self.stopping.precision,
            budget_s: seconds(self.stopping.time),
            metric_option: self.measurement.metric_option.clone(),
            check_output: self.measurement.conditions.check_output,
            timeout_s: seconds(self.measurement.conditions.timeout),
            turns: Some(self.measurement.conditions.turns.to_string()),
            cpu: self.measurement.conditions.cpu,
            prepare: self.measurement.conditions.prepare.clone(),
            cleanup: self.measurement.conditions.cleanup.clone(),
            ..DesignRecord::new(
                self.design,
                self.stopping.rule,
                self.measurement.conditions.metric.clone(),
            )
        };
        // Identified before the runs: a file rebuilt meanwhile is not the one that ran.
        let record =
            |program| ProgramRecord { schedule: self.schedule.clone(), ..record_of(program) };
        let mut programs: Vec<ProgramRecord> = self.programs.iter().map(record).collect();
        if self.design.coupled {
            shared::note(&mut programs);
        }
        let args = self.command_line.clone();
        SamplesFile {
            created,
            advice: [machine::advice(&machine), self.advice.clone()].concat(),
            ..SamplesFile::new(self.command, args, design, machine, programs)
        }
    }
}

fn record_of(program: &Program) -> ProgramRecord {
    ProgramRecord {
        label: program.label.clone(),
        name: program.name.clone(),
        workload: None,
        level: None,
        machine: None,
        command: program.command.clone(),
        via_shell: program.via_shell,
        folder: program.folder.clone(),
        executable: program.executable(),
        orders: program.orders.iter().map(order_record).collect(),
        randomized: false,
        not_randomized_reason: None,
        randomization: None,
        schedule: None,
        shared: None,
    }
}

fn order_record(program: &Program) -> OrderRecord {
    OrderRecord {
        name: program.name.clone().unwrap_or_default(),
        command: program.command.clone(),
        folder: program.folder.clone(),
        executable: program.executable(),
    }
}

fn state_of(record: &ProgramRecord) -> ProgramState {
    ProgramState {
        last_log: record.randomization.clone(),
        not_randomized: record.not_randomized_reason.clone(),
        pinned: record.pinned(),
        exhausted: record.randomization.as_ref().is_some_and(|log| log.exhausted),
    }
}

/// What a session found becomes part of the file.
fn fill_in(file: &mut SamplesFile, findings: Findings) {
    file.design.complete_blocks = findings.complete_blocks;
    file.runs = findings.samples;
    for (record, state) in file.programs.iter_mut().zip(findings.states) {
        record.randomized = state.not_randomized.is_none();
        record.not_randomized_reason = state.not_randomized;
        record.randomization = state.last_log;
    }
    file.ended = match findings.ending {
        Ending::Complete => EndedRecord::Complete,
        Ending::Interrupted(signal) => EndedRecord::Interrupted { signal },
        Ending::Refused(reason) => EndedRecord::Refused { reason },
    };
}

#[cfg(test)]
mod tests;
