//! An experiment from its description to its samples file: measure, judge after every block, keep.
//!
//! The subcommands differ in what they ask and print; this is what they have in common. Results
//! are made from the file, so that what is printed, what is saved and what a later reading says
//! are the same.
#![forbid(unsafe_code)]

mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use self::watch::Watch;
use super::EXIT_VERDICT;
use super::design::{Arrangement, Design};
use super::output;
use super::session::{Conditions, Ending, Findings, ProgramState, Task, measure};
use crate::measure::child::stop_on_signals;
use crate::measure::instrument::Instrument;
use crate::measure::machine::Machine;
use crate::measure::program::Program;
use crate::report::comparison::results;
use crate::report::groups::group_results;
use crate::report::json::{
    self, Command, DesignRecord, EndedRecord, FORMAT, ProgramRecord, RuleRecord, SamplesFile,
    VERSION,
};
use crate::report::summary::summaries;

/// When to stop, and by what rule to judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// When the data are looked at.
    pub rule: RuleRecord,
    /// Tolerated change as a share, for questions about two programs.
    pub tolerance: Option<f64>,
    /// Half the width of the interval to reach, as a share of the mean.
    pub precision: Option<f64>,
    /// No further block is begun after this time.
    pub time: Option<Duration>,
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
    /// Under what conditions.
    pub conditions: Conditions,
    /// When to stop.
    pub stopping: Stopping,
    /// What measures further figures.
    pub instruments: Vec<Box<dyn Instrument>>,
    /// The value of --metric where it says more than the metric's name.
    pub metric_option: Option<String>,
    /// Where the samples go.
    pub json: Option<PathBuf>,
    /// Whether progress and warnings are silenced.
    pub quiet: bool,
    /// What was measured before an interruption.
    pub earlier: Option<SamplesFile>,
}

/// The words of a command line.
#[must_use]
pub fn command_line(command: &str, arguments: &[OsString]) -> Vec<String> {
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    ["szc".to_owned(), command.to_owned()].into_iter().chain(words).collect()
}

/// Name of a subcommand.
#[must_use]
pub fn command_name(command: Command) -> &'static str {
    match command {
        Command::Run => "run",
        Command::Compare => "compare",
        Command::Gate => "gate",
        Command::Sweep => "sweep",
    }
}

/// Keeps what an experiment has measured so far.
pub(super) type Keep<'a> = Box<dyn FnMut(&SamplesFile) -> Result<()> + 'a>;

impl Experiment {
    /// Measures until the question is answered, the budget is spent, a signal comes or a program
    /// fails. The file it returns has its results; it is not saved yet, see [`output::save`],
    /// but it was saved about every minute on the way.
    ///
    /// # Errors
    /// When szc itself cannot work. A program that fails is [`EndedRecord::Refused`].
    pub fn carry_out(self) -> Result<SamplesFile> {
        if let Some(path) = &self.json {
            json::check_writable(path)?;
        }
        let path = self.json.clone().filter(|path| !json::is_special(path));
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
        let mut file = self.empty_file();
        let mut watch = Watch::new(&self, &file, keep);
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
            let stop = stop_on_signals().context("cannot handle signals")?;
            let task = Task {
                programs: &self.programs,
                design: &self.design,
                conditions: &self.conditions,
                instruments: &mut self.instruments,
            };
            measure(task, earlier, stop, &mut watch)
                .context("cannot read the log of the measured programs")?
        };
        watch.finish();
        fill_in(&mut file, findings);
        analyse(&mut file);
        Ok(file)
    }

    /// The file before the first run.
    pub(super) fn empty_file(&self) -> SamplesFile {
        let machine = Machine::current();
        let created = match &self.earlier {
            Some(earlier) => earlier.created.clone(),
            None => json::iso_8601(SystemTime::now()),
        };
        SamplesFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            created,
            szc_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command,
            command_line: self.command_line.clone(),
            design: DesignRecord {
                plan: self.design,
                rule: self.stopping.rule,
                tolerance: self.stopping.tolerance,
                precision: self.stopping.precision,
                budget_s: self.stopping.time.map(|time| time.as_secs_f64()),
                complete_blocks: 0,
                metric: self.conditions.metric.clone(),
                metric_option: self.metric_option.clone(),
                check_output: self.conditions.check_output,
                timeout_s: self.conditions.timeout.map(|limit| limit.as_secs_f64()),
                cpu: self.conditions.cpu,
                prepare: self.conditions.prepare.clone(),
                cleanup: self.conditions.cleanup.clone(),
                shard: None,
            },
            advice: machine.advice(),
            machine,
            machines: Vec::new(),
            // Identified before the runs: a file rebuilt meanwhile is not the one that ran.
            programs: self.programs.iter().map(record_of).collect(),
            runs: Vec::new(),
            ended: EndedRecord::Unfinished,
            results: Vec::new(),
            summaries: Vec::new(),
            suite: None,
            over_machines: Vec::new(),
        }
    }
}

/// Writes down all results that follow from the runs of `file`. Of an experiment that ended with a
/// refusal there are none: whatever was seen, a program is unfit.
pub fn analyse(file: &mut SamplesFile) {
    let refused = matches!(file.ended, EndedRecord::Refused { .. });
    file.results = match file.design.plan.arrangement {
        _ if refused => Vec::new(),
        Arrangement::Groups => group_results(file),
        Arrangement::Mirrored | Arrangement::Layouts => results(file),
    };
    file.summaries = if refused { Vec::new() } else { summaries(file) };
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
        randomized: false,
        not_randomized_reason: None,
        randomization: None,
    }
}

fn state_of(record: &ProgramRecord) -> ProgramState {
    ProgramState {
        last_log: record.randomization.clone(),
        not_randomized: record.not_randomized_reason.clone(),
        stays: record.stays(),
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

/// What to do with a finished experiment: print its report, save it, and complain about a program
/// that failed. The exit code, if it does not depend on the verdict.
///
/// # Errors
/// When the report cannot be printed or the samples cannot be saved where they should be. Neither
/// keeps the other from being done.
pub fn conclude(json: Option<&PathBuf>, file: &SamplesFile, report: &str) -> Result<u8> {
    let said = match &file.ended {
        EndedRecord::Refused { reason } => {
            output::complain(command_name(file.command), reason);
            Ok(())
        }
        _ => output::say(report),
    };
    let saved = json.map_or(Ok(()), |path| output::save(path, file));
    saved?;
    said?;
    Ok(output::exit_code(&file.ended))
}

/// As [`conclude`], of samples that were measured before: how that ended says nothing about reading
/// them, unless a program was unfit.
///
/// # Errors
/// Those of [`conclude`].
pub fn conclude_reread(json: Option<&PathBuf>, file: &SamplesFile, report: &str) -> Result<u8> {
    let code = conclude(json, file, report)?;
    Ok(if matches!(file.ended, EndedRecord::Refused { .. }) { code } else { EXIT_VERDICT })
}
