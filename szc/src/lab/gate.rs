//! `szc gate`: is the candidate slower than the budget allows? The answer is the exit code.
//!
//! The baseline is a command, measured in common blocks with the candidate; or samples measured
//! before, from a file or a store, with which the candidate has no common blocks.
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

pub(crate) use self::options::Options;
use self::options::Policy;
use super::baseline::store::Store;
use super::build::Failure;
use super::compare::{header, report};
use super::config::{self, Subject};
use super::design::{Design, MOST_BLOCKS};
use super::experiment::{Experiment, Stopping, analyse, command_line, conclude, conclude_reread};
use super::options::{Budget, programs_of};
use super::output::{complain, explain, say};
use super::saved::{self, Apart, SavedSamples};
use super::{
    EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_INTERNAL, EXIT_USAGE, EXIT_VERDICT, resume, versions,
};
use crate::measure::machine::Machine;
use crate::measure::program::Program;
use crate::report::comparison::USUAL_TOLERANCE;
use crate::report::json::{self, Command, EndedRecord, RuleRecord, SamplesFile};
use crate::report::verdict::Verdict;

/// Most blocks where nobody says otherwise.
const USUAL_BUDGET: Budget = Budget::Blocks(100);

/// Runs `szc gate` with the arguments after the word `gate`.
///
/// Prints to stdout and stderr; the exit code is one of those in [`super`].
#[must_use]
pub fn command(arguments: &[OsString]) -> ExitCode {
    let options = match config::parse::<Options>(Subject::Versions, arguments) {
        Ok(options) => options,
        Err(error) => return explain(&error),
    };
    let built = match built_programs(&options) {
        Ok(built) => built,
        Err(failure) => {
            complain("gate", &failure.message());
            return failure.exit_code().into();
        }
    };
    let source = match source_of(&options, arguments, built) {
        Ok(source) => source,
        Err(error) => {
            complain("gate", &format!("{error:#}"));
            return EXIT_USAGE.into();
        }
    };
    match answer(&options, source) {
        Ok(code) => code.into(),
        Err(error) => {
            complain("gate", &format!("{error:#}"));
            EXIT_INTERNAL.into()
        }
    }
}

/// Where the samples come from.
enum Source {
    /// Both are measured in common blocks.
    Runs(Box<Experiment>),
    /// Both were measured before.
    Saved(Box<SamplesFile>),
    /// The candidate is measured and held against samples of the baseline.
    Against { baseline: Box<SamplesFile>, origin: PathBuf, candidate: Box<Experiment> },
}

