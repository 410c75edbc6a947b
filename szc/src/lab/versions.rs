//! The programs that are versions of one command: built, named and put into their folders.
#![forbid(unsafe_code)]

use std::io::Write;

use anyhow::{Context, anyhow};

use super::build::{BuildOptions, Version, versions};
use super::options::name_programs;
use crate::lab::failure::Failure;
use crate::measure::program::Program;
use crate::measure::stop::stop_on_signals;

/// The versions of the one command in `commands`, called A, B, C … and by what makes them versions,
/// unless `names` say otherwise. Builds what has to be built, and tells so unless `quiet`.
///
/// # Errors
/// [`Failure`] of a build; usage if there is not exactly one command, or less than two versions.
pub fn programs(
    options: &BuildOptions,
    commands: &[String],
    names: &[(String, String)],
    quiet: bool,
) -> Result<Vec<Program>, Failure> {
    let [command] = commands else {
        return Err(Failure::Usage(anyhow!(
            "{} commands: versions are of one command, such as -- './bench input'",
            commands.len()
        )));
    };
    let mut programs = Vec::new();
    for (index, version) in build(options, commands, quiet)?.iter().enumerate() {
        programs.push(program(index, version, command)?);
    }
    name_programs(&mut programs, names).map_err(Failure::Usage)?;
    Ok(programs)
}

/// Builds the versions for `commands`, and tells so on stderr unless `quiet`.
///
/// # Errors
/// [`Failure`] of a build.
pub fn build(
    options: &BuildOptions,
    commands: &[String],
    quiet: bool,
) -> Result<Vec<Version>, Failure> {
    let stop = stop_on_signals().context("cannot handle signals")?;
    versions(options, commands, stop, &mut |text| {
        if !quiet {
            // A closed stderr leaves nobody to tell.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    })
}

/// A version of `command`, at this place in the list of programs.
///
/// # Errors
/// Usage, if the command is empty or badly quoted.
pub fn program(index: usize, version: &Version, command: &str) -> Result<Program, Failure> {
    let name = (!version.label.is_empty()).then(|| version.label.clone());
    let mut program =
        Program::new(index, name, &version.command(command)).map_err(Failure::Usage)?;
    program.folder.clone_from(&version.folder);
    Ok(program)
}
