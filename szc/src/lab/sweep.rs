//! `szc sweep`: levels of a parameter on the programs of a suite.
//!
//! Each program is an experiment of its own, whose blocks interleave all levels; together they make
//! one samples file, in which a program at a level is one of the programs.
#![forbid(unsafe_code)]

mod options;
pub(super) mod plan;
mod resume;

use std::ffi::OsString;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};

pub(crate) use self::options::Options;
use self::plan::{Sweep, Workload};
use super::build::{Failure, Version};
use super::config::{self, Subject};
use super::design::{Design, MOST_PROGRAMS};
use super::experiment::{command_line, conclude};
use super::options::USUAL_METRIC;
use super::output::{complain, explain, say};
use super::shard::Shard;
use super::{EXIT_INTERNAL, EXIT_USAGE, EXIT_VERDICT, versions};
use crate::measure::program::Program;
use crate::report::comparison::USUAL_TOLERANCE;
use crate::report::json::SamplesFile;
use crate::report::machines::machines_text;
use crate::report::suite::{level_table, speedup_table, suite_sentences};
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
    let words = command_line("sweep", arguments);
    let sweep = match &options.resume {
        Some(path) => resume::rest_of(path, words, options.common.quiet)
            .map_err(|error| Failure::Usage(format!("{error:#}"))),
        None => described(&options, words),
    };
    let sweep = match sweep {
        Ok(sweep) => sweep,
        Err(failure) => {
            complain("sweep", &failure.message());
            return failure.exit_code().into();
        }
    };
    match measured(&sweep) {
        Ok(code) => code.into(),
        Err(error) => {
            complain("sweep", &format!("{error:#}"));
            EXIT_INTERNAL.into()
        }
    }
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
    let (names, commands) = part_of(options.shard, names, commands).map_err(usage)?;
    let levels = options.build.levels(&commands).map_err(|text| usage(anyhow!(text)))?;
    if let Some(twice) = levels
        .iter()
        .enumerate()
        .find(|(place, level)| levels[..*place].iter().any(|known| known.label == level.label))
    {
        return Err(usage(anyhow!("the level {} is there twice: name each once", twice.1.label)));
    }
    let mut built = versions::build(&options.build, &commands, options.common.quiet)?;
    if built.len() < 2 || built.len() > MOST_PROGRAMS {
        return Err(usage(anyhow!(
            "{} levels, and 2 to {MOST_PROGRAMS} are needed: as in --flags=-O1,-O2,-O3 or --param n=1,2,4",
            built.len()
        )));
    }
    put_reference_first(&mut built, options.reference.as_deref()).map_err(usage)?;
    names
        .into_iter()
        .zip(&commands)
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

/// The programs of the shard.
fn part_of(
    shard: Option<Shard>,
    names: Vec<String>,
    commands: &[String],
) -> Result<(Vec<String>, Vec<String>)> {
    let programs = names.into_iter().zip(commands.iter().cloned());
    let Some(shard) = shard else {
        return Ok(programs.unzip());
    };
    let count = commands.len();
    let taken = programs.enumerate().filter(|(place, _)| shard.takes(*place));
    let (names, commands): (Vec<String>, Vec<String>) = taken.map(|(_, program)| program).unzip();
    if names.is_empty() {
        bail!(
            "--shard {shard} holds none of the programs: there are {count}, so give at most 1/{count} to {count}/{count}"
        );
    }
    Ok((names, commands))
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

/// The sweep that the options describe, everything built.
fn described(options: &Options, words: Vec<String>) -> Result<Sweep, Failure> {
    let workloads = workloads(options)?;
    let usage = |error: anyhow::Error| Failure::Usage(format!("{error:#}"));
    let common = &options.common;
    let design = common
        .applied_to(Design {
            runs_per_position: options.runs_per_block,
            ..Design::mirrored(0, options.fixed, 0)
        })
        .map_err(usage)?;
    let choice = common.metric_choice().map_err(usage)?;
    Ok(Sweep {
        workloads,
        design,
        // The CPU is checked before anything runs.
        conditions: common.conditions(choice.metric).map_err(usage)?,
        shard: options.shard,
        metric: common.metric.clone().unwrap_or_else(|| USUAL_METRIC.to_owned()),
        tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
        words,
        json: common.json.clone(),
        quiet: common.quiet,
        earlier: None,
    })
}

fn measured(sweep: &Sweep) -> Result<u8> {
    if !sweep.quiet {
        say(&header(&sweep.workloads, &sweep.design))?;
    }
    let file = sweep.carry_out()?;
    conclude(sweep.json.as_ref(), &file, &report(&file, sweep.quiet))
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

/// Ends a command that made the file of a sweep without measuring: says what it says, and saves it.
/// Whether the sweep was complete or not, the exit code is about the making.
pub(super) fn conclude_made(
    command: &str,
    made: Result<SamplesFile>,
    json: Option<&PathBuf>,
    quiet: bool,
) -> ExitCode {
    let (error, code) = match made {
        Ok(file) => {
            // What the machines warn of belongs to the result.
            for line in file.advice.iter().filter(|_| !quiet) {
                // A closed stderr leaves nobody to tell.
                let _ = writeln!(stderr(), "szc {command}: warning: {line}");
            }
            match conclude(json, &file, &report(&file, quiet)) {
                Ok(_) => return EXIT_VERDICT.into(),
                Err(error) => (error, EXIT_INTERNAL),
            }
        }
        Err(error) => (error, EXIT_USAGE),
    };
    complain(command, &format!("{error:#}"));
    code.into()
}

/// What the samples of a sweep say.
fn report(file: &SamplesFile, quiet: bool) -> String {
    let mut text = String::new();
    let reference = file.programs.first().and_then(|program| program.level.as_deref());
    if !quiet {
        text.push_str(&machines_text(file));
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
