//! The command line of `szc gate` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;

use crate::lab::build::BuildOptions;
use crate::lab::config::ConfigOptions;
use crate::lab::options::{CommonOptions, ComparisonOptions, FIXED_BY_A_FILE};
use crate::lab::values::parse_share;

const LONG_ABOUT: &str = "\
Says by its exit code whether a candidate is slower than a baseline by more than a budget.

Both are measured over many random layouts in interleaved blocks, so that the answer is about the \
code and not about a lucky layout; measuring ends as soon as there is an answer that holds however \
often one looks.";

const AFTER_HELP: &str = "\
Examples:
  szc gate -- './old/bench input' './new/bench input'
  szc gate --max-slowdown 2% --budget 10m --json gate.json -- './old/bench' './new/bench'
  szc gate --build 'make CC=szc' --rev main --rev HEAD -- './bench input'
  szc gate --baseline main -- './bench input'       against szc baseline save main
  szc gate before.json -- './bench input'           against a file of szc run
  szc gate before.json after.json                   two files of szc run

PASS if all of the 95 % interval of the ratio is below 1 + the budget (also when the
candidate is slower, within it: the sentence says so), and it is of as many layouts as
would have shown a slow one (--slowest-layout: 121 of each at 1 %, 24 at 5 %); FAIL
if all of it is above;
otherwise measuring goes on until --budget is spent, and the answer is INCONCLUSIVE.

A stored baseline and its candidate have no common blocks: their groups are compared
by Welch's t test, the candidate over as many layouts as the baseline has. What
changed on the machine between them is part of the difference; where both programs
can be run, give both commands.

Exit status: 0 pass; 1 fail, or szc could not do its work; 2 usage error, or a samples
file or baseline that cannot be used; 3 inconclusive (see --inconclusive); 4 a command
failed or cannot be compared; 130 stopped by Ctrl-C (--resume goes on).";

/// What an inconclusive answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Policy {
    /// Exit code 3.
    Report,
    /// As good as a pass: exit code 0.
    Pass,
    /// As bad as a fail: exit code 1.
    Fail,
}

/// Options of `szc gate`.
#[derive(Debug, Parser)]
#[command(
    name = "szc gate",
    bin_name = "szc gate",
    override_usage = "szc gate [OPTIONS] -- 'BASELINE' 'CANDIDATE'\n       szc gate [OPTIONS] \
                      --baseline NAME -- 'CANDIDATE'\n       szc gate [OPTIONS] BASELINE.json [--] \
                      'CANDIDATE' | CANDIDATE.json\n       szc gate --resume FILE.json",
    no_binary_name = true,
    about = "Fails if a candidate is slower than a baseline by more than a budget",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc gate -- './old/bench input' './new/bench input'\nMore with --help."
)]
pub(crate) struct Options {
    /// Tolerated slowdown [default: that of a samples file of szc gate; else 1%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) max_slowdown: Option<f64>,

    /// What an inconclusive answer is worth
    #[arg(long, value_enum, default_value = "report")]
    pub(super) inconclusive: Policy,

    /// Hold the candidate against a stored baseline of this name
    #[arg(long, value_name = "NAME")]
    pub(super) baseline: Option<String>,

    /// Where baselines are stored [default: $XDG_DATA_HOME/szc]
    #[arg(long, value_name = "DIR")]
    pub(super) store: Option<PathBuf>,

    /// Go on with the interrupted experiment of a samples file, and save to it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = FIXED_BY_A_FILE,
        conflicts_with_all = ["baseline", "store", "max_slowdown", "names", "runs_per_block"],
        conflicts_with_all = ["across_machines", "row_tolerances"]
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

    /// Baseline and candidate, each as one quoted string; or samples files
    #[arg(value_names = ["BASELINE", "CANDIDATE"], num_args = 1..=2)]
    pub(super) commands: Vec<String>,
}
