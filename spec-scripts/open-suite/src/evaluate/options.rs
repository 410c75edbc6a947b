//! The command line of the evaluation.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::step::{Method, Step};
use crate::suite::{Size, Suite};

/// Runs of each configuration, where only their mean is asked for.
const USUAL_RUNS: u32 = 12;
/// Where it is asked how they are distributed. The paper has 30.
const NORMALITY_RUNS: u32 = 20;
/// Fewest runs of a configuration: `szc compare` makes at least six blocks.
const MIN_RUNS: u32 = 6;
/// Fewest runs of `szc run --split`: six pairs for each part.
const SPLIT_RUNS: u32 = 72;

/// Options of the evaluation.
#[derive(Debug, Args)]
pub struct Options {
    /// What to do
    #[arg(value_name = "STEP", value_parser = request_parser())]
    pub(super) request: String,

    /// Names of programs, separated by commas [default: all]
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',')]
    pub(super) programs: Vec<String>,

    /// Length of the workloads
    #[arg(long, value_enum, default_value = "full")]
    pub(super) size: Size,

    /// Runs of each configuration [default: 12, of normality 20, of variance 72 and never fewer];
    /// builds have a time instead
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(i64::from(MIN_RUNS)..)
    )]
    pub(super) runs: Option<u32>,

    /// Folder for the samples [default: results, beside the suite's folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Page whose tables are written by the step `results` [default: RESULTS.md, beside the suite's
    /// folder]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// C compiler: an szc
    #[arg(long, value_name = "COMMAND", default_value = "szc")]
    pub(super) cc: String,

    /// Flags of all compilers, where the step does not say them
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "-O2")]
    pub(super) flags: String,

    /// Run programs on this CPU only
    #[arg(long, value_name = "N")]
    pub(super) cpu: Option<usize>,

    /// Seed of all layouts and orders
    #[arg(long, value_name = "S", default_value = "1")]
    pub(super) seed: u64,

    /// Measure again what was measured before
    #[arg(long)]
    pub(super) again: bool,

    /// Build, run each program once at most, and say how long the step will take
    #[arg(long)]
    pub(super) plan: bool,

    /// Compilers that run at a time [default: number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,

    /// The szc that measures
    #[arg(long, value_name = "FILE", default_value = "szc")]
    pub(super) szc: PathBuf,

    /// The program heap-randomness, for the step of that name
    #[arg(long, value_name = "FILE", default_value = "heap-randomness")]
    pub(super) heap_tool: PathBuf,
}

/// All steps in their order, and the page behind them.
pub(super) const ALL: &str = "all";
/// The page alone.
pub(super) const RESULTS: &str = "results";

fn request_parser() -> clap::builder::PossibleValuesParser {
    let steps = Step::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let others = [
        clap::builder::PossibleValue::new(ALL).help("All steps, and results"),
        clap::builder::PossibleValue::new(RESULTS)
            .help("Make tables and pictures of the samples that are there"),
    ];
    steps.chain(others).collect::<Vec<_>>().into()
}

impl Options {
    /// The folder for the samples.
    pub(super) fn results(&self, suite: &Suite) -> PathBuf {
        self.out.clone().unwrap_or_else(|| suite.folder.join("..").join("results"))
    }

    /// The page.
    pub(super) fn page(&self, suite: &Suite) -> PathBuf {
        self.page.clone().unwrap_or_else(|| suite.folder.join("..").join("RESULTS.md"))
    }

    /// Length of the workloads of a step.
    pub(super) fn size(&self, step: Step) -> Size {
        if step.method() == Some(Method::Counts) { Size::Test } else { self.size }
    }

    /// Runs of each configuration in a step; of builds, the fewest.
    pub(super) fn runs(&self, step: Step) -> u32 {
        let step = step.source();
        let usual = match step.method() {
            // Whatever was asked for: as many as there is time for.
            Some(Method::Builds) => return 2,
            // They repeat exactly.
            Some(Method::Counts) => return 1,
            Some(Method::Split) => return self.runs.unwrap_or_default().max(SPLIT_RUNS),
            Some(Method::Compare) if step == Step::Normality => NORMALITY_RUNS,
            Some(Method::Compare) | None => USUAL_RUNS,
        };
        self.runs.unwrap_or(usual)
    }
}
