//! `szc compare`: commands in interleaved blocks, a verdict on each against the first.
//!
//! The samples come from runs, from an interrupted experiment and more runs, or from files.
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

pub(crate) use self::options::Options;
use super::build::Failure;
use super::config::{self, Subject};
use super::design::{Design, MOST_PROGRAMS};
use super::experiment::{Experiment, Stopping, analyse, command_line, conclude, conclude_reread};
use super::options::{Budget, programs_of};
use super::output::{complain, explain, say};
use super::saved::{self, SavedSamples};
use super::{EXIT_INTERNAL, EXIT_USAGE, resume, versions};
use crate::measure::program::Program;
use crate::report::comparison::USUAL_TOLERANCE;
use crate::report::json::{Command, RuleRecord, SamplesFile};
use crate::report::text::{comparison_table, remarks, verdicts};

/// Most blocks of the sequential rule where nobody says otherwise.
const USUAL_BUDGET: Budget = Budget::Blocks(100);

/// Runs `szc compare` with the arguments after the word `compare`.
///
/// Prints to stdout and stderr; the exit code is one of those in [`super`].
#[must_use]
pub fn command(arguments: &[OsString]) -> ExitCode {
    let options: Options = match config::parse(Subject::Versions, arguments) {
        Ok(options) => options,
        Err(error) => return explain(&error),
    };
    let built = match built_programs(&options) {
        Ok(built) => built,
        Err(failure) => {
            complain("compare", &failure.message());
            return failure.exit_code().into();
        }
    };
    let source = match source_of(&options, arguments, built) {
        Ok(source) => source,
        Err(error) => {
            complain("compare", &format!("{error:#}"));
            return EXIT_USAGE.into();
        }
    };
    let done = match source {
        Source::Runs(experiment) => measured(*experiment, options.common.quiet),
        Source::Saved(file) => {
            let text = report(&file, options.common.quiet);
            conclude_reread(options.common.json.as_ref(), &file, &text)
        }
    };
    match done {
        Ok(code) => code.into(),
        Err(error) => {
            complain("compare", &format!("{error:#}"));
            EXIT_INTERNAL.into()
        }
    }
}

/// Where the samples come from.
enum Source {
    Runs(Box<Experiment>),
    Saved(Box<SamplesFile>),
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
    arguments: &[OsString],
    built: Option<Vec<Program>>,
) -> Result<Source> {
    let words = command_line("compare", arguments);
    if let Some(path) = &options.resume {
        let rest = resume::rest_of(Command::Compare, path, options.comparison.budget, words)?;
        return Ok(Source::Runs(Box::new(Experiment { quiet: options.common.quiet, ..rest })));
    }
    let programs = match built {
        Some(programs) => programs,
        None => {
            if let Some(paths) = saved::samples_files(&options.commands)? {
                return Ok(Source::Saved(Box::new(saved_comparison(options, &paths)?)));
            }
            programs_of(&options.commands, &options.comparison.names)?
        }
    };
    if programs.len() < 2 {
        bail!(
            "{} command, and at least two are needed: -- './a input' './b input', or versions of one, as --flags=-O2,-O3 makes them (to measure a single one: szc run)",
            if programs.is_empty() { "no" } else { "one" }
        );
    }
    if programs.len() > MOST_PROGRAMS {
        bail!("{} programs, and at most {MOST_PROGRAMS} fit", programs.len());
    }
    let choice = options.common.metric_choice()?;
    let budget = options.comparison.budget.unwrap_or(USUAL_BUDGET);
    let design = Design {
        runs_per_position: options.comparison.runs_per_block,
        ..Design::mirrored(programs.len(), options.fixed.unwrap_or_else(|| budget.blocks()), 0)
    };
    Ok(Source::Runs(Box::new(Experiment {
        command: Command::Compare,
        command_line: words,
        programs,
        design: options.common.applied_to(design)?,
        conditions: options.common.conditions(choice.metric)?,
        stopping: Stopping {
            rule: match options.fixed {
                Some(_) => RuleRecord::Fixed,
                None => RuleRecord::Sequential,
            },
            tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
            precision: None,
            time: options.fixed.map_or_else(|| budget.time(), |_| None),
        },
        instruments: choice.instruments,
        metric_option: choice.option,
        json: options.common.json.clone(),
        quiet: options.common.quiet,
        earlier: None,
    })))
}

/// The comparison in one file, or between two.
fn saved_comparison(options: &Options, paths: &[PathBuf]) -> Result<SamplesFile> {
    let question = SavedSamples::new(Command::Compare, &options.common)?
        .tolerating(options.delta)
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

fn measured(experiment: Experiment, quiet: bool) -> Result<u8> {
    if !quiet {
        say(&header(&experiment))?;
    }
    let json = experiment.json.clone();
    let file = experiment.carry_out()?;
    conclude(json.as_ref(), &file, &report(&file, quiet))
}

pub(super) fn header(experiment: &Experiment) -> String {
    let mut text = String::new();
    for program in &experiment.programs {
        text.push_str(&format!("{}: {}\n", program.title(), program.command));
    }
    text.push_str(&format!("--seed {}\n\n", experiment.design.seed));
    text
}

pub(super) fn report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    let sentences = verdicts(file);
    if !quiet {
        let table = comparison_table(file);
        if !table.is_empty() {
            text = table + "\n";
        }
    }
    for line in sentences.into_iter().chain(if quiet { Vec::new() } else { remarks(file) }) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
