//! The command line of `szc compare` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;
use szc_stats::fixed::MIN_BLOCKS;

use crate::lab::build::BuildOptions;
use crate::lab::config::ConfigOptions;
use crate::lab::options::{CommonOptions, ComparisonOptions, FIXED_BY_A_FILE};
use crate::lab::values::parse_share;
use crate::samples::design::MAX_BLOCKS;

const LONG_ABOUT: &str = "\
Compares commands over many random layouts and says which is faster.

A layout is one arrangement of functions, frames and blocks in memory; it alone can make \
the same program several percent faster or slower. szc compare therefore gives every run a \
fresh layout, runs the commands in interleaved blocks, and compares them block by \
block, so that neither a lucky layout nor a drift of the machine passes for a \
difference between the programs. Build all programs with CC=szc.";

const AFTER_HELP: &str = "\
Examples:
  szc compare -- './bench-O2 input' './bench-O3 input'
  szc compare --fixed 40 --name A=-O2 --name B=-O3 --json o2-o3.json -- ./bench-O2 ./bench-O3
  szc compare --delta 0.5% --budget 10m -- './old < /data/in' './new < /data/in'
  szc compare -- './list input' './tree input' './hash input'
  szc compare --build 'make CC=szc CFLAGS={flags}' --flags=-O2,-O3 -- './bench input'
  szc compare --build 'make CC=szc' --rev main --rev HEAD -- './bench input'
  szc compare --resume o2-o3.json          go on with what Ctrl-C ended
  szc compare o2-o3.json --metric wall     read saved samples again
  szc compare old.json new.json            two files of szc run, as groups

Blocks: a block runs all commands in an order drawn at random, and then in the
reverse order (ABBA or BAAB); with --runs-per-block M each letter stands for M runs.
The number of blocks is the n of the statistics.

When it stops: as soon as there is a verdict that holds however often one looks
(a confidence sequence, from 10 blocks on), or when the budget is spent. With
--fixed N it is N blocks, and one look at the end.

Verdict: faster or slower if the 95 % interval of the ratio excludes 1; equivalent
if the interval lies within the tolerance of --delta on both sides and is of as many
layouts as would have shown a slow one (--slowest-layout); otherwise unresolved, which
does not mean that the programs are alike; it comes with the number of blocks that
would settle it. More than two commands are compared with
the first, and share one error rate (Holm).

Commands: each command is one quoted string. A simple one is executed directly;
one with pipes, variables and the like is run by /bin/sh, which then is part of
what is measured. stdin is /dev/null; stdout is hashed and discarded.

Versions: with --flags, --param or --rev there is one command, and what is compared
are the versions of it that they make. --build makes each in a copy of the tree of
its own, where the command runs, too; or into {out}, if it says so. What was built
once is kept. szc.toml can hold what is built and how it is measured.

Environment of the commands: SZC_SEED (and SZC_CODE_SEED, SZC_STACK_SEED and
SZC_HEAP_SEED) is set to a fresh layout seed of sixteen digits in every run,
SZC_LOG to a temporary file, and SZC_PADDING to a text of random length
(--env-size fixed: not); values of yours are overridden. All follow from --seed,
the block and the position. Other SZC_ variables are passed on.

Exit status: 0 a verdict was reached, \"unresolved\" included; 1 szc could not do
its work; 2 usage error, or a samples file that cannot be used; 4 a command failed
or cannot be compared; 130 stopped by Ctrl-C (what was measured is reported, and
saved; --resume goes on).";

/// Options of `szc compare`.
#[derive(Debug, Parser)]
#[command(
    name = "szc compare",
    bin_name = "szc compare",
    override_usage = "szc compare [OPTIONS] -- 'CMD_A' 'CMD_B' ['CMD_C' …]\n       szc compare \
                      [OPTIONS] FILE.json [FILE.json]\n       szc compare --resume FILE.json",
    no_binary_name = true,
    about = "Compares commands over many random layouts and says which is faster",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc compare -- './bench-O2 input' './bench-O3 input'\nMore with --help."
)]
pub(crate) struct Options {
    /// Measure N blocks, at least 6, and look once at the end
    #[arg(
        long,
        visible_alias = "blocks",
        value_name = "N",
        value_parser = parse_blocks,
        conflicts_with = "budget"
    )]
    pub(super) fixed: Option<u32>,

    /// Difference that does not matter, for "equivalent" [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) delta: Option<f64>,

    /// Go on with the interrupted experiment of a samples file, and save to it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = FIXED_BY_A_FILE,
        conflicts_with_all = ["fixed", "delta", "names", "runs_per_block", "across_machines"],
        conflicts_with = "row_tolerances"
    )]
    pub(super) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(super) comparison: ComparisonOptions,

    #[command(flatten)]
    pub(super) common: CommonOptions,

    #[command(flatten)]
    pub(super) build: BuildOptions,

    #[command(flatten)]
    pub(super) config: ConfigOptions,

    /// The commands, each as one quoted string; or samples files
    #[arg(value_names = ["COMMAND"])]
    pub(super) commands: Vec<String>,
}

fn parse_blocks(text: &str) -> Result<u32, String> {
    let blocks: u32 = text.parse().map_err(|_| "a whole number is needed")?;
    if blocks as usize >= MIN_BLOCKS && blocks <= MAX_BLOCKS {
        Ok(blocks)
    } else {
        Err(format!(
            "{MIN_BLOCKS} to {MAX_BLOCKS} blocks are needed: no 95 % interval of a median \
             exists below {MIN_BLOCKS}"
        ))
    }
}
