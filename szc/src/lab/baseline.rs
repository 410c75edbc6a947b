//! `szc baseline`: samples of a program that later versions of it are held against.
//!
//! `save` measures as `szc run` does, or takes a file that `szc run` wrote.
#![forbid(unsafe_code)]

pub mod store;

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Parser;

use self::store::Store;
use super::analysis::analyse;
use super::conclusion::conclude;
use super::exit::EXIT_VERDICT;
use super::options::programs_of;
use super::output::{complain, say};
use super::{run, saved};
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::measure::machine;
use crate::report::layouts::run_sentence;
use crate::report::text::align;
use crate::samples::{EndedRecord, SamplesFile, io, printable};

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

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Measure a command, or take a samples file, and store it under a name
    #[command(
        override_usage = "szc baseline save NAME [OPTIONS] -- 'CMD'\n       szc baseline save NAME \
                          FILE.json",
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

impl Subcommand for Options {
    const NAME: &'static str = "baseline";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let store = Store::new(self.store.as_deref()).map_err(failure)?;
        match &self.action {
            Action::Save { name, run } => {
                store::check_name(name).map_err(failure)?;
                let file = samples(run, command_line)?;
                save(&store, name, file, run.common.json.as_ref()).map_err(failure)
            }
            Action::List => list(&store).map_err(failure),
            Action::Rm { name } => {
                store.remove(name, &machine::current()).map_err(failure)?;
                Ok(EXIT_VERDICT)
            }
        }
    }
}

/// What is wrong is what was asked for, unless the system says no.
fn failure(error: anyhow::Error) -> Failure {
    let system = error.chain().any(<dyn std::error::Error>::is::<std::io::Error>);
    if system { Failure::Internal(error) } else { Failure::Usage(error) }
}

/// The samples to store: those of a file, or measured now.
fn samples(run: &run::Options, command_line: Vec<String>) -> Result<SamplesFile, Failure> {
    if run.config.config.is_some() || run.config.chosen_program.is_some() {
        return Err(Failure::Usage(anyhow!(
            "szc baseline save takes no defaults from a file: measure with szc run --json FILE, \
             and save that file"
        )));
    }
    match saved::samples_files(&run.commands).map_err(failure)?.as_deref() {
        Some([path]) => return io::read(path).map_err(failure),
        Some(_) => {
            return Err(Failure::Usage(anyhow!("one samples file, or a command, is needed")));
        }
        None => {}
    }
    if run.split {
        return Err(Failure::Usage(anyhow!(
            "--split makes runs that have parts of layouts in common: a baseline is measured \
             without"
        )));
    }
    let [command] = &run.commands[..] else {
        return Err(Failure::Usage(anyhow!(
            "{} commands, and one is needed, quoted as a whole",
            run.commands.len()
        )));
    };
    let programs = match run::built_program(run)? {
        Some(programs) => programs,
        None => programs_of(std::slice::from_ref(command), &run.names).map_err(failure)?,
    };
    let experiment = run::experiment(run, programs, command_line).map_err(failure)?;
    experiment.carry_out().map_err(failure)
}

fn save(store: &Store, name: &str, mut file: SamplesFile, json: Option<&PathBuf>) -> Result<u8> {
    if matches!(file.ended, EndedRecord::Refused { .. }) {
        return conclude(None, &file, "");
    }
    let path = store.save(name, &file)?;
    analyse(&mut file);
    let text = format!("{}\nstored as {name} in {}\n", run_sentence(&file, 0), path.display());
    conclude(json, &file, &text)
}

fn list(store: &Store) -> Result<u8> {
    let here = machine::current().identity();
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
