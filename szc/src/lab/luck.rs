//! `szc luck`: whose placement makes a program fast or slow.
//!
//! Two experiments. In the first each block is a layout of code, and where each function lies is
//! noted. In the second the function that explains most is held at its best and at its worst
//! offset, in layouts that are alike otherwise.
#![forbid(unsafe_code)]

mod fix;
mod hold;
mod options;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use self::fix::in_one_setup;
use self::hold::{hold, owned};
pub(crate) use self::options::Options;
use super::exit::EXIT_VERDICT;
use super::experiment::{Experiment, Stopping};
use super::output;
use super::subcommand::Subcommand;
use super::values::Budget;
use crate::lab::failure::Failure;
use crate::lab::report::put;
use crate::measure::hottest::hottest;
use crate::measure::places::{Places, SAME_BLOCKS};
use crate::measure::program::{ONE_LAYOUT, Program};
use crate::report::html::luck::page;
use crate::report::luck::report;
use crate::results::luck::fix::{fix as fix_of, target};
use crate::results::luck::{MIN_LAYOUTS, extremes, intervention, luck, places_held};
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::Design;
use crate::samples::luck::{
    Confirmation, FixRecord, HotRecord, InterventionRecord, LuckRecord, NamedRecord, Part,
};
use crate::samples::metric::Kind;
use crate::samples::{Command, EndedRecord, RuleRecord, SamplesFile, io};

/// Runs of a layout in every second block.
const RUNS_PER_LAYOUT: u32 = 2;

/// Functions that a pilot chooses, which make six pairs.
const HOTTEST: usize = 4;

/// Most blocks of the second experiment where nobody says otherwise.
const USUAL_BUDGET: Budget = Budget::Blocks(60);

impl Subcommand for Options {
    const NAME: &'static str = "luck";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        if let Some(found) = saved(&self.commands).map_err(Failure::Usage)? {
            return Ok(conclude(&self, &found)?);
        }
        check(&self).map_err(Failure::Usage)?;
        let program = program(&self).map_err(Failure::Usage)?;
        let quiet = self.common.quiet;
        let json = self.common.json.as_deref();
        json.map_or(Ok(()), io::check_writable)?;
        let first =
            layouts(&self, program.clone(), command_line.clone()).map_err(Failure::Usage)?;
        if !quiet {
            output::say(&first.header())?;
        }
        let hottest = chosen(&self, &program, first.design.seed)?;
        let file = first.carry_out()?;
        if let EndedRecord::Refused { reason } = &file.ended {
            output::complain(Self::NAME, reason);
            return Ok(output::exit_code(&file.ended));
        }
        let names: Vec<String> = hottest.iter().map(|one| one.function.clone()).collect();
        let pairs = if self.has_chosen_pairs() { &names } else { &self.pairs };
        let Some(mut found) = luck(&file, self.part, pairs) else {
            output::say(&format!(
                "Nothing is known yet: {} layouts were measured, and {MIN_LAYOUTS} are needed, in \
                 which the same functions run, or blocks are there, and {} differs.\n",
                file.design.complete_blocks,
                file.design.metric.title()
            ))?;
            return Ok(output::exit_code(&file.ended));
        };
        found.hottest = hottest;
        let mut ended = file.ended.clone();
        if let Some(named) = found.named.first().cloned()
            && ended == EndedRecord::Complete
            && let Some(offsets) = extremes(&named)
        {
            let offsets = places_held(&found, &named, offsets);
            let second = held(&self, &program, &file, (&named, offsets), command_line)?;
            let held = second.carry_out()?;
            if let EndedRecord::Refused { reason } = &held.ended {
                output::complain(Self::NAME, reason);
            }
            found.intervention = intervention(&named, offsets, &held);
            ended = held.ended;
            let rejected = |one: &InterventionRecord| one.verdict == Confirmation::Rejected;
            let is_rejected = found.intervention.as_ref().is_some_and(rejected);
            if self.fix && !is_rejected && ended == EndedRecord::Complete {
                let tolerance = self.delta.unwrap_or(USUAL_TOLERANCE);
                found.fix = fixed(&self, &program, (&named, tolerance), &file)?;
            }
        }
        conclude(&self, &found)?;
        Ok(if ended == EndedRecord::Complete { EXIT_VERDICT } else { output::exit_code(&ended) })
    }
}

/// A result that was saved, if the only argument is one.
fn saved(commands: &[String]) -> Result<Option<LuckRecord>> {
    let [path] = commands else { return Ok(None) };
    let is_json = Path::new(path).extension().is_some_and(|ending| ending == "json");
    if !is_json || !Path::new(path).is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let found: LuckRecord = serde_json::from_str(&text)
        .with_context(|| format!("{path} is no result of szc luck, as --json saves it"))?;
    Ok(Some(found))
}

/// Prints and saves what was found. The exit code.
fn conclude(options: &Options, found: &LuckRecord) -> Result<u8> {
    let said = output::say(&report(found, options.common.quiet));
    if let Some(path) = &options.common.json {
        output::write_json(path, "the result", found)?;
    }
    if let Some(path) = &options.html {
        let text = page(found).context("cannot write the result into the page")?;
        put(path, "the page", &text)?;
    }
    said?;
    Ok(EXIT_VERDICT)
}