/// The versions that the options ask for, the baseline first; none if the commands are complete.
fn built_programs(options: &Options) -> Result<Option<Vec<Program>>, Failure> {
    if options.resume.is_some() || !options.build.is_used() {
        return Ok(None);
    }
    let quiet = options.common.quiet;
    let programs =
        versions::programs(&options.build, &options.commands, &options.comparison.names, quiet)?;
    let needed = if options.baseline.is_some() { 1 } else { 2 };
    if programs.len() != needed {
        return Err(Failure::Usage(format!(
            "the options make {} versions, and {needed} is what a gate needs: a baseline and a candidate, as in --rev main --rev HEAD, or the candidate alone with --baseline NAME",
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
    let words = command_line("gate", arguments);
    if let Some(path) = &options.resume {
        let rest = resume::rest_of(Command::Gate, path, options.comparison.budget, words)?;
        return Ok(Source::Runs(Box::new(Experiment { quiet: options.common.quiet, ..rest })));
    }
    if let Some(name) = &options.baseline {
        let [command] = &options.commands[..] else {
            bail!(
                "--baseline {name} stands for the baseline: give the candidate alone, -- 'CANDIDATE'"
            );
        };
        let candidate = candidate(options, programs(options, built, command)?, words)?;
        let compiler = candidate.programs[0].executable();
        let found = Store::new(options.store.as_deref())?.find(
            name,
            &Machine::current(),
            compiler.as_ref(),
            options.comparison.across_machines,
        )?;
        return against(candidate, &found);
    }
    if let Some(programs) = built {
        return Ok(Source::Runs(Box::new(pair(options, programs, words)?)));
    }
    match &options.commands[..] {
        [baseline, command]
            if saved::is_samples_file(baseline) && !saved::is_samples_file(command) =>
        {
            let programs = programs(options, None, command)?;
            against(candidate(options, programs, words)?, Path::new(baseline))
        }
        commands => match saved::samples_files(commands)? {
            Some(paths) => {
                let mut file = question(options)?.read(&paths)?;
                analyse(&mut file);
                Ok(Source::Saved(Box::new(file)))
            }
            None => {
                if commands.len() != 2 {
                    bail!(
                        "{} commands, and two are needed: -- 'BASELINE' 'CANDIDATE'",
                        commands.len()
                    );
                }
                let programs = programs_of(commands, &options.comparison.names)?;
                Ok(Source::Runs(Box::new(pair(options, programs, words)?)))
            }
        },
    }
}

/// The candidate as an experiment of its own over as many layouts as the baseline has, if the
/// budget is enough.
fn against(mut candidate: Experiment, path: &Path) -> Result<Source> {
    let baseline = json::read(path)?;
    if baseline.programs.len() != 1 {
        bail!(
            "{} holds {} programs: the baseline is one, as szc run and szc baseline save measure it",
            path.display(),
            baseline.programs.len()
        );
    }
    let plan = &baseline.design.plan;
    let layouts = baseline.design.complete_blocks.max(1);
    candidate.design.blocks = layouts.min(candidate.design.blocks);
    candidate.design.runs_per_layout = plan.runs_per_layout.max(1);
    let origin = path.to_owned();
    Ok(Source::Against { baseline: Box::new(baseline), origin, candidate: Box::new(candidate) })
}

/// The candidate, built or as it is.
fn programs(options: &Options, built: Option<Vec<Program>>, command: &str) -> Result<Vec<Program>> {
    match built {
        Some(programs) => Ok(programs),
        None => programs_of(&[command.to_owned()], &options.comparison.names),
    }
}

fn candidate(options: &Options, programs: Vec<Program>, words: Vec<String>) -> Result<Experiment> {
    let choice = options.common.metric_choice()?;
    let most_layouts = options.comparison.budget.map_or(MOST_BLOCKS, Budget::blocks);
    Ok(Experiment {
        command: Command::Run,
        command_line: words,
        programs,
        design: options.common.applied_to(Design::layouts(most_layouts, 2, 0))?,
        conditions: options.common.conditions(choice.metric)?,
        stopping: Stopping {
            rule: RuleRecord::Fixed,
            tolerance: None,
            precision: None,
            time: options.comparison.budget.and_then(Budget::time),
        },
        instruments: choice.instruments,
        metric_option: choice.option,
        json: None,
        quiet: options.common.quiet,
        earlier: None,
    })
}

/// Both commands in common blocks.
fn pair(options: &Options, programs: Vec<Program>, words: Vec<String>) -> Result<Experiment> {
    let choice = options.common.metric_choice()?;
    let budget = options.comparison.budget.unwrap_or(USUAL_BUDGET);
    let design = Design {
        runs_per_position: options.comparison.runs_per_block,
        ..Design::mirrored(2, budget.blocks(), 0)
    };
    Ok(Experiment {
        command: Command::Gate,
        command_line: words,
        programs,
        design: options.common.applied_to(design)?,
        conditions: options.common.conditions(choice.metric)?,
        stopping: Stopping {
            rule: RuleRecord::Sequential,
            tolerance: Some(options.max_slowdown.unwrap_or(USUAL_TOLERANCE)),
            precision: None,
            time: budget.time(),
        },
        instruments: choice.instruments,
        metric_option: choice.option,
        json: options.common.json.clone(),
        quiet: options.common.quiet,
        earlier: None,
    })
}

fn question(options: &Options) -> Result<SavedSamples> {
    Ok(SavedSamples::new(Command::Gate, &options.common)?
        .tolerating(options.max_slowdown)
        .across_machines(options.comparison.across_machines))
}

fn answer(options: &Options, source: Source) -> Result<u8> {
    let quiet = options.common.quiet;
    let json = options.common.json.as_ref();
    let (file, code) = match source {
        Source::Saved(file) => {
            let code = conclude_reread(json, &file, &report(&file, quiet))?;
            (*file, code)
        }
        Source::Runs(experiment) => {
            if !quiet {
                say(&header(&experiment))?;
            }
            let json = experiment.json.clone();
            let file = experiment.carry_out()?;
            let code = conclude(json.as_ref(), &file, &report(&file, quiet))?;
            (file, code)
        }
        Source::Against { baseline, origin, candidate } => {
            if !quiet {
                say(&header(&candidate))?;
            }
            let file =
                held_against(&question(options)?, (&origin, *baseline), candidate.carry_out()?)?;
            let code = conclude(json, &file, &report(&file, quiet))?;
            (file, code)
        }
    };
    Ok(if code == EXIT_VERDICT { exit_code(&file, options.inconclusive) } else { code })
}

/// The measured candidate with the baseline in front of it; the candidate alone, if that is unfit
/// or does something else than the baseline.
fn held_against(
    question: &SavedSamples,
    baseline: (&Path, SamplesFile),
    candidate: SamplesFile,
) -> Result<SamplesFile> {
    let ended = candidate.ended.clone();
    if matches!(ended, EndedRecord::Refused { .. }) {
        return Ok(candidate);
    }
    match question.joined(baseline, (Path::new("the candidate"), candidate.clone())) {
        Ok(mut joined) => {
            question.apply_to(&mut joined)?;
            joined.ended = ended;
            analyse(&mut joined);
            Ok(joined)
        }
        Err(Apart::Output(reason)) => {
            let mut refused = SamplesFile { ended: EndedRecord::Refused { reason }, ..candidate };
            analyse(&mut refused);
            Ok(refused)
        }
        Err(Apart::Files(reason)) => {
            bail!("the candidate cannot be held against the baseline: {reason}")
        }
    }
}

/// The exit code of the verdict.
fn exit_code(file: &SamplesFile, policy: Policy) -> u8 {
    let verdicts: Vec<Verdict> = file.deciding_results().map(|result| result.verdict).collect();
    let decided = |verdict| verdicts.contains(&verdict);
    if decided(Verdict::Fail) {
        EXIT_FAIL
    } else if !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Verdict::Pass) {
        EXIT_VERDICT
    } else {
        match policy {
            Policy::Report => EXIT_INCONCLUSIVE,
            Policy::Pass => EXIT_VERDICT,
            Policy::Fail => EXIT_FAIL,
        }
    }
}

#[cfg(test)]
mod tests;
