//! Going on with an interrupted experiment: the same programs, design and seed.
//!
//! The plan of a block follows from the seed alone, so the blocks that are missing are those that
//! the uninterrupted experiment would have had.
#![forbid(unsafe_code)]

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::experiment::{Experiment, Measurement, Stopping};
use super::options::MetricChoice;
use super::session::Conditions;
use super::values::Budget;
use crate::measure::machine;
use crate::measure::program::Program;
use crate::measure::turns::Turns;
use crate::samples::design::Arrangement;
use crate::samples::{
    Command, DesignRecord, Executable, Metric, ProgramRecord, RuleRecord, SamplesFile,
    ScheduleRecord, io,
};

/// The rest of the experiment in the file at `path`.
///
/// `budget` replaces that of the file, which only the sequential rule allows. Samples are saved to
/// the same file unless `json` is another.
///
/// # Errors
/// When the file cannot be read, is of another subcommand, or a program is not the one it was.
pub(super) fn rest_of(
    command: Command,
    path: &Path,
    budget: Option<Budget>,
    command_line: Vec<String>,
) -> Result<Experiment> {
    let (file, programs) = reopened(command, path)?;
    let rest = continued(file, programs, path, budget, command_line)?;
    Ok(Experiment { json: Some(path.to_owned()), ..rest })
}

/// What is left of the experiment that `file`, called `path` in errors, has the beginning of.
///
/// # Errors
/// When it cannot go on.
pub(super) fn continued(
    file: SamplesFile,
    programs: Vec<Program>,
    path: &Path,
    budget: Option<Budget>,
    command_line: Vec<String>,
) -> Result<Experiment> {
    let command = file.command;
    if file.design.plan.arrangement == Arrangement::Groups {
        bail!("{} joins two measurements: go on with those", path.display());
    }
    if file.design.plan.programs != programs.len() {
        bail!("{}: its design has another number of programs than it names", path.display());
    }
    let design = &file.design;
    let choice = MetricChoice::new(metric_of(design))?;
    let mut plan = design.plan;
    let mut time = design.budget_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    if let Some(budget) = budget {
        if design.rule == RuleRecord::Fixed {
            bail!(
                "{} has a fixed number of blocks, {}: an experiment whose end may be moved has to \
                 be begun without --fixed",
                path.display(),
                plan.blocks
            );
        }
        plan.blocks = budget.blocks();
        time = budget.time();
    }
    let measurement = Measurement {
        conditions: conditions_of(design, choice.metric),
        instruments: choice.instruments,
        metric_option: choice.option,
    };
    let stopping = Stopping {
        rule: design.rule,
        tolerance: design.tolerance,
        slowest_layout: design.slowest_layout,
        precision: design.precision,
        time,
    };
    Ok(Experiment {
        schedule: schedule_of(&file),
        stopping,
        row_tolerances: file.design.row_tolerances.clone(),
        earlier: Some(SamplesFile {
            results: Vec::new(),
            summaries: Vec::new(),
            bias: None,
            ..file
        }),
        ..Experiment::new(command, command_line, programs, plan, measurement)
    })
}

/// The samples file at `path`, if it is of `command`, and its programs, if they are what they were.
///
/// # Errors
/// When it cannot be read, is of another subcommand, or a program is not the one it was.
pub(super) fn reopened(command: Command, path: &Path) -> Result<(SamplesFile, Vec<Program>)> {
    let file = io::read(path)?;
    if file.command != command {
        bail!(
            "{} is of szc {}, and this is szc {}: give it to the same subcommand",
            path.display(),
            file.command.name(),
            command.name()
        );
    }
    let (then, now) = (file.machine.identity(), machine::current().identity());
    if then != now {
        bail!(
            "{} was measured on another machine ({then}; this is {now}), and what two machines \
             measure is not one sample: go on there, or begin a new experiment",
            path.display()
        );
    }
    let programs =
        file.programs.iter().enumerate().map(|(index, record)| same_program(index, record));
    let programs = programs.collect::<Result<Vec<Program>>>()?;
    Ok((file, programs))
}

/// The value of --metric that the experiment had.
pub(super) fn metric_of(design: &DesignRecord) -> &str {
    design.metric_option.as_deref().unwrap_or(design.metric.name())
}

/// The conditions that the runs had.
pub(super) fn conditions_of(design: &DesignRecord, metric: Metric) -> Conditions {
    Conditions {
        check_output: design.check_output,
        metric,
        timeout: design.timeout_s.and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
        cpu: design.cpu,
        turns: turns_of(design),
        turn: None,
        prepare: design.prepare.clone(),
        cleanup: design.cleanup.clone(),
    }
}

/// What --turns said; files from before know of no turns.
fn turns_of(design: &DesignRecord) -> Turns {
    let read = design.turns.as_deref().map(Turns::parse);
    read.and_then(Result::ok).unwrap_or(Turns::Off)
}

/// How the runs of a file were scheduled: those that are missing are to be like them.
pub(super) fn schedule_of(file: &SamplesFile) -> Option<ScheduleRecord> {
    let known = file.programs.first().and_then(|program| program.schedule.clone());
    let begun = (file.design.complete_blocks > 0).then(|| {
        ScheduleRecord::one_after_the_other(file.design.cpu, "as the experiment was begun")
    });
    known.or(begun)
}

/// The program of a record, if its file still is what it was.
fn same_program(index: usize, record: &ProgramRecord) -> Result<Program> {
    let mut program = Program::new(index, record.name.clone(), &record.command)?;
    program.label.clone_from(&record.label);
    program.folder.clone_from(&record.folder);
    check_same(&program, record.executable.as_ref())?;
    for order in &record.orders {
        let mut linked = Program::new(index, Some(order.name.clone()), &order.command)?;
        linked.folder.clone_from(&order.folder);
        check_same(&linked, order.executable.as_ref())?;
        program.orders.push(linked);
    }
    Ok(program)
}

fn check_same(program: &Program, then: Option<&Executable>) -> Result<()> {
    let hash = |found: Option<&Executable>| found.map(|file| file.sha256.clone());
    let now = program.executable();
    if hash(now.as_ref()) != hash(then) {
        let place = then.or(now.as_ref());
        bail!(
            "{} is not the program that was measured: {} has changed, is gone, or another one is \
             found first; restore it, or begin a new experiment",
            program.title(),
            place.map_or_else(|| program.command.clone(), |file| file.path.display().to_string())
        );
    }
    Ok(())
}
