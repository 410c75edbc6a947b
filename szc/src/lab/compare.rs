//! `szc compare`: commands in interleaved blocks, a verdict on each against the first.
//!
//! The samples come from runs, from an interrupted experiment and more runs, or from files.
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};

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
use crate::report::text::comparison_report;
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::{Design, MAX_PROGRAMS};
use crate::samples::{Command, RuleRecord, SamplesFile};

pub(crate) use self::options::Options;

/// Most blocks of the sequential rule where nobody says otherwise, one run after the other.
const USUAL_BUDGET: Budget = Budget::Blocks(100);

impl Subcommand for Options {
    const NAME: &'static str = "compare";

    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        config::parse(Subject::Versions, arguments)
    }

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let built = built_programs(&self)?;
        let source = source_of(&self, command_line, built).map_err(Failure::Usage)?;
        let (_, code) = source.concluded(self.common.quiet, comparison_report)?;
        Ok(code)
    }
}

/// The versions that the options ask for; none if the commands are complete.
fn built_programs(options: &Options) -> Result<Option<Vec<Program>>, Failure> {
    if options.resume.is_some() || !options.build.is_used() {
        return Ok(None);
    }
    let quiet = options.common.quiet;
    versions::programs(&options.build, &options.commands, &options.comparison.names, quiet)
        .map(Some)
}

fn source_of(
    options: &Options,
    command_line: Vec<String>,
    built: Option<Vec<Program>>,
) -> Result<Source> {
    if let Some(path) = &options.resume {
        let rest =
            resume::rest_of(Command::Compare, path, options.comparison.budget, command_line)?;
        return Ok(Source::runs(Experiment { quiet: options.common.quiet, ..rest }));
    }
    let programs = match built {
        Some(programs) => programs,
        None => {
            if let Some(paths) = saved::samples_files(&options.commands)? {
                return Ok(Source::Saved(
                    Box::new(saved_comparison(options, &paths)?),
                    options.common.json.clone(),
                ));
            }
            programs_of(&options.commands, &options.comparison.names)?
        }
    };
    if programs.len() < 2 {
        bail!(
            "{} command, and at least two are needed: -- './a input' './b input', or versions of \
             one, as --flags=-O2,-O3 makes them (to measure a single one: szc run)",
            if programs.is_empty() { "no" } else { "one" }
        );
    }
    if programs.len() > MAX_PROGRAMS {
        bail!("{} programs, and at most {MAX_PROGRAMS} fit", programs.len());
    }
    let budget = options.comparison.budget.unwrap_or(USUAL_BUDGET);
    let blocks = options.fixed.unwrap_or_else(|| budget.blocks());
    let design = options.comparison.applied_to(Design::mirrored(programs.len(), blocks, 0));
    let (rule, time) = match options.fixed {
        Some(_) => (RuleRecord::Fixed, None),
        None => (RuleRecord::Sequential, budget.time()),
    };
    let tolerance = Some(options.delta.unwrap_or(USUAL_TOLERANCE));
    let slowest_layout = options.comparison.slowest_layout;
    Ok(Source::runs(Experiment {
        stopping: Stopping { rule, tolerance, slowest_layout, precision: None, time },
        row_tolerances: options.comparison.row_tolerances.clone(),
        usual_budget: options.comparison.budget.is_none() && options.fixed.is_none(),
        ..options.common.experiment(Command::Compare, command_line, programs, design)?
    }))
}

/// The comparison in one file, or between two.
fn saved_comparison(options: &Options, paths: &[PathBuf]) -> Result<SamplesFile> {
    let question = SavedSamples::new(Command::Compare, &options.common)?
        .tolerating(options.delta, &options.comparison)
        .across_machines(options.comparison.across_machines);
    let mut file = question.read(paths)?;
    for (label, name) in &options.comparison.names {
        match file.programs.iter_mut().find(|program| program.label == *label) {
            Some(program) => program.name = Some(name.clone()),
            None => bail!("--name {label}=… names no program: there are {}", file.programs.len()),
        }
    }
    analyse(&mut file);
    Ok(file)
}

#[cfg(test)]
mod tests;
