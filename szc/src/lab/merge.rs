//! `szc merge`: the files of a sweep that several machines, or several jobs of one, measured.
//!
//! What machines differ by is no property of a program, so nothing is compared across them: each
//! program at each level keeps the machine that measured it, and machines are blocks of the
//! analysis.
#![forbid(unsafe_code)]

mod join;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Parser;

use self::join::joined;
use super::sweep::conclude_made;
use crate::lab::analysis::analyse;
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::samples::{SamplesFile, io};

const LONG_ABOUT: &str = "\
Joins the samples files of one sweep that was measured in parts, or on several machines, to one \
file; \
and says what the whole of it says.

A program at all its levels was measured by one machine in interleaved blocks. Merging keeps that: \
a \
level is compared with the reference of the same program on the same machine, never with another \
machine's. Machines are told apart by host name, processor and number of usable CPUs.";

const AFTER_HELP: &str = "\
Examples:
  szc sweep --shard 1/2 --seed 7 --json 1.json      on one machine
  szc sweep --shard 2/2 --seed 7 --json 2.json      on another
  szc merge 1.json 2.json --json whole.json
  szc report whole.json --html whole.html

Over all programs, the machines are blocks of the analysis of variance: what levels do
on one machine and not on another is tested, and is no part of the error. Where each
machine measured only one program that cannot be told apart, and the report says so.
A program that several machines measured has a comparison for each, and one of all with
the machines as blocks (each counts the same) beside a test of whether they agree.

Refused: files that differ in levels, metric, blocks or other things of the plan; a
program that the same machine measured twice; a shard that is missing, or a sweep that
was cut off, without --partial.

Exit status: 0 merged, whatever the verdicts are; 1 szc could not do its work; 2 usage
error, or files that do not belong together.";

/// Options of `szc merge`.
#[derive(Debug, Parser)]
#[command(
    name = "szc merge",
    bin_name = "szc merge",
    no_binary_name = true,
    about = "Joins the parts of a sweep that several machines measured",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc merge 1.json 2.json --json whole.json\nMore with --help."
)]
pub(crate) struct Options {
    /// Samples files of szc sweep
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write the joined samples, with the results, to a file
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,

    /// Join what there is, although shards are missing or were cut off
    #[arg(long)]
    partial: bool,

    /// Print only the verdicts
    #[arg(long, short)]
    quiet: bool,
}

impl Subcommand for Options {
    const NAME: &'static str = "merge";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let file = read_all(&self, command_line);
        conclude_made(Self::NAME, file, self.json.as_ref(), self.quiet)
    }
}

fn read_all(options: &Options, command_line: Vec<String>) -> Result<SamplesFile> {
    let files: Vec<(&Path, SamplesFile)> = options
        .files
        .iter()
        .map(|path| Ok((path.as_path(), io::read(path)?)))
        .collect::<Result<_>>()?;
    let mut file = joined(&files, options.partial)?;
    file.command_line = command_line;
    analyse(&mut file);
    Ok(file)
}

#[cfg(test)]
mod tests;
