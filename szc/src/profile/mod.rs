//! `szc profile`: where the time of a program goes.
//!
//! `record` lets `szc-sampler` take samples and writes them to a file as they come (`file`);
//! `report` reads the file, finds names for addresses (`symbols`), and shows what follows from that
//! (`hotness`, `text`, `export`, `flame`). What is shown is computed from the file alone, where
//! the programs are.
#![forbid(unsafe_code)]

mod check;
mod diagnostics;
mod disagree;
mod export;
mod file;
pub(crate) mod flame;
mod hotness;
mod inferred;
mod intervals;
mod model;
mod off_cpu;
mod path_file;
mod profilers;
mod record;
mod replay;
mod report;
mod search;
mod share;
pub(crate) mod symbol_files;
pub(crate) mod symbols;
mod text;
mod train;

use clap::Parser;

use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;

const AFTER_HELP: &str = "\
Examples:
  szc profile record -- ./program input       1,000 samples a second at random times
  szc profile report                          the hottest functions, with intervals
  szc profile record -g -p 1234               a process that runs, with its callers
  szc profile report --flame flame.svg        a flame graph
  szc profile report --pprof - | pprof -top -
  szc profile train -o paths -- ./program     call paths for what follows
  szc profile record --call-graph icpp --paths paths -- ./program
  szc profile check --profiler 'perf record' -- ./program input

Exit status: 0 done; 1 szc could not do its work; 2 usage error, or a file that is no
profile; 4 the program failed. 128 and the number of a signal that asked to stop.";

/// Options of `szc profile`.
#[derive(Debug, Parser)]
#[command(
    name = "szc profile",
    bin_name = "szc profile",
    no_binary_name = true,
    about = "Samples where the time of a program goes",
    after_help = AFTER_HELP
)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Run a program, or look at one that runs, and sample where its threads are
    Record(record::Options),
    /// Make the map that call paths are inferred by from two registers
    Train(train::Options),
    /// Show what a recorded profile says
    Report(report::Options),
    /// Say whether a profiler is actionable, by functions whose calls are made longer
    Check(check::Options),
    /// Show what several profilers say of one program
    Disagree(disagree::Options),
}

impl Subcommand for Options {
    const NAME: &'static str = "profile";

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        match self.action {
            Action::Record(options) => record::record(options),
            Action::Train(options) => train::train(options),
            Action::Report(options) => report::report(&options),
            Action::Check(options) => check::check(&options),
            Action::Disagree(options) => disagree::disagree(&options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_reference_has_every_option() {
        let reference = include_str!("../../docs/src/reference.md");
        let command = Options::command();
        for action in command.get_subcommands() {
            let options = action.get_arguments().filter(|argument| !argument.is_positional());
            for option in options {
                let long = option.get_long().expect("every option has a long name");
                let texts = [format!("`--{long}`"), format!("`--{long} ")];
                let is_there = texts.iter().any(|text| reference.contains(text));
                assert!(is_there, "szc profile {} --{long}", action.get_name());
                if let Some(short) = option.get_short() {
                    assert!(reference.contains(&format!("`-{short}`, `--{long}")), "-{short}");
                }
            }
        }
    }
}
