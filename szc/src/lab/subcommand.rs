//! What a subcommand of the laboratory is: options that are read and carried out.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use super::failure::Failure;
use super::output::{complain, explain};

/// A subcommand by its options.
pub trait Subcommand: Parser {
    /// The argument behind `szc`.
    const NAME: &'static str;

    /// Reads the arguments behind the name.
    ///
    /// # Errors
    /// A usage error, or the help that was asked for.
    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        Self::try_parse_from(arguments)
    }

    /// Does the work, and prints to stdout and stderr. `command_line` is the whole of it, argument
    /// by argument. The exit code is one of [`super::exit`].
    ///
    /// # Errors
    /// Why there is no result; not printed yet.
    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure>;
}

/// Runs a subcommand with the arguments behind its name. The exit code is one of [`super::exit`].
#[must_use]
pub fn run<S: Subcommand>(arguments: &[OsString]) -> ExitCode {
    let options = match S::read(arguments) {
        Ok(options) => options,
        Err(error) => return explain(&error),
    };
    let args = arguments.iter().map(|arg| arg.to_string_lossy().into_owned());
    let command_line = ["szc".to_owned(), S::NAME.to_owned()].into_iter().chain(args).collect();
    match options.carry_out(command_line) {
        Ok(code) => code.into(),
        Err(failure) => {
            complain(S::NAME, &failure.message());
            failure.exit_code().into()
        }
    }
}

/// The exit code of a subcommand with these arguments, for tests.
#[cfg(test)]
pub fn exit_code<S: Subcommand>(arguments: &[impl AsRef<std::ffi::OsStr>]) -> ExitCode {
    run::<S>(&arguments.iter().map(|arg| arg.as_ref().to_owned()).collect::<Vec<_>>())
}
