//! The command line and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::evaluate;
use crate::suite::Size;

const AFTER_HELP: &str = "\
Without names a command is about all programs. Exit status: 0 all is well; 1 a program could
not be fetched, built or run, or computed something else (the others were done); 2 usage
error, or suite.toml is not valid; measure: that of szc sweep, or 1 if a build is missing.
spec-scripts/open-suite/README.md has examples.";

#[derive(Debug, Parser)]
#[command(
    name = "suite.sh",
    about = "Real programs of the kinds that SPEC CPU has: fetch, build, check, measure",
    after_help = AFTER_HELP
)]
pub(super) struct Cli {
    /// File that describes the programs
    #[arg(long, value_name = "FILE", global = true, default_value = "suite.toml")]
    pub(super) suite: PathBuf,

    /// Folder for sources, builds and inputs
    #[arg(long, value_name = "DIR", global = true, default_value = ".cache/open-suite")]
    pub(super) cache: PathBuf,

    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the programs
    List(Choice),
    /// Get the sources
    Fetch(Choice),
    /// Build, each program once for each compiler and flags
    Build {
        #[command(flatten)]
        choice: Choice,
        #[command(flatten)]
        building: Building,
    },
    /// Run the workloads and compare their output with the suite's SHA-256
    Check {
        #[command(flatten)]
        choice: Choice,
        #[command(flatten)]
        building: Building,
        #[command(flatten)]
        length: Length,
        /// Runs of each workload, with layouts by the seeds 1 to N
        #[arg(
            long,
            value_name = "N",
            default_value = "1",
            value_parser = clap::value_parser!(u64).range(1..)
        )]
        seeds: u64,
        /// Milliseconds between layouts
        #[arg(long, value_name = "MS", default_value = "500")]
        interval: u64,
    },
    /// Compare levels of flags by szc sweep; options for it stand behind --
    Measure {
        #[command(flatten)]
        choice: Choice,
        #[command(flatten)]
        building: Building,
        #[command(flatten)]
        length: Length,
        /// Folder for szc.toml and samples
        #[arg(long, value_name = "DIR", default_value = "suite-results")]
        results: PathBuf,
        /// The szc that measures
        #[arg(long, value_name = "FILE", default_value = "szc")]
        szc: PathBuf,
        /// Options of szc sweep, as in --fixed 20
        #[arg(last = true, value_name = "SWEEP OPTION")]
        sweep: Vec<String>,
    },
    /// Do the evaluation of the STABILIZER paper again: see evaluate.sh
    Evaluate(evaluate::Options),
    /// Print the command of a built workload, a word a line
    Words {
        /// Name of a program, or PROGRAM-WORKLOAD
        workload: String,
        #[command(flatten)]
        building: Building,
        #[command(flatten)]
        length: Length,
    },
    /// Print where the sources of a program are, after getting them
    Source {
        /// Name of a program
        program: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Names of programs [default: all]
    #[arg(value_name = "PROGRAM")]
    pub(super) programs: Vec<String>,

    /// Only those that are small enough for continuous integration
    #[arg(long, conflicts_with = "programs")]
    pub(super) ci: bool,
}

#[derive(Debug, Args)]
pub(super) struct Length {
    /// Length of the workloads
    #[arg(long, value_enum, default_value = "full")]
    pub(super) size: Size,
}

#[derive(Debug, Args)]
pub(super) struct Building {
    /// C compiler; those for C++ and Fortran follow from it
    #[arg(long, value_name = "COMMAND", default_value = "szc")]
    pub(super) cc: String,

    /// C++ compiler, if it does not follow
    #[arg(long, value_name = "COMMAND")]
    pub(super) cxx: Option<String>,

    /// Fortran compiler, if it does not follow
    #[arg(long, value_name = "COMMAND")]
    pub(super) fc: Option<String>,

    /// Driver that links what --cc compiles
    #[arg(long, value_name = "COMMAND")]
    pub(super) link_cc: Option<String>,

    /// Flags of all compilers; for measure once for each level
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "-O2")]
    pub(super) flags: Vec<String>,

    /// Further flags for linking
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "")]
    pub(super) ldflags: String,

    /// Compilers that run at a time [default: number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,

    /// Build again what was built before
    #[arg(long)]
    pub(super) rebuild: bool,
}
