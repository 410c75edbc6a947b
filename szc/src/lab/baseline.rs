//! `szc baseline`: samples of a program that later versions of it are held against.
//!
//! `save` measures as `szc run` does, or takes a file that `szc run` wrote.
#![forbid(unsafe_code)]

pub mod store;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};

use self::store::Store;
use super::experiment::{analyse, command_line, conclude};
use super::options::programs_of;
use super::output::{complain, explain, say};
use super::{EXIT_INTERNAL, EXIT_PROGRAM, EXIT_USAGE, EXIT_VERDICT, run, saved};
use crate::measure::machine::Machine;
use crate::report::json::{self, EndedRecord, SamplesFile, printable};
use crate::report::layouts::run_sentence;
use crate::report::text::align;

const AFTER_HELP: &str = "\
Examples:
  szc baseline save main -- './bench input'         measure as szc run does, and store
  szc baseline save main before.json                store what szc run --json wrote
  szc gate --baseline main -- './bench input'
  szc baseline list
  szc baseline rm main

Baselines are kept by machine and by the compiler of the program: times of one machine
say nothing about another.

Exit status: 0 done; 1 szc could not do its work; 2 usage error, no such baseline, or a
samples file that cannot be used; 4 the command failed or cannot be measured.";

/// Options of `szc baseline`.
#[derive(Debug, Parser)]
#[command(
    name = "szc baseline",
    bin_name = "szc baseline",
    no_binary_name = true,
    about = "Stores samples that later versions of a program are held against",
    after_help = AFTER_HELP
)]
pub(crate) struct Options {
    /// Where baselines are stored [default: $XDG_DATA_HOME/szc, or ~/.local/share/szc]
    #[arg(long, global = true, value_name = "DIR")]
    store: Option<PathBuf>,

    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Measure a command, or take a samples file, and store it under a name
    #[command(
        override_usage = "szc baseline save NAME [OPTIONS] -- 'CMD'\n       szc baseline save NAME FILE.json",
        after_help = "The options are those of szc run.",
        after_long_help = "The options are those of szc run."
    )]
    Save {
        /// Name: letters, digits, `-`, `_` and `.`
        name: String,
        #[command(flatten)]
        run: Box<run::Options>,
    },
    /// Show what is stored
    List,
    /// Remove the baselines of this machine that have a name
    Rm {
        /// Name
        name: String,
    },
}

/// Runs `szc baseline` with the arguments after the word `baseline`.
#[must_use]
pub fn command(arguments: &[OsString]) -> ExitCode {
    let options = match Options::try_parse_from(arguments) {
        Ok(options) => options,
        Err(error) => return explain(&error),
    };
    let done = match Store::new(options.store.as_deref()) {
        Ok(store) => match &options.action {
            Action::Save { name, run } => save(&store, name, run, arguments),
            Action::List => list(&store),
            Action::Rm { name } => store.remove(name, &Machine::current()).map(|()| EXIT_VERDICT),
        },
        Err(error) => Err(error),
    };
    match done {
        Ok(code) => code.into(),
        Err(error) => {
            complain("baseline", &format!("{error:#}"));
            // What is wrong is what was asked for, unless the system says no.
            let system = error.chain().any(<dyn std::error::Error>::is::<std::io::Error>);
            if system { EXIT_INTERNAL.into() } else { EXIT_USAGE.into() }
        }
    }
}

fn save(store: &Store, name: &str, run: &run::Options, arguments: &[OsString]) -> Result<u8> {
    store::check_name(name)?;
    if run.config.config.is_some() || run.config.chosen_program.is_some() {
        bail!(
            "szc baseline save takes no defaults from a file: measure with szc run --json FILE, and save that file"
        );
    }
    let mut file = match saved::samples_files(&run.commands)?.as_deref() {
        Some([path]) => json::read(path)?,
        Some(_) => bail!("one samples file, or a command, is needed"),
        None => match &run.commands[..] {
            [command] => {
                let words = command_line("baseline", arguments);
                let programs = match run::built_program(run) {
                    Ok(Some(programs)) => programs,
                    Ok(None) => programs_of(std::slice::from_ref(command), &run.names)?,
                    Err(failure) => {
                        complain("baseline", &failure.message());
                        return Ok(failure.exit_code());
                    }
                };
                run::experiment(run, programs, words)?.carry_out()?
            }
            commands => bail!("{} commands, and one is needed, quoted as a whole", commands.len()),
        },
    };
    if matches!(file.ended, EndedRecord::Refused { .. }) {
        conclude(None, &file, "")?;
        return Ok(EXIT_PROGRAM);
    }
    let path = store.save(name, &file)?;
    analyse(&mut file);
    let text = format!("{}\nstored as {name} in {}\n", run_sentence(&file, 0), path.display());
    conclude(run.common.json.as_ref(), &file, &text)
}

fn list(store: &Store) -> Result<u8> {
    let here = Machine::current().identity();
    let mut rows =
        vec![["name", "stored", "layouts", "machine", "program"].map(str::to_owned).to_vec()];
    for (path, file) in store.all()? {
        match file {
            Ok(file) => rows.push(row(&path, &file, &here)),
            Err(error) => complain("baseline", &format!("{error:#}")),
        }
    }
    if rows.len() == 1 {
        say(&format!("no baselines in {}\n", store.folder().display()))?;
    } else {
        say(&align(&rows))?;
    }
    Ok(EXIT_VERDICT)
}

fn row(path: &std::path::Path, file: &SamplesFile, here: &str) -> Vec<String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let machine = file.machine.identity();
    vec![
        printable(&name),
        printable(&file.created),
        file.design.complete_blocks.to_string(),
        if machine == here { "this one".to_owned() } else { printable(&machine) },
        file.programs.first().map_or(String::new(), |program| printable(&program.command)),
    ]
}

#[cfg(test)]
mod tests;
