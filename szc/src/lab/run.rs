//! `szc run`: one command over many layouts, what it takes, and where the variance comes from.
//!
//! A block is a layout. Every second layout is run more than once, because only that tells what
//! layouts differ by from what runs of one layout differ by (Kalibera and Jones 2013).
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;

use anyhow::{Result, anyhow, bail};
use szc_stats::random_effects::MIN_PAIRS;

use super::config::{self, Subject};
use super::experiment::{Experiment, Stopping};
use super::options::programs_of;
use super::saved::{self, SavedSamples};
use super::values::Budget;
use super::{resume, versions};
use crate::lab::analysis::analyse;
use crate::lab::conclusion::Source;
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::measure::program::Program;
use crate::report::layouts::run_report;
use crate::samples::design::{Design, MAX_BLOCKS, Part};
use crate::samples::{Command, RuleRecord, io};

pub(crate) use self::options::Options;

/// Runs where nobody says otherwise.
const USUAL_RUNS: u32 = 30;

/// The same for a split: 20 pairs for each part.
const USUAL_RUNS_OF_PARTS: u32 = 20 * Part::RUNS;

/// Fewest runs of a split.
#[expect(clippy::cast_possible_truncation, reason = "a small number")]
const MIN_RUNS_OF_PARTS: u32 = MIN_PAIRS as u32 * Part::RUNS;

/// Most layouts for a precision where nobody says otherwise.
const USUAL_BUDGET: Budget = Budget::Blocks(1000);

impl Subcommand for Options {
    const NAME: &'static str = "run";

    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        config::parse(Subject::Program, arguments)
    }

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let built = built_program(&self)?;
        let source = source_of(&self, command_line, built).map_err(Failure::Usage)?;
        let (_, code) = source.concluded(self.common.quiet, run_report)?;
        Ok(code)
    }
}

/// The version that the options ask for; none if the command is complete.
pub(super) fn built_program(options: &Options) -> Result<Option<Vec<Program>>, Failure> {
    if options.resume.is_some() || !options.build.is_used() {
        return Ok(None);
    }
    let quiet = options.common.quiet;
    let programs = versions::programs(&options.build, &options.commands, &options.names, quiet)?;
    if programs.len() > 1 {
        return Err(Failure::Usage(anyhow!(
            "the options make {} versions, and one is measured: choose one, as in --flags=-O2, or \
             measure all with szc compare",
            programs.len()
        )));
    }
    Ok(Some(programs))
}

fn source_of(
    options: &Options,
    command_line: Vec<String>,
    built: Option<Vec<Program>>,
) -> Result<Source> {
    if let Some(path) = &options.resume {
        let rest = resume::rest_of(Command::Run, path, options.budget, command_line)?;
        return Ok(Source::runs(Experiment { quiet: options.common.quiet, ..rest }));
    }
    let [command] = &options.commands[..] else {
        bail!(
            "{} commands, and one is needed, quoted as a whole: -- './program input' (to measure \
             several against each other: szc compare)",
            options.commands.len()
        );
    };
    if let Some(paths) = saved::samples_files(&options.commands)? {
        let mut file = io::read(&paths[0])?;
        // Each program by itself, whatever was asked when they were measured.
        file.command = Command::Run;
        SavedSamples::new(Command::Run, &options.common)?.apply_to(&mut file)?;
        analyse(&mut file);
        return Ok(Source::Saved(Box::new(file), options.common.json.clone()));
    }
    let programs = match built {
        Some(programs) => programs,
        None => programs_of(std::slice::from_ref(command), &options.names)?,
    };
    Ok(Source::runs(experiment(options, programs, command_line)?))
}

/// The experiment that the options describe.
///
/// # Errors
/// When they make no sense together.
pub(super) fn experiment(
    options: &Options,
    programs: Vec<Program>,
    command_line: Vec<String>,
) -> Result<Experiment> {
    let (design, usual_runs) = if options.split {
        if let Some(found) = options.runs.filter(|runs| *runs < MIN_RUNS_OF_PARTS) {
            bail!(
                "--runs {found}: --split needs {MIN_RUNS_OF_PARTS} or more, {MIN_PAIRS} pairs for \
                 each part"
            );
        }
        (Design::parts(1, 0), USUAL_RUNS_OF_PARTS)
    } else {
        (Design::layouts(1, options.runs_per_layout, 0), USUAL_RUNS)
    };
    let (blocks, time) = match (options.precision, options.time) {
        (Some(_), _) => {
            let budget = options.budget.unwrap_or(USUAL_BUDGET);
            (budget.blocks(), budget.time())
        }
        (None, Some(time)) => (MAX_BLOCKS, Some(time)),
        (None, None) => (blocks_for(&design, options.runs.unwrap_or(usual_runs)), None),
    };
    let rule = if options.precision.is_some() { RuleRecord::Sequential } else { RuleRecord::Fixed };
    let design = Design { blocks, ..design };
    Ok(Experiment {
        stopping: Stopping { rule, precision: options.precision, time, ..Stopping::default() },
        ..options.common.experiment(Command::Run, command_line, programs, design)?
    })
}

/// Fewest blocks that hold this many measured runs.
fn blocks_for(design: &Design, runs: u32) -> u32 {
    let warm_up = design.runs_until(0);
    let enough = |blocks: u32| design.runs_until(blocks) - warm_up >= u64::from(runs);
    (1..=runs).find(|blocks| enough(*blocks)).unwrap_or(runs)
}

#[cfg(test)]
mod tests;
