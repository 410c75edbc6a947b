//! The command line of `szc paths`.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::Parser;
use szc_paths::{MAX_LENGTH, MIN_SPACING};

use crate::lab::values::parse_time;

const LONG_ABOUT: &str = "\
Finds the sequences of basic blocks that a program executes most often, wherever they begin, in \
loops and across calls.

The program must be built with `szc -Rpaths`: its blocks then tell the runtime of themselves, \
one in thousands of them. Its code stays in place while it is profiled.";

const AFTER_HELP: &str = "\
Examples:
  szc -O2 -g -Rpaths program.c -o program
  szc paths -- ./program input               the 20 most frequent, with source lines
  szc paths --min-length 8 --json paths.json -- ./program input
  szc paths --every 1s -- ./server           what is known each second (or at SIGUSR1 to szc)
  szc paths --exact --max-length 16 -- ./program small-input

Subpaths have 2, 4, 8, … blocks. Their counts are estimated from a random sample, and the
intervals are those of Poisson numbers, at 95 % each. Rows are ordered by the lower end.

Exit status: 0 done; 1 szc could not do its work; 2 usage error, or a program that tells of no
blocks; 4 the program failed (what it left is shown). 128 and the number of a signal that asked
to stop.";

/// Options of `szc paths`.
#[derive(Debug, Parser)]
#[command(
    name = "szc paths",
    bin_name = "szc paths",
    no_binary_name = true,
    about = "Finds the sequences of basic blocks that a program executes most often",
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    override_usage = "szc paths [OPTIONS] -- CMD…"
)]
pub(crate) struct Options {
    /// How many rows the table has
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,

    /// Memory of each thread's profile: 64K, 1M [default: 64K, with --exact 256M]
    #[arg(long, value_name = "BYTES", value_parser = kibibytes)]
    memory: Option<u32>,

    /// Length of the longest subpaths in blocks, a power of two
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    max_length: u32,

    /// Show only subpaths that have at least so many blocks
    #[arg(long, value_name = "BLOCKS", default_value_t = 2)]
    pub min_length: u32,

    /// What rows are ordered by
    #[arg(long, value_enum, value_name = "WHAT", default_value = "count")]
    pub weight: Weight,

    /// Mean number of blocks between two beginnings of subpaths, as long as the memory suffices
    #[arg(long, value_name = "BLOCKS", default_value_t = 4096, conflicts_with = "exact")]
    spacing: u32,

    /// Count all subpaths of each length at each block: slow
    #[arg(long)]
    exact: bool,

    /// Show what is known so far at such times, too: 1s, 500ms
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "exact")]
    pub every: Option<Duration>,

    /// Show also the source and the instructions of the blocks of each row
    #[arg(long)]
    pub listing: bool,

    /// Write all that was found as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write one self-contained HTML page, with instructions and a plot
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,

    /// Write an SVG of what follows what, in the form of a flame graph: subpaths of 8 blocks, or of
    /// --min-length
    #[arg(long, value_name = "FILE")]
    pub flame: Option<PathBuf>,

    /// Write how often blocks are executed, for llvm-profgen --unsymbolized-profile --use-offset=0
    #[arg(long, value_name = "FILE")]
    pub profgen: Option<PathBuf>,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<String>,
}

/// What subpaths are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Weight {
    /// How often they are executed
    Count,
    /// That, times the number of their blocks
    Blocks,
    /// That, times the cycles that their instructions take by a simple table
    Time,
}

/// How the runtime is to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct How {
    pub memory_kib: u32,
    pub max_length: u32,
    /// 0 to count all.
    pub spacing: u32,
}

/// "64K", "1M", "65536".
fn kibibytes(text: &str) -> Result<u32, String> {
    let units = [("K", 1), ("M", 1024), ("KiB", 1), ("MiB", 1024)];
    let with_unit = units
        .iter()
        .find_map(|(unit, kib)| text.strip_suffix(unit)?.parse::<u32>().ok()?.checked_mul(*kib));
    let bytes = || text.parse::<u32>().ok().map(|bytes| bytes.div_ceil(1024));
    with_unit
        .or_else(bytes)
        .filter(|kib| (1..=1 << 20).contains(kib))
        .ok_or_else(|| "an amount of memory such as 64K or 1M is needed, up to 1024M".to_owned())
}

impl Options {
    /// How the runtime is to count.
    ///
    /// # Errors
    /// A number makes no sense, or not with the others.
    pub(super) fn how(&self) -> Result<How> {
        if !self.max_length.is_power_of_two() || !(2..=MAX_LENGTH).contains(&self.max_length) {
            return Err(anyhow!(
                "--max-length {}: a power of two from 2 to {MAX_LENGTH} is needed",
                self.max_length
            ));
        }
        if self.min_length > self.max_length {
            return Err(anyhow!(
                "--min-length {} is larger than --max-length {}: there would be nothing to show",
                self.min_length,
                self.max_length
            ));
        }
        if !self.exact && !(MIN_SPACING..=1_000_000_000).contains(&self.spacing) {
            return Err(anyhow!(
                "--spacing {}: at least {MIN_SPACING} blocks are needed, or --exact",
                self.spacing
            ));
        }
        let memory_kib = self.memory.unwrap_or(if self.exact { 256 << 10 } else { 64 });
        let spacing = if self.exact { 0 } else { self.spacing };
        let how = How { memory_kib, max_length: self.max_length, spacing };
        if !how.fits() {
            return Err(anyhow!(
                "{memory_kib} KiB of --memory are too little for subpaths of {} blocks: give more, \
                 or a smaller --max-length",
                self.max_length
            ));
        }
        Ok(how)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(args: &[&str]) -> Result<How> {
        Options::try_parse_from([args, &["--", "a"]].concat())?.how()
    }

    #[test]
    fn defaults_and_exact_counts_have_memory_that_suits_them() {
        let sampled = How { memory_kib: 64, max_length: 64, spacing: 4096 };
        assert_eq!(how(&[]).unwrap(), sampled);
        let exact = How { memory_kib: 256 << 10, max_length: 16, spacing: 0 };
        assert_eq!(how(&["--exact", "--max-length", "16"]).unwrap(), exact);
        assert_eq!(how(&["--memory", "1M"]).unwrap().memory_kib, 1024);
        assert_eq!(how(&["--memory", "70000"]).unwrap().memory_kib, 69);
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for args in [
            &["--max-length", "48"][..],
            &["--max-length", "1"],
            &["--max-length", "131072"],
            &["--min-length", "128"],
            &["--spacing", "100"],
            &["--spacing", "1000", "--exact"],
            &["--every", "1s", "--exact"],
            &["--every", "0s"],
            &["--memory", "0"],
            &["--memory", "2G"],
            &["--memory", "1K"],
            &["--max-length", "65536"],
        ] {
            assert!(how(args).is_err(), "{args:?}");
        }
    }
}
