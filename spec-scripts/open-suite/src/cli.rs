//! The command line: what is asked for, and how each command tells of it.
#![forbid(unsafe_code)]

mod args;
mod commands;

use std::process::ExitCode;

use clap::Parser;

use self::args::Cli;
use crate::say::complain;

/// The command line or the suite makes no sense.
const EXIT_USAGE: u8 = 2;

/// Runs the program with its arguments.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing better can be done when even that fails.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { 0 });
        }
    };
    match commands::run(&cli) {
        Ok(code) => code,
        Err(error) => {
            complain!("suite: {error:#}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}
