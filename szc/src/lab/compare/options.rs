//! The command line of `szc compare` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use crate::lab::design::MOST_RUNS_PER_POSITION;
use crate::measure::program::Program;
use crate::measure::sample::{Metric, Side};
use crate::stats::fixed::FEWEST_BLOCKS;

const LONG_ABOUT: &str = "\
Compares two commands over many random layouts and says which is faster.

A layout is one arrangement of functions in memory; it alone can make the same \
program several percent faster or slower. szc compare therefore gives every run a \
fresh layout, runs A and B in interleaved blocks, and compares them block by \
block, so that neither a lucky layout nor a drift of the machine passes for a \
difference between the programs. Build both programs with CC=szc.";

const AFTER_HELP: &str = "\
Examples:
  szc compare -- './bench-O2 input' './bench-O3 input'
  szc compare --blocks 40 --name A=-O2 --name B=-O3 --json o2-o3.json -- ./bench-O2 ./bench-O3
  szc compare --metric rss --quiet -- './old < /data/in' './new < /data/in'

Blocks: a block runs A and B in the order ABBA or BAAB, drawn at random; with
--runs-per-block M each letter stands for M runs, so a block holds 2·M runs of A
and 2·M of B. The number of blocks is the n of the statistics.

Commands: each command is one quoted string. A simple one is executed directly;
one with pipes, variables and the like is run by /bin/sh, which then is part of
what is measured. stdin is /dev/null; stdout is hashed and discarded.

Environment of the commands: SZC_SEED is set to a fresh layout seed of sixteen
digits in every run, and SZC_LOG to a temporary file; values of yours are
overridden. The layout seeds follow from --seed, the block and the position, and
are stored by --json. Other SZC_ variables are passed on.

Verdict: t interval of the mean log ratio B/A over blocks at 95 %. \"Unresolved\"
does not mean that the programs are alike; it comes with the number of blocks
that would resolve 1 %.

Exit status: 0 a verdict was reached, \"unresolved\" included; 1 szc could not do
its work; 2 usage error; 4 a command failed or cannot be compared; 130 stopped by
Ctrl-C (what was measured is reported from 6 complete blocks on, and saved).";

/// Options of `szc compare`.
#[derive(Debug, Parser)]
#[command(
    name = "szc compare",
    bin_name = "szc compare",
    override_usage = "szc compare [OPTIONS] -- 'CMD_A' 'CMD_B'",
    no_binary_name = true,
    about = "Compares two commands over many random layouts and says which is faster",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc compare -- './bench-O2 input' './bench-O3 input'\nMore with --help."
)]
pub(super) struct Options {
    /// Number of blocks, at least 6
    #[arg(long, value_name = "N", default_value = "20", value_parser = parse_blocks)]
    pub(super) blocks: u32,

    /// Seed of the order and of all layouts [default: drawn and printed]
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,

    /// Write all samples, metadata and the result to a file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Name a program in the report: A=… or B=…
    #[arg(long = "name", value_name = "A=…|B=…", num_args = 1..=2, value_parser = parse_name)]
    pub(super) names: Vec<(Side, String)>,

    /// Runs in each of the two positions of a program in a block
    #[arg(
        long,
        value_name = "M",
        default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS_PER_POSITION))
    )]
    pub(super) runs_per_block: u32,

    /// Runs of each program before the first block, not recorded
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) warmup: u32,

    /// Refuse programs whose stdout differs (the default)
    #[arg(long, overrides_with = "no_check_output")]
    pub(super) check_output: bool,

    /// Compare programs whose stdout differs
    #[arg(long)]
    pub(super) no_check_output: bool,

    /// Metric of the verdict; all are shown
    #[arg(long, value_enum, default_value = "cpu")]
    pub(super) metric: Metric,

    /// Kill a run that takes longer, and refuse the program
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    pub(super) timeout: Option<Duration>,

    /// Print only the verdict
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// The two commands, each as one quoted string
    #[arg(value_names = ["CMD_A", "CMD_B"], required = true, num_args = 2)]
    pub(super) commands: Vec<String>,
}

fn parse_blocks(text: &str) -> Result<u32, String> {
    let blocks: u32 = text.parse().map_err(|_| "a whole number is needed")?;
    // Block numbers have 32 bits in the index of a run; this is far beyond patience.
    if blocks as usize >= FEWEST_BLOCKS && blocks <= 1_000_000 {
        Ok(blocks)
    } else {
        Err(format!(
            "{FEWEST_BLOCKS} to 1000000 blocks are needed: no 95 % interval of a median exists below {FEWEST_BLOCKS}"
        ))
    }
}

fn parse_name(text: &str) -> Result<(Side, String), String> {
    let named = match text.split_once('=') {
        Some(("A", name)) => Some((Side::A, name)),
        Some(("B", name)) => Some((Side::B, name)),
        _ => None,
    };
    match named {
        Some((side, name)) if !name.trim().is_empty() => Ok((side, name.trim().to_owned())),
        _ => Err("A=… or B=… is needed; put -- before the two commands".to_owned()),
    }
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a positive number of seconds is needed".to_owned())
}

/// The two programs that the options name.
///
/// # Errors
/// When a command is empty or badly quoted, or a name is given twice.
pub(super) fn programs_of(options: &Options) -> Result<[Program; 2]> {
    let program = |side: Side| {
        let mut names = options.names.iter().filter(|(of, _)| *of == side);
        let name = names.next().map(|(_, name)| name.clone());
        if names.next().is_some() {
            anyhow::bail!("--name {side}=… is given twice: one name is needed");
        }
        Program::new(side, name, &options.commands[side.index()])
    };
    Ok([program(Side::A)?, program(Side::B)?])
}
