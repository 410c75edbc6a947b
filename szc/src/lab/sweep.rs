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

use anyhow::{Result, anyhow, bail};

use self::plan::{Sweep, Workload};
use super::build::Version;
use super::config::{self, Subject};
use super::exit::EXIT_VERDICT;
use super::options::USUAL_METRIC;
use super::output::say;
use super::versions;
use crate::lab::conclusion::conclude;
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::measure::program::Program;
use crate::report::suite::suite_report;
use crate::report::text::comparison_report;
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::{Design, MAX_PROGRAMS};
use crate::samples::shard::Shard;
use crate::samples::{Command, SamplesFile};

pub(crate) use self::options::Options;

impl Subcommand for Options {
    const NAME: &'static str = "sweep";

    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        config::parse(Subject::Suite, arguments)
    }

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        if self.common.harness.is_some() {
            return Err(Failure::Usage(anyhow!(
                "a sweep has one figure of each program, and a harness many: compare two levels \
                 with szc compare --harness"
            )));
        }
        let sweep = match &self.resume {
            Some(path) => {
                resume::rest_of(path, command_line, self.common.quiet).map_err(Failure::Usage)?
            }
            None => described(&self, command_line)?,
        };
        Ok(measured(&sweep)?)
    }
}

fn workloads(options: &Options) -> Result<Vec<Workload>, Failure> {
    let commands = &options.commands;
    if commands.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "no command, and at least one is needed: -- './bench input', or [[programs]] in \
             szc.toml"
        )));
    }
    let names = names(commands, &options.names).map_err(Failure::Usage)?;
    let (names, commands) = part_of(options.shard, names, commands).map_err(Failure::Usage)?;
    let levels = options.build.levels(&commands).map_err(|text| Failure::Usage(anyhow!(text)))?;
    if let Some(twice) = levels
        .iter()
        .enumerate()
        .find(|(place, level)| levels[..*place].iter().any(|known| known.label == level.label))
    {
        return Err(Failure::Usage(anyhow!(
            "the level {} is there twice: name each once",
            twice.1.label
        )));
    }
    let mut built = versions::build(&options.build, &commands, options.common.quiet)?;
    if built.len() < 2 || built.len() > MAX_PROGRAMS {
        return Err(Failure::Usage(anyhow!(
            "{} levels, and 2 to {MAX_PROGRAMS} are needed: as in --flags=-O1,-O2,-O3 or --param \
             n=1,2,4",
            built.len()
        )));
    }
    put_reference_first(&mut built, options.reference.as_deref()).map_err(Failure::Usage)?;
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
            "--shard {shard} holds none of the programs: there are {count}, so give at most \
             1/{count} to {count}/{count}"
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
fn described(options: &Options, command_line: Vec<String>) -> Result<Sweep, Failure> {
    let workloads = workloads(options)?;
    let common = &options.common;
    let design = common
        .applied_to(Design {
            runs_per_position: options.runs_per_block,
            ..Design::mirrored(0, options.fixed, 0)
        })
        .map_err(Failure::Usage)?;
    let choice = common.metric_choice().map_err(Failure::Usage)?;
    Ok(Sweep {
        workloads,
        design,
        // The CPU is checked before anything runs.
        conditions: common.conditions(choice.metric).map_err(Failure::Usage)?,
        shard: options.shard,
        metric: common.metric.clone().unwrap_or_else(|| USUAL_METRIC.to_owned()),
        tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
        command_line,
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
    conclude(sweep.json.as_ref(), &file, &suite_report(&file, sweep.quiet))
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

/// Ends a command that made a file, mostly of a sweep, without measuring: says what it says, and
/// saves it.
/// Whether the sweep was complete or not, the exit code is about the making.
///
/// # Errors
/// Usage, if it was not made.
pub(super) fn conclude_made(
    command: &str,
    made: Result<SamplesFile>,
    json: Option<&PathBuf>,
    quiet: bool,
) -> Result<u8, Failure> {
    let file = made.map_err(Failure::Usage)?;
    // What the machines warn of belongs to the result.
    for line in file.advice.iter().filter(|_| !quiet) {
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(stderr(), "szc {command}: warning: {line}");
    }
    let report = match file.command {
        Command::Sweep => suite_report(&file, quiet),
        _ => comparison_report(&file, quiet),
    };
    conclude(json, &file, &report)?;
    Ok(EXIT_VERDICT)
}

#[cfg(test)]
mod tests;
