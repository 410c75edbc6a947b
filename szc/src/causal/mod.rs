//! Causal profiles: what a program would gain if a line of it were faster.
//!
//! `engine` runs programs and makes experiments; `file` is the form in which they are kept, and all
//! that is shown is computed from it alone.
//! `coz` reads and writes the form of coz. `analysis` says what follows from experiments, as
//! `finding`s, with `phase` for programs that run in phases; `load` what follows from runs under a
//! greater load, by `arrivals`; and `diagnosis` what a reader has to know of them. `sentences` puts
//! that into words, `text` and `page` with `plot` show it, and `report` is the command.

pub mod analysis;
pub mod arrivals;
pub mod coz;
pub mod diagnosis;
pub(crate) mod engine;
pub mod file;
pub mod finding;
pub mod load;
pub mod page;
mod phase;
mod plot;
pub(crate) mod report;
pub mod sentences;
pub mod text;

use std::ffi::OsString;

use clap::Parser;

use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;

const AFTER_HELP: &str = "\
Examples:
  szc causal -- ./program input            lines, at the progress points of coz.h
  szc causal -F -p request_done -- ./a     functions; a progress point is a function
  szc causal --end-to-end -- ./a           20 runs, each of which is an experiment
  szc causal --load 2x --fixed-speedup 0 -- ./a    what it would do under a greater load
  szc causal report                        the places that are worth most, with intervals
  szc causal report --html causal.html     with a plot of each
  szc causal report profile.coz            a profile that coz wrote
  szc causal report --coz profile.coz      one for coz's viewer

Exit status: 0 done, whatever was found; 1 szc could not do its work; 2 usage error, or a
file that is no causal profile; 4 the program failed. 128 and the number of a signal that
asked to stop.";

/// Options of `szc causal`.
#[derive(Debug, Parser)]
#[command(
    name = "szc causal",
    bin_name = "szc causal",
    no_binary_name = true,
    about = "What a program would gain if a line of it were faster",
    override_usage = "szc causal [OPTIONS] -- CMD…\n       szc causal report [OPTIONS] [FILE]",
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct Options {
    #[command(flatten)]
    record: engine::RecordOptions,

    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show what a causal profile says
    Report(report::Options),
}

impl Subcommand for Options {
    const NAME: &'static str = "causal";

    /// coz has `---` in front of the program.
    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        Self::try_parse_from(with_two_dashes(arguments))
    }

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        match self.action {
            None => engine::record(self.record),
            Some(Action::Report(options)) => report::report(&options),
        }
    }
}

fn with_two_dashes(arguments: &[OsString]) -> Vec<OsString> {
    let mut arguments = arguments.to_vec();
    let separator = |argument: &&mut OsString| *argument == "--" || *argument == "---";
    if let Some(separator) = arguments.iter_mut().find(separator) {
        *separator = "--".into();
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_dashes_are_as_good_as_two_in_front_of_the_program_only() {
        let of = |args: &[&str]| with_two_dashes(&args.iter().map(Into::into).collect::<Vec<_>>());
        assert_eq!(of(&["-F", "---", "a", "---"]), ["-F", "--", "a", "---"]);
        assert_eq!(of(&["--", "a", "---"]), ["--", "a", "---"]);
    }

    #[test]
    fn a_program_is_recorded_and_a_profile_reported() {
        let read = |args: &[&str]| Options::try_parse_from(args);
        assert!(read(&["-F", "--", "a", "-n"]).is_ok_and(|options| options.action.is_none()));
        assert!(read(&["report"]).is_ok_and(|options| options.action.is_some()));
        assert!(read(&[]).is_err() && read(&["-F", "report"]).is_err());
    }
}
