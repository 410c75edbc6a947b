//! `szc run`: one command over many layouts, what it takes, and where the variance comes from.
//!
//! A block is a layout. Every second layout is run more than once, because only that tells what
//! layouts differ by from what runs of one layout differ by (Kalibera and Jones 2013).
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};

pub(crate) use self::options::Options;
use super::build::Failure;
use super::config::{self, Subject};
use super::design::{Design, MOST_BLOCKS};
use super::experiment::{Experiment, Stopping, analyse, command_line, conclude, conclude_reread};
use super::options::{Budget, programs_of};
use super::output::{complain, explain, say};
use super::saved::{self, SavedSamples};
use super::{EXIT_INTERNAL, EXIT_USAGE, resume, versions};
use crate::measure::program::Program;
use crate::report::json::{self, Command, RuleRecord, SamplesFile};
use crate::report::layouts::{run_remarks, run_sentence};
use crate::report::text::summary_table;

/// Runs where nobody says otherwise.
const USUAL_RUNS: u32 = 30;

/// Most layouts for a precision where nobody says otherwise.
const USUAL_BUDGET: Budget = Budget::Blocks(1000);

/// Runs `szc run` with the arguments after the word `run`.
///
/// Prints to stdout and stderr; the exit code is one of those in [`super`].
#[must_use]
pub fn command(arguments: &[OsString]) -> ExitCode {
    let options = match config::parse::<Options>(Subject::Program, arguments) {
        Ok(options) => options,
        Err(error) => return explain(&error),
    };
    let built = match built_program(&options) {
        Ok(built) => built,
        Err(failure) => {
            complain("run", &failure.message());
            return failure.exit_code().into();
        }
    };
    let code = match source_of(&options, arguments, built) {
        Ok(Source::Runs(experiment)) => measured(*experiment, options.common.quiet),
        Ok(Source::Saved(file)) => {
            let text = report(&file, options.common.quiet);
            conclude_reread(options.common.json.as_ref(), &file, &text)
        }
        Err(error) => {
            complain("run", &format!("{error:#}"));
            return EXIT_USAGE.into();
        }
    };
    match code {
        Ok(code) => code.into(),
        Err(error) => {
            complain("run", &format!("{error:#}"));
            EXIT_INTERNAL.into()
        }
    }
}

/// Where the samples come from.
enum Source {
    Runs(Box<Experiment>),
    Saved(Box<SamplesFile>),
}

/// The version that the options ask for; none if the command is complete.
pub(super) fn built_program(options: &Options) -> Result<Option<Vec<Program>>, Failure> {
    if options.resume.is_some() || !options.build.is_used() {
        return Ok(None);
    }
    let quiet = options.common.quiet;
    let programs = versions::programs(&options.build, &options.commands, &options.names, quiet)?;
    if programs.len() > 1 {
        return Err(Failure::Usage(format!(
            "the options make {} versions, and one is measured: choose one, as in --flags=-O2, or measure all with szc compare",
            programs.len()
        )));
    }
    Ok(Some(programs))
}

fn source_of(
    options: &Options,
    arguments: &[OsString],
    built: Option<Vec<Program>>,
) -> Result<Source> {
    let words = command_line("run", arguments);
    if let Some(path) = &options.resume {
        let rest = resume::rest_of(Command::Run, path, options.budget, words)?;
        return Ok(Source::Runs(Box::new(Experiment { quiet: options.common.quiet, ..rest })));
    }
    let [command] = &options.commands[..] else {
        bail!(
            "{} commands, and one is needed, quoted as a whole: -- './program input' (to measure several against each other: szc compare)",
            options.commands.len()
        );
    };
    if let Some(paths) = saved::samples_files(&options.commands)? {
        let mut file = json::read(&paths[0])?;
        // Each program by itself, whatever was asked when they were measured.
        file.command = Command::Run;
        SavedSamples::new(Command::Run, &options.common)?.apply_to(&mut file)?;
        analyse(&mut file);
        return Ok(Source::Saved(Box::new(file)));
    }
    let programs = match built {
        Some(programs) => programs,
        None => programs_of(std::slice::from_ref(command), &options.names)?,
    };
    Ok(Source::Runs(Box::new(experiment(options, programs, words)?)))
}

/// The experiment that the options describe.
///
/// # Errors
/// When they make no sense together.
pub(super) fn experiment(
    options: &Options,
    programs: Vec<Program>,
    words: Vec<String>,
) -> Result<Experiment> {
    let choice = options.common.metric_choice()?;
    let design = options.common.applied_to(Design::layouts(1, options.runs_per_layout, 0))?;
    let (blocks, time) = match (options.precision, options.time) {
        (Some(_), _) => {
            let budget = options.budget.unwrap_or(USUAL_BUDGET);
            (budget.blocks(), budget.time())
        }
        (None, Some(time)) => (MOST_BLOCKS, Some(time)),
        (None, None) => (blocks_for(&design, options.runs.unwrap_or(USUAL_RUNS)), None),
    };
    Ok(Experiment {
        command: Command::Run,
        command_line: words,
        programs,
        design: Design { blocks, ..design },
        conditions: options.common.conditions(choice.metric)?,
        stopping: Stopping {
            rule: match options.precision {
                Some(_) => RuleRecord::Sequential,
                None => RuleRecord::Fixed,
            },
            tolerance: None,
            precision: options.precision,
            time,
        },
        instruments: choice.instruments,
        metric_option: choice.option,
        json: options.common.json.clone(),
        quiet: options.common.quiet,
        earlier: None,
    })
}

/// Fewest blocks that hold this many measured runs.
fn blocks_for(design: &Design, runs: u32) -> u32 {
    let warm_up = design.runs_until(0);
    let enough = |blocks: u32| design.runs_until(blocks) - warm_up >= u64::from(runs);
    (1..=runs).find(|blocks| enough(*blocks)).unwrap_or(runs)
}

fn measured(experiment: Experiment, quiet: bool) -> Result<u8> {
    if !quiet {
        let program = &experiment.programs[0];
        say(&format!(
            "{}: {}\n--seed {}\n\n",
            program.title(),
            program.command,
            experiment.design.seed
        ))?;
    }
    let json = experiment.json.clone();
    let file = experiment.carry_out()?;
    conclude(json.as_ref(), &file, &report(&file, quiet))
}

fn report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    for program in 0..file.programs.len() {
        let table = summary_table(file, program);
        if !quiet && !table.is_empty() {
            text.push_str(&table);
            text.push('\n');
        }
        text.push_str(&run_sentence(file, program));
        text.push('\n');
        if !quiet {
            for remark in run_remarks(file, program) {
                text.push_str(&remark);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