/// What options can be given together.
fn check(options: &Options) -> Result<()> {
    let of_code = [
        (options.fix, "--fix says where the code of a function should lie"),
        (!options.pairs.is_empty(), "--pairs asks for the distances of functions"),
    ];
    if options.part != Part::Code
        && let Some((_, what)) = of_code.iter().find(|(is_asked, _)| *is_asked)
    {
        bail!("{what}, so it needs --part code");
    }
    let names: BTreeSet<&String> = options.pairs.iter().collect();
    if options.has_chosen_pairs() {
        return Ok(());
    }
    if !options.pairs.is_empty() && (names.len() < 2 || names.len() < options.pairs.len()) {
        bail!(
            "--pairs needs two functions or more, each once: --pairs parse,emit, or --pairs auto"
        );
    }
    Ok(())
}

fn program(options: &Options) -> Result<Program> {
    let [command] = &options.commands[..] else {
        bail!(
            "{} commands, and one is needed, quoted as a whole: -- './program input'",
            options.commands.len()
        );
    };
    let program = Program::new(0, None, command)?;
    if program.via_shell {
        bail!(
            "a shell would execute {}, and where its functions lie says nothing: give a command \
             without pipes, variables and the like",
            program.command
        );
    }
    Ok(program)
}

/// The functions whose pairs a pilot chooses, if it is to.
fn chosen(options: &Options, program: &Program, seed: u64) -> Result<Vec<HotRecord>> {
    if !options.has_chosen_pairs() {
        return Ok(Vec::new());
    }
    let found = hottest(program, seed ^ 3, HOTTEST, options.common.timeout)?;
    if found.len() < 2 {
        output::complain(
            Options::NAME,
            "--pairs auto: fewer than two functions that move take 1 % of the time, so there is \
             no pair",
        );
    }
    Ok(found)
}

/// The first experiment. The machine slows down and speeds up, for longer than a run takes, and so
/// time is that of a layout over that of one which all blocks have.
fn layouts(options: &Options, program: Program, command_line: Vec<String>) -> Result<Experiment> {
    let design = Design::layouts(options.layouts, RUNS_PER_LAYOUT, 0);
    let mut drawn = options.common.experiment(Command::Run, command_line, vec![program], design)?;
    if drawn.measurement.conditions.metric.kind() == Kind::Time {
        let name = Some("in one layout".to_owned());
        drawn.programs.push(Program { label: "B".to_owned(), name, ..drawn.programs[0].clone() });
        drawn.design.programs = drawn.programs.len();
    }
    let mut measurement = drawn.measurement;
    let needed = if options.has_chosen_pairs() { Vec::new() } else { options.pairs.clone() };
    let seed = drawn.design.seed;
    measurement.instruments.push(Box::new(Places { part: options.part, needed, seed }));
    Ok(Experiment { design: in_one_setup(drawn.design), measurement, json: None, ..drawn })
}

/// The third: the function of `file` that explains most, where a change of the source would put it.
fn fixed(
    options: &Options,
    program: &Program,
    (named, tolerance): (&NamedRecord, f64),
    file: &SamplesFile,
) -> Result<Option<FixRecord>> {
    let Some(offset) = target(named, tolerance) else { return Ok(None) };
    let seed = file.design.plan.seed;
    let command_line = file.command_line.clone();
    let third = fix::experiment(options, program, (named, offset), seed, command_line)?;
    let measured = third.carry_out()?;
    if let EndedRecord::Refused { reason } = &measured.ended {
        output::complain(Options::NAME, reason);
    }
    Ok(fix_of(named, offset, &measured))
}

/// The second: the function of `file` that explains most, at its best offset and at its worst; or
/// the blocks, at their draws.
fn held(
    options: &Options,
    program: &Program,
    file: &SamplesFile,
    (named, offsets): (&NamedRecord, [u32; 2]),
    command_line: Vec<String>,
) -> Result<Experiment> {
    let programs = ["A", "B"].iter().zip(offsets).map(|(label, offset)| {
        let seed = file.design.plan.seed;
        let mut variables = vec![hold(named, offset, seed), owned(ONE_LAYOUT)];
        if options.part == Part::Stack {
            // Where a frame meets a block depends on both.
            variables.push(owned(SAME_BLOCKS));
        }
        let what = if options.part == Part::Heap { "draw" } else { "offset" };
        let name = Some(format!("{what} {offset}"));
        Program { label: (*label).to_owned(), name, variables, ..program.clone() }
    });
    let budget = options.budget.unwrap_or(USUAL_BUDGET);
    let design = Design { coupled: true, ..Design::mirrored(2, budget.blocks(), 0) };
    let drawn =
        options.common.experiment(Command::Compare, command_line, programs.collect(), design)?;
    let design = Design { seed: file.design.plan.seed ^ 1, ..in_one_setup(drawn.design) };
    Ok(Experiment {
        stopping: Stopping {
            rule: RuleRecord::Sequential,
            tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
            time: budget.time(),
            ..Stopping::default()
        },
        design,
        // What is to be said of the machine was said.
        quiet: true,
        json: None,
        ..drawn
    })
}

#[cfg(test)]
mod tests;
