//! Causal profiles: what a program would gain if a line of it were faster.
//!
//! `file` is the form in which experiments are kept; all that is shown is computed from it alone.
//! `coz` reads and writes the form of coz. `analysis` says what follows from experiments, as
//! `finding`s, with `phase` for programs that run in phases, and `diagnosis` what a reader has to
//! know of them; `sentences` puts that into words, `text` and `page` with `plot` show it, and
//! `report` is the command.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod coz;
pub mod diagnosis;
pub mod file;
pub mod finding;
pub mod page;
mod phase;
mod plot;
pub(crate) mod report;
pub mod sentences;
pub mod text;

use clap::Parser;

use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;

const AFTER_HELP: &str = "\
Examples:
  szc causal report                        the places that are worth most, with intervals
  szc causal report --html causal.html     with a plot of each
  szc causal report profile.coz            a profile that coz wrote
  szc causal report --coz profile.coz      one for coz's viewer

Exit status: 0 done, whatever was found; 1 szc could not do its work; 2 usage error, or a
file that is no causal profile.";

/// Options of `szc causal`.
#[derive(Debug, Parser)]
#[command(
    name = "szc causal",
    bin_name = "szc causal",
    no_binary_name = true,
    about = "What a program would gain if a line of it were faster",
    after_help = AFTER_HELP
)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show what a causal profile says
    Report(report::Options),
}

impl Subcommand for Options {
    const NAME: &'static str = "causal";

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        match self.action {
            Action::Report(options) => report::report(&options),
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
        for action in Options::command().get_subcommands() {
            let options = action.get_arguments().filter(|argument| !argument.is_positional());
            for option in options {
                let long = option.get_long().expect("every option has a long name");
                let texts = [format!("`--{long}`"), format!("`--{long} ")];
                let is_there = texts.iter().any(|text| reference.contains(text));
                assert!(is_there, "szc causal {} --{long}", action.get_name());
            }
        }
    }
}
