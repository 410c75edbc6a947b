//! The command line of `szc run` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::lab::build::BuildOptions;
use crate::lab::config::ConfigOptions;
use crate::lab::options::{CommonOptions, FIXED_BY_A_FILE};
use crate::lab::values::{Budget, parse_budget, parse_name, parse_share, parse_time};
use crate::samples::design::{MAX_BLOCKS, MAX_RUNS_PER_POSITION};

const LONG_ABOUT: &str = "\
Measures a command over many random layouts: what it takes, how certain that is, and how much of \
its variance comes from the layout.

A layout is one arrangement of functions, frames and blocks in memory; a thousand runs of one \
layout are one sample. szc run therefore gives each run a fresh one, and runs every second layout \
twice, which tells the variance between layouts from that of runs with one layout.";

const AFTER_HELP: &str = "\
Examples:
  szc run -- './bench input'
  szc run --precision 0.5% --budget 10m -- './bench input'
  szc run --time 60s --json before.json -- './bench input'
  szc run --split -- './bench input'       what the variance is made of
  szc run before.json                      read saved samples again

Interval: that of the mean over layouts at 95 %, where the value of a layout is the
mean of its runs. With --precision it is a confidence sequence, which may be looked
at after every layout; otherwise Student's t.

Variance: by Kalibera and Jones (2013), from the layouts that were run more than
once. --runs-per-layout 1 runs none of them twice: more layouts in the same time,
and no split of the variance.

Split: a block has twelve runs. Those of a pair share a layout, by turns on one CPU
where that does not change the program; nothing differs in the first pair, then the
places of functions, the pads of frames, the heap, the bases, and all of them. The
shares come with intervals and with advice on what makes a measurement better.

Advice about the machine (load, frequency governor, steal time, swap, address space
randomization, turbo) is printed before the first run, each with what to do.

Exit status: 0 done; 1 szc could not do its work; 2 usage error, or a samples file
that cannot be used; 4 the command failed or cannot be measured; 130 stopped by
Ctrl-C (what was measured is reported, and saved; --resume goes on).";

/// Options of `szc run`.
#[derive(Debug, Parser)]
#[command(
    name = "szc run",
    bin_name = "szc run",
    override_usage = "szc run [OPTIONS] -- 'CMD'\n       szc run FILE.json\n       szc run \
                      --resume FILE.json",
    no_binary_name = true,
    about = "Measures a command over many random layouts",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc run -- './bench input'\nMore with --help."
)]
pub(crate) struct Options {
    /// Make N runs, or the few more that complete the last layout [default: 30; 240 with --split]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_BLOCKS)),
        conflicts_with_all = ["time", "precision"]
    )]
    pub(in crate::lab) runs: Option<u32>,

    /// Measure for a time such as 90s, 5m or 1h
    #[arg(long, value_name = "T", value_parser = parse_time, conflicts_with = "precision")]
    pub(in crate::lab) time: Option<Duration>,

    /// Measure until the mean is known to ± this share, such as 0.5%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(in crate::lab) precision: Option<f64>,

    /// Most layouts, or time, for --precision [default: 1000]
    #[arg(
        long,
        value_name = "N|T",
        value_parser = parse_budget,
        conflicts_with_all = ["runs", "time"]
    )]
    pub(in crate::lab) budget: Option<Budget>,

    /// Split the variance into machine, code, stack, heap and bases: pairs of runs that are alike
    /// but for one of them
    #[arg(long, conflicts_with_all = ["precision", "budget", "runs_per_layout"])]
    pub(in crate::lab) split: bool,

    /// Runs with the same layout, in every second layout
    #[arg(
        long,
        value_name = "M",
        default_value = "2",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS_PER_POSITION))
    )]
    pub(in crate::lab) runs_per_layout: u32,

    /// Name the program in the report: A=…
    #[arg(long = "name", value_name = "A=…", num_args = 1, value_parser = parse_name)]
    pub(in crate::lab) names: Vec<(String, String)>,

    /// Go on with the interrupted experiment of a samples file, and save to it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = FIXED_BY_A_FILE,
        conflicts_with_all = ["runs", "time", "precision", "split", "runs_per_layout", "names"]
    )]
    pub(in crate::lab) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::lab) common: CommonOptions,

    #[command(flatten)]
    pub(in crate::lab) build: BuildOptions,

    #[command(flatten)]
    pub(in crate::lab) config: ConfigOptions,

    /// The command as one quoted string; or a samples file
    #[arg(value_names = ["COMMAND"])]
    pub(in crate::lab) commands: Vec<String>,
}
