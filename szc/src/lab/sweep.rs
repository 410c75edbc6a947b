//! `szc sweep`: levels of a parameter on the programs of a suite.
//!
//! Each program is an experiment of its own, whose blocks interleave all levels; together they make
//! one samples file, in which a program at a level is one of the programs.
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::io::{Write, stderr};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};

pub(crate) use self::options::Options;
use super::build::{Failure, Version};
use super::config::{self, Subject};
use super::design::{Design, MOST_PROGRAMS};
use super::experiment::{Experiment, Stopping, command_line, conclude};
use super::output::{complain, explain, save, say};
use super::{EXIT_INTERNAL, EXIT_USAGE, versions};
use crate::measure::program::Program;
use crate::report::comparison::{USUAL_TOLERANCE, results};
use crate::report::json::{self, Command, EndedRecord, RuleRecord, SamplesFile};
use crate::report::suite::{level_table, speedup_table, suite, suite_sentences};
use crate::report::summary::summaries;
use crate::report::text::remarks;

/// Runs `szc sweep` with the arguments after the word `sweep`.
///
/// Prints to stdout and stderr; the exit code is one of those in [`super`].
#[must_use]
pub fn command(arguments: &[OsString]) -> ExitCode {
    let options: Options = match config::parse(Subject::Suite, arguments) {
        Ok(options) => options,
        Err(error) => return explain(&error),
    };
    let workloads = match workloads(&options) {
        Ok(workloads) => workloads,
        Err(failure) => {
            complain("sweep", &failure.message());
            return failure.exit_code().into();
        }
    };
    let design = match design(&options) {
        Ok(design) => design,
        Err(error) => {
            complain("sweep", &format!("{error:#}"));
            return EXIT_USAGE.into();
        }
    };
    match sweep(&options, design, &workloads, &command_line("sweep", arguments)) {
        Ok(code) => code.into(),
        Err(error) => {
            complain("sweep", &format!("{error:#}"));
            EXIT_INTERNAL.into()
        }
    }
}

/// A program of the suite: the same command at all levels, the reference first.
struct Workload {
    name: String,
    levels: Vec<(String, Program)>,
}

fn workloads(options: &Options) -> Result<Vec<Workload>, Failure> {
    let usage = |error: anyhow::Error| Failure::Usage(format!("{error:#}"));
    let commands = &options.commands;
    if commands.is_empty() {
        return Err(usage(anyhow!(
            "no command, and at least one is needed: -- './bench input', or [[programs]] in szc.toml"
        )));
    }
    let names = names(commands, &options.names).map_err(usage)?;
    let mut built = versions::build(&options.build, commands, options.common.quiet)?;
    if built.len() < 2 || built.len() > MOST_PROGRAMS {
        return Err(usage(anyhow!(
            "{} levels, and 2 to {MOST_PROGRAMS} are needed: as in --flags=-O1,-O2,-O3 or --param n=1,2,4",
            built.len()
        )));
    }
    put_reference_first(&mut built, options.reference.as_deref()).map_err(usage)?;
    names
        .into_iter()
        .zip(commands)
        .map(|(name, command)| {
            let levels = built.iter().enumerate().map(|(index, version)| {
                let program = Program {
                    label: version.label.clone(),
                    name: Some(name.clone()),
                    ..versions::program(index, version, command)?
                };
                Ok((version.label.clone(), program))
            });
            Ok(Workload { levels: levels.collect::<Result<_, Failure>>()?, name })
        })
        .collect()
}

/// The names given, or else the first word of each command, all different.
fn names(commands: &[String], given: &[String]) -> Result<Vec<String>> {
    if given.len() > commands.len() {
        bail!("{} names for {} commands: give at most as many --name", given.len(), commands.len());
    }
    let mut names: Vec<String> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let first = command.split_whitespace().next().unwrap_or_default();
        let file = Path::new(first).file_name().unwrap_or_default().to_string_lossy();
        let name = given.get(index).map_or(file.as_ref(), String::as_str);
        let same = names.iter().filter(|known| known.split(" #").next() == Some(name)).count();
        if same > 0 && given.get(index).is_some() {
            bail!("--name {name} is given twice: programs need names of their own");
        }
        names.push(if same > 0 { format!("{name} #{}", same + 1) } else { name.to_owned() });
    }
    Ok(names)
}

fn put_reference_first(levels: &mut [Version], reference: Option<&str>) -> Result<()> {
    let Some(reference) = reference else {
        return Ok(());
    };
    let labels: Vec<&str> = levels.iter().map(|level| level.label.as_str()).collect();
    // A level n=4 may be called 4 where there is no other parameter.
    let is_called =
        |label: &&str| *label == reference || label.split('=').nth(1) == Some(reference);
    let Some(place) = labels.iter().position(is_called) else {
        bail!("--reference {reference} is no level: there are {}", labels.join(", "));
    };
    levels[..=place].rotate_right(1);
    Ok(())
}

