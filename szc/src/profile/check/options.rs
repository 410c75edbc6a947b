//! Options of `szc profile check`.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;

use super::record::Computation;
use crate::lab::values::{parse_growth, parse_share};

/// Options of `szc profile check`.
#[derive(Debug, Args)]
#[command(
    override_usage = "szc profile check [OPTIONS] -- CMD…",
    long_about = "Says whether a profiler is actionable: whether the time that a function takes \
                  longer is the time that the profiler then says it takes.\n\nOf the ten hottest \
                  functions of a program that szc built two are drawn. Their calls are made \
                  longer at run time, by a computation of several lengths, in one layout; the \
                  slope of the profiler's seconds on the program's is 1 if the profiler is right \
                  (Mytkowicz et al., PLDI 2010)."
)]
pub struct Options {
    /// The profiler and its options; perf record, samply record, gprof, coz run, valgrind
    /// --tool=callgrind
    #[arg(long, value_name = "CMD", default_value = "szc profile record")]
    pub profiler: String,

    /// Functions that are drawn from the ten hottest
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(1..=10)
    )]
    pub functions: u8,

    /// A function, in place of those that are drawn; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "functions")]
    pub function: Vec<String>,

    /// What is computed: fibonacci in registers, array over 1,024 integers
    #[arg(
        long,
        value_enum,
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "fibonacci"
    )]
    pub computations: Vec<Computation>,

    /// Lengths of the computation
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u8).range(2..=100)
    )]
    pub sizes: u8,

    /// Runs of each length
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = clap::value_parser!(u8).range(1..=100)
    )]
    pub runs: u8,

    /// By how much of its time the longest makes the program slower; more divides the error that
    /// comes from the program's own time
    #[arg(long, value_name = "SHARE", default_value = "100%", value_parser = parse_growth)]
    pub growth: f64,

    /// Difference of the slope from 1 that does not matter
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = parse_share)]
    pub delta: f64,

    /// What functions, layout and the order of runs are drawn by [default: drawn and printed]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Write all runs to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Say nothing of the progress
    #[arg(long, short)]
    pub quiet: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<String>,
}
