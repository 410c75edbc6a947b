//! The command line of `szc sweep` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;

use crate::lab::build::BuildOptions;
use crate::lab::config::ConfigOptions;
use crate::lab::options::{CommonOptions, FIXED_BY_A_FILE};
use crate::lab::values::parse_share;
use crate::samples::design::{MAX_BLOCKS, MAX_RUNS_PER_POSITION};
use crate::samples::shard::Shard;

const LONG_ABOUT: &str = "\
Measures levels of a parameter on several programs, and says which levels differ: on each program, \
and over all of them.

A level is a set of compiler flags, a value of a parameter, or a revision. szc sweep builds every \
program at every level, runs all levels of a program in interleaved blocks with a fresh layout in \
each run, and analyses the suite by an analysis of variance within programs.";

const AFTER_HELP: &str = "\
Examples:
  szc sweep --build 'make CC=szc CFLAGS={flags}' --flags=-O1,-O2,-O3 -- './a input' './b input'
  szc sweep --param threads=1,2,4 -- './bench --threads {threads}'
  szc sweep --fixed 40 --json levels.json       with programs and builds in szc.toml
  szc sweep --resume levels.json                go on with what Ctrl-C ended
  szc sweep --shard 2/4 --seed 7 --json 2.json  the second of four machines; then szc merge

Levels: all combinations of --rev, --flags and --param. The first one is the reference,
unless --reference names another.

Table: speedups over the reference, above 1 if the level takes less, with the 95 %
interval; * significantly slower, ~ unresolved, = equivalent within --delta. Levels of
a program share one error rate (Holm).

Suite, from two programs on: the mean of each level with the interval of Loftus and
Masson, each level against the reference (paired t on log means, Holm), and F, degrees
of freedom, p (also after Greenhouse and Geisser) and effect size of the one-way
analysis of variance within subjects, the programs being the subjects. The number of
blocks is fixed: means of experiments that stop when they look good are not unbiased.

Several machines: --shard K/N takes the programs K, K+N, K+2N … of the suite. With one
--seed the shards have the same layouts as the whole sweep. szc merge joins their files.

Exit status: 0 measured, whatever the verdicts are; 1 szc could not do its work;
2 usage error; 4 a build or a program failed; 130 stopped by Ctrl-C (complete blocks
are reported, and saved; --resume goes on).";

/// Options of `szc sweep`.
#[derive(Debug, Parser)]
#[command(
    name = "szc sweep",
    bin_name = "szc sweep",
    override_usage = "szc sweep [OPTIONS] -- 'CMD' ['CMD' …]\n       szc sweep --resume FILE.json",
    no_binary_name = true,
    about = "Measures levels of a parameter on several programs",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc sweep --param n=1,2,4 -- './bench {n}'\nMore with --help."
)]
pub(crate) struct Options {
    /// Blocks of each program, at least 6
    #[arg(
        long,
        visible_alias = "blocks",
        value_name = "N",
        default_value = "20",
        value_parser = clap::value_parser!(u32).range(6..=i64::from(MAX_BLOCKS))
    )]
    pub(super) fixed: u32,

    /// Difference that does not matter, for "equivalent" [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) delta: Option<f64>,

    /// The level that the others are compared with [default: the first]
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    pub(super) reference: Option<String>,

    /// Name of a program in the report; once for each, in the order of the commands
    #[arg(long = "name", value_name = "NAME")]
    pub(super) names: Vec<String>,

    /// Runs in each of the two positions of a level in a block
    #[arg(
        long,
        value_name = "M",
        default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS_PER_POSITION))
    )]
    pub(super) runs_per_block: u32,

    /// Measure only this part of the programs: the K-th of N
    #[arg(long, value_name = "K/N")]
    pub(super) shard: Option<Shard>,

    /// Go on with the interrupted sweep of a samples file, and save to it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = FIXED_BY_A_FILE,
        conflicts_with_all = ["fixed", "delta", "names", "reference", "runs_per_block", "shard"]
    )]
    pub(super) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(super) common: CommonOptions,

    #[command(flatten)]
    pub(super) build: BuildOptions,

    #[command(flatten)]
    pub(super) config: ConfigOptions,

    /// The commands, each as one quoted string
    #[arg(value_names = ["COMMAND"])]
    pub(super) commands: Vec<String>,
}
