//! `szc gate`: is the candidate slower than the budget allows? The answer is the exit code.
//!
//! The baseline is a command, measured in common blocks with the candidate; or samples measured
//! before, from a file or a store, with which the candidate has no common blocks.
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use self::options::Policy;
use super::baseline::store::Store;
use super::config::{self, Subject};
use super::exit::{EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_VERDICT};
use super::experiment::{Experiment, Stopping};
use super::options::programs_of;
use super::output::say;
use super::saved::{self, Apart, SavedSamples};
use super::values::Budget;
use super::{resume, versions};
use crate::lab::analysis::analyse;
use crate::lab::conclusion::{Source, conclude};
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::measure::machine;
use crate::measure::program::Program;
use crate::report::text::comparison_report;
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::{Design, MAX_BLOCKS};
use crate::samples::{Command, EndedRecord, RuleRecord, SamplesFile, Verdict, io};

pub(crate) use self::options::Options;

/// Most blocks where nobody says otherwise, one run after the other.
const USUAL_BUDGET: Budget = Budget::Blocks(100);

impl Subcommand for Options {
    const NAME: &'static str = "gate";

    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        config::parse(Subject::Versions, arguments)
    }

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let built = built_programs(&self)?;
        let pair = pair_of(&self, command_line, built).map_err(Failure::Usage)?;
        let (file, code) = pair.concluded(&self)?;
        Ok(if code == EXIT_VERDICT { exit_code(&file, self.inconclusive) } else { code })
    }
}

/// Baseline and candidate.
enum Pair {
    /// Both are measured in common blocks, or were measured before.
    Whole(Source),
    /// The candidate is measured and held against samples of the baseline.
    Against { baseline: Box<SamplesFile>, origin: PathBuf, candidate: Box<Experiment> },
}

impl Pair {
    /// Measures, says and saves; the exit code if it does not depend on the verdict.
    fn concluded(self, options: &Options) -> Result<(SamplesFile, u8)> {
        let quiet = options.common.quiet;
        match self {
            Self::Whole(source) => source.concluded(quiet, comparison_report),
            Self::Against { baseline, origin, candidate } => {
                if !quiet {
                    say(&candidate.header())?;
                }
                let baseline = (&*origin, *baseline);
                let file = held_against(&question(options)?, baseline, candidate.carry_out()?)?;
                let report = comparison_report(&file, quiet);
                let code = conclude(options.common.json.as_ref(), &file, &report)?;
                Ok((file, code))
            }
        }
    }
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
        return Err(Failure::Usage(anyhow!(
            "the options make {} versions, and {needed} is what a gate needs: a baseline and a \
             candidate, as in --rev main --rev HEAD, or the candidate alone with --baseline NAME",
            programs.len()
        )));
    }
    Ok(Some(programs))
}

fn pair_of(
    options: &Options,
    command_line: Vec<String>,
    built: Option<Vec<Program>>,
) -> Result<Pair> {
    let measured = |experiment| Pair::Whole(Source::runs(experiment));
    if let Some(path) = &options.resume {
        let rest = resume::rest_of(Command::Gate, path, options.comparison.budget, command_line)?;
        return Ok(measured(Experiment { quiet: options.common.quiet, ..rest }));
    }
    if let Some(name) = &options.baseline {
        let [command] = &options.commands[..] else {
            bail!(
                "--baseline {name} stands for the baseline: give the candidate alone, -- \
                 'CANDIDATE'"
            );
        };
        let candidate = candidate(options, programs(options, built, command)?, command_line)?;
        let compiler = candidate.programs[0].executable();
        let found = Store::new(options.store.as_deref())?.find(
            name,
            &machine::current(),
            compiler.as_ref(),
            options.comparison.across_machines,
        )?;
        return against(candidate, &found);
    }
    if let Some(programs) = built {
        return Ok(measured(pair(options, programs, command_line)?));
    }
    match &options.commands[..] {
        [baseline, command]
            if saved::is_samples_file(baseline) && !saved::is_samples_file(command) =>
        {
            let programs = programs(options, None, command)?;
            against(candidate(options, programs, command_line)?, Path::new(baseline))
        }
        commands => match saved::samples_files(commands)? {
            Some(paths) => {
                let mut file = question(options)?.read(&paths)?;
                analyse(&mut file);
                Ok(Pair::Whole(Source::Saved(Box::new(file), options.common.json.clone())))
            }
            None => {
                if commands.len() != 2 {
                    bail!(
                        "{} commands, and two are needed: -- 'BASELINE' 'CANDIDATE'",
                        commands.len()
                    );
                }
                let programs = programs_of(commands, &options.comparison.names)?;
                Ok(measured(pair(options, programs, command_line)?))
            }
        },
    }
}

/// The candidate as an experiment of its own over as many layouts as the baseline has, if the
/// budget is enough.
fn against(mut candidate: Experiment, path: &Path) -> Result<Pair> {
    let baseline = io::read(path)?;
    if baseline.programs.len() != 1 {
        bail!(
            "{} holds {} programs: the baseline is one, as szc run and szc baseline save measure \
             it",
            path.display(),
            baseline.programs.len()
        );
    }
    let plan = &baseline.design.plan;
    let layouts = baseline.design.complete_blocks.max(1);
    candidate.design.blocks = layouts.min(candidate.design.blocks);
    candidate.design.runs_per_layout = plan.runs_per_layout.max(1);
    let origin = path.to_owned();
    Ok(Pair::Against { baseline: Box::new(baseline), origin, candidate: Box::new(candidate) })
}

/// The candidate, built or as it is.
fn programs(options: &Options, built: Option<Vec<Program>>, command: &str) -> Result<Vec<Program>> {
    match built {
        Some(programs) => Ok(programs),
        None => programs_of(&[command.to_owned()], &options.comparison.names),
    }
}

fn candidate(
    options: &Options,
    programs: Vec<Program>,
    command_line: Vec<String>,
) -> Result<Experiment> {
    let most_layouts = options.comparison.budget.map_or(MAX_BLOCKS, Budget::blocks);
    let design = Design::layouts(most_layouts, 2, 0);
    let time = options.comparison.budget.and_then(Budget::time);
    Ok(Experiment {
        stopping: Stopping { time, ..Stopping::default() },
        json: None,
        ..options.common.experiment(Command::Run, command_line, programs, design)?
    })
}

/// Both commands in common blocks.
fn pair(
    options: &Options,
    programs: Vec<Program>,
    command_line: Vec<String>,
) -> Result<Experiment> {
    let budget = options.comparison.budget.unwrap_or(USUAL_BUDGET);
    let design = options.comparison.applied_to(Design::mirrored(2, budget.blocks(), 0));
    let tolerance = Some(options.max_slowdown.unwrap_or(USUAL_TOLERANCE));
    let slowest_layout = options.comparison.slowest_layout;
    let (rule, time) = (RuleRecord::Sequential, budget.time());
    Ok(Experiment {
        stopping: Stopping { rule, tolerance, slowest_layout, precision: None, time },
        row_tolerances: options.comparison.row_tolerances.clone(),
        usual_budget: options.comparison.budget.is_none(),
        ..options.common.experiment(Command::Gate, command_line, programs, design)?
    })
}

fn question(options: &Options) -> Result<SavedSamples> {
    Ok(SavedSamples::new(Command::Gate, &options.common)?
        .tolerating(options.max_slowdown, &options.comparison)
        .across_machines(options.comparison.across_machines))
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
