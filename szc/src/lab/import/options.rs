//! The command line of `szc import` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;

use crate::lab::options::{parse_harness, parse_rows};
use crate::lab::values::{parse_row_tolerance, parse_share};
use crate::samples::RowTolerance;

const LONG_ABOUT: &str = "\
Makes a samples file of what was measured elsewhere, so that szc compare, gate, report, export \
and history work on it.

Of SPEC CPU2006 or CPU2017, RUNS is the table that spec-scripts/spec/measure.sh writes: which \
level ran when, under which seed, and the raw file (.rsf) with its times. The metric is the wall \
time that SPEC's tools report.

With --harness, the files are what a harness of benchmarks wrote, one for each run of the program \
(of criterion the folder target/criterion), and each benchmark is a row with a verdict.";

const AFTER_HELP: &str = "\
Examples:
  szc import results/runs.tsv --reference O2 --json results/suite.json
  szc import --harness auto --a old/*.json --b new/*.json --json rows.json
  szc import --harness criterion runs.tsv --json rows.json
  szc gate rows.json                       the exit code answers

The table: a first line `szc-spec-runs 1` (of a harness `szc-runs 1`), then a line for
each call of SPEC's tools or the harness with block, position, level, seed, whether the
programs were randomized (yes or no) and file, with tabs between them. Blocks and
positions count from 0; file names are relative to the table. A block has every level
twice. Lines that begin with # are comments, and a block that is not complete is left
out. Several iterations in one raw file are runs of the same position.

Files after --a and --b have no common blocks, like two files of szc run: their groups
are compared by Welch's t test, and what changed on the machine between them is part of
the difference. If the runs were interleaved, say so by a table.

Import on the machine that measured: the samples file describes this one.

Exit status: 0 imported, whatever the verdicts are; 1 szc could not do its work; 2 usage
error, or files that do not belong together; a failed run of a benchmark included.";

/// Options of `szc import`.
#[derive(Debug, Parser)]
#[command(
    name = "szc import",
    bin_name = "szc import",
    no_binary_name = true,
    about = "Makes a samples file of what SPEC's tools or a harness measured",
    override_usage = "szc import [OPTIONS] RUNS\n       szc import --harness FORMAT [OPTIONS] \
                      --a FILES --b FILES\n       szc import --harness FORMAT [OPTIONS] RUNS",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Examples: szc import runs.tsv --json suite.json\n          szc import --harness \
                  auto --a old/*.json --b new/*.json --json rows.json\nMore with --help."
)]
pub(crate) struct Options {
    /// Table of the runs
    #[arg(value_name = "RUNS", required_unless_present = "a", conflicts_with_all = ["a", "b"])]
    pub(super) table: Option<PathBuf>,

    /// What the files are of: google-benchmark, criterion, divan, nanobench, catch2, pytest,
    /// hyperfine, or auto
    #[arg(long, value_name = "FORMAT", value_parser = parse_harness)]
    pub(super) harness: Option<String>,

    /// Files of the reference, one for each run
    #[arg(long, value_name = "FILES", num_args = 1.., requires_all = ["b", "harness"])]
    pub(super) a: Vec<PathBuf>,

    /// Files of the program that is compared with it
    #[arg(long, value_name = "FILES", num_args = 1.., requires = "a")]
    pub(super) b: Vec<PathBuf>,

    /// Only benchmarks whose name matches, or with ! in front all others; several conditions with
    /// && between them
    #[arg(long, value_name = "REGEX", requires = "harness", value_parser = parse_rows)]
    pub(super) rows: Option<String>,

    /// What a difference may be in rows with such names, in which * stands for any text and ? for
    /// one character; the first that fits a row counts
    #[arg(
        long = "row-tolerance",
        value_name = "NAME=SHARE",
        requires = "harness",
        value_parser = parse_row_tolerance,
        action = clap::ArgAction::Append
    )]
    pub(super) row_tolerances: Vec<RowTolerance>,

    /// Write the samples, with the results, to a file
    #[arg(long, value_name = "OUT")]
    pub(super) json: Option<PathBuf>,

    /// The level that the others are compared with [default: that of the first line]
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    pub(super) reference: Option<String>,

    /// Difference that does not matter, for "equivalent" [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) delta: Option<f64>,

    /// Print only the verdicts
    #[arg(long, short)]
    pub(super) quiet: bool,
}