fn design(options: &Options) -> Result<Design> {
    // The metric and the CPU are checked before anything runs.
    options.common.conditions(options.common.metric_choice()?.metric)?;
    options.common.applied_to(Design {
        runs_per_position: options.runs_per_block,
        ..Design::mirrored(0, options.fixed, 0)
    })
}

fn sweep(
    options: &Options,
    design: Design,
    workloads: &[Workload],
    words: &[String],
) -> Result<u8> {
    let json = options.common.json.as_ref();
    if let Some(path) = json {
        json::check_writable(path)?;
    }
    let quiet = options.common.quiet;
    if !quiet {
        say(&header(workloads, &design))?;
    }
    let mut whole: Option<SamplesFile> = None;
    for (place, workload) in workloads.iter().enumerate() {
        if !quiet && workloads.len() > 1 {
            // Nothing measured is to be lost because nobody reads this.
            let _ = writeln!(stderr(), "{} ({} of {})", workload.name, place + 1, workloads.len());
        }
        let experiment = experiment(options, design, place, workload, words)?;
        let file = add(whole.take(), experiment.carry_out()?, workload, &design);
        let is_over = file.ended != EndedRecord::Complete;
        let rest = workloads.len() - place - 1;
        if let (Some(path), true, false) = (json, rest > 0, is_over) {
            save(path, &SamplesFile { ended: EndedRecord::Unfinished, ..file.clone() })?;
        }
        whole = Some(file);
        if is_over {
            break;
        }
    }
    let mut file = whole.ok_or_else(|| anyhow!("there was nothing to measure"))?;
    analyse(&mut file);
    conclude(json, &file, &report(&file, quiet))
}

fn experiment(
    options: &Options,
    design: Design,
    place: usize,
    workload: &Workload,
    words: &[String],
) -> Result<Experiment> {
    let choice = options.common.metric_choice()?;
    Ok(Experiment {
        command: Command::Sweep,
        command_line: words.to_vec(),
        programs: workload.levels.iter().map(|(_, program)| program.clone()).collect(),
        design: Design {
            programs: workload.levels.len(),
            // Seeds one apart have nothing in common: each is hashed with the index of a run.
            seed: design.seed.wrapping_add(place as u64),
            ..design
        },
        conditions: options.common.conditions(choice.metric)?,
        stopping: Stopping {
            rule: RuleRecord::Fixed,
            tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
            precision: None,
            time: None,
        },
        instruments: choice.instruments,
        metric_option: choice.option,
        json: None,
        quiet: options.common.quiet,
        earlier: None,
    })
}

/// The complete blocks of one program become part of the whole file, whose seed is the sweep's.
fn add(
    whole: Option<SamplesFile>,
    mut part: SamplesFile,
    workload: &Workload,
    design: &Design,
) -> SamplesFile {
    let blocks = part.design.complete_blocks;
    part.runs.retain(|run| run.block < blocks);
    for (record, (level, _)) in part.programs.iter_mut().zip(&workload.levels) {
        record.workload = Some(workload.name.clone());
        record.level = Some(level.clone());
    }
    part.design.plan.seed = design.seed;
    // They are made from the whole.
    part.results = Vec::new();
    part.summaries = Vec::new();
    let Some(mut whole) = whole else {
        return part;
    };
    let before = whole.programs.len();
    whole.programs.extend(part.programs);
    whole.runs.extend(part.runs.into_iter().map(|mut run| {
        run.program += before;
        run
    }));
    whole.design.complete_blocks = whole.design.complete_blocks.max(blocks);
    whole.ended = part.ended;
    whole
}

fn analyse(file: &mut SamplesFile) {
    if matches!(file.ended, EndedRecord::Refused { .. }) {
        return;
    }
    file.results = results(file);
    file.summaries = summaries(file);
    file.suite = suite(file);
}

fn header(workloads: &[Workload], design: &Design) -> String {
    let mut text = String::new();
    for workload in workloads {
        let levels: Vec<&str> = workload.levels.iter().map(|(level, _)| level.as_str()).collect();
        text.push_str(&format!("{}: {}\n", workload.name, levels.join(", ")));
    }
    text.push_str(&format!("--seed {}\n\n", design.seed));
    text
}

fn report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    let reference = file.programs.first().and_then(|program| program.level.as_deref());
    if !quiet {
        text.push_str(&format!(
            "\nSpeedup over {} by {}, 95 % intervals; * slower, ~ unresolved, = equivalent\n",
            reference.unwrap_or_default(),
            file.design.metric.title()
        ));
    }
    text.push_str(&speedup_table(file));
    if let (Some(suite), false) = (&file.suite, quiet) {
        text.push('\n');
        text.push_str(&level_table(suite));
    }
    text.push('\n');
    let sentences = suite_sentences(file);
    for line in sentences.into_iter().chain(if quiet { Vec::new() } else { remarks(file) }) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
