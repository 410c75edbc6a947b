//! From a configuration to the defaults of a command's options.
//!
//! What the user gave on the command line wins, and an option of the file does not count when the
//! user gave one that excludes it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches};

use super::file::{BuildTable, Config, ProgramEntry, RunsTable, load};
use crate::lab::saved::are_samples_files;

/// Options of every command that takes defaults from a file.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigOptions {
    /// File with defaults: programs, builds, runs [default: ./szc.toml if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The program of that file to measure
    #[arg(long = "program", value_name = "NAME")]
    pub chosen_program: Option<String>,
}

/// What a command measures, which decides what of the file is meant for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One program: `run`.
    Program,
    /// Versions of one program, or several programs: `compare`, `gate`.
    Versions,
    /// Versions of all programs: `sweep`.
    Suite,
}

/// Parses the arguments behind the name of a command, with the defaults of the file.
///
/// # Errors
/// What clap says of the arguments, and what is wrong with the file, as a usage error.
pub fn parse<O: CommandFactory + FromArgMatches>(
    subject: Subject,
    args: &[OsString],
) -> Result<O, clap::Error> {
    let command = with_defaults(O::command(), subject, args)?;
    O::from_arg_matches(&command.try_get_matches_from(args)?)
}

fn with_defaults(
    command: Command,
    subject: Subject,
    args: &[OsString],
) -> Result<Command, clap::Error> {
    // A first look at the arguments, without complaints, shows what the user gave. It fails for
    // --help, which the parser proper will answer.
    let probe = command.clone().ignore_errors(true);
    let Ok(given) = probe.try_get_matches_from(args) else {
        return Ok(command);
    };
    if is_about_a_file(&given) {
        return Ok(command);
    }
    let usage = |message: String| clap::Error::raw(ErrorKind::ValueValidation, message + "\n");
    let file = given.get_one::<PathBuf>("config").map(PathBuf::as_path);
    match load(file).map_err(usage)? {
        Some(config) => Defaults { given: &given, command }.all(&config, subject).map_err(usage),
        None => match given.get_one::<String>("chosen_program") {
            Some(name) => Err(usage(format!(
                "--program {name} names a program of szc.toml, and there is no such file here: \
                 give --config FILE"
            ))),
            None => Ok(command),
        },
    }
}

/// Whether the arguments ask for what samples files hold, or for the rest of one: those say all
/// that the experiment was.
fn is_about_a_file(given: &ArgMatches) -> bool {
    let is_given = |id: &str| {
        // An identifier that the command does not have is an error.
        given.try_contains_id(id).is_ok()
            && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    if is_given("resume") {
        return true;
    }
    let args = given.try_get_many::<String>("commands").ok().flatten();
    is_given("commands") && args.is_some_and(are_samples_files)
}

struct Defaults<'a> {
    given: &'a ArgMatches,
    command: Command,
}

impl Defaults<'_> {
    fn all(mut self, config: &Config, subject: Subject) -> Result<Command, String> {
        for option in ["delta", "max-slowdown"] {
            self.set(option, config.tolerance.iter().cloned());
        }
        self.set("row-tolerance", config.row_tolerances.iter().cloned());
        // The others are there in every run.
        self.set("metric", config.metrics.first().cloned());
        self.runs(&config.runs);
        let commands_given = self.is_given_id("commands");
        let versions_given = ["flags", "param", "rev"].iter().any(|option| self.is_given(option));
        if versions_given || !commands_given {
            let all = subject != Subject::Program && !versions_given && !self.is_given("build");
            self.build(&config.build, all);
        }
        if subject == Subject::Program && !commands_given && !versions_given {
            self.refuse_versions(&config.build)?;
        }
        if !commands_given {
            let BuildTable { flags, revisions, parameters, .. } = &config.build;
            let in_file = !(flags.is_empty() && revisions.is_empty() && parameters.is_empty());
            let one_only = match subject {
                Subject::Program => true,
                Subject::Versions => versions_given || in_file,
                Subject::Suite => false,
            };
            let programs = self.commands(config, one_only)?;
            if !programs.is_empty() {
                if subject == Subject::Suite {
                    self.set("name", programs.iter().map(|entry| entry.name.clone()));
                }
                let commands: Vec<String> =
                    programs.into_iter().map(|entry| entry.command).collect();
                self.command =
                    self.command.mut_arg("commands", |argument| argument.default_values(commands));
            }
        }
        Ok(self.command)
    }

    /// One program cannot be all the versions that the file makes.
    fn refuse_versions(&self, build: &BuildTable) -> Result<(), String> {
        let example = match (build.flags.first(), build.revisions.first()) {
            (Some(flags), _) => format!("--flags={flags}"),
            (None, Some(revision)) => format!("--rev={revision}"),
            (None, None) => match build.parameters.first() {
                Some((name, values)) => {
                    format!("--param={name}={}", values.first().map_or("…", String::as_str))
                }
                None => return Ok(()),
            },
        };
        Err(format!("szc.toml makes several versions: choose the one to measure, as in {example}"))
    }

    /// The commands that are measured if the user named none.
    fn commands(&self, config: &Config, one_only: bool) -> Result<Vec<ProgramEntry>, String> {
        let chosen = self.given.get_one::<String>("chosen_program");
        let names: Vec<&str> = config.programs.iter().map(|entry| entry.name.as_str()).collect();
        let is_chosen = |name: &str| chosen.is_none_or(|chosen| chosen == name);
        let programs: Vec<_> =
            config.programs.iter().filter(|entry| is_chosen(&entry.name)).collect();
        if let (Some(name), true) = (chosen, programs.is_empty()) {
            let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!("there is no program {name:?} in szc.toml, which has: {found}"));
        }
        if one_only && programs.len() > 1 {
            return Err(format!(
                "szc.toml has {} programs ({}): choose one with --program NAME, or measure all \
                 with szc sweep",
                programs.len(),
                names.join(", ")
            ));
        }
        Ok(programs.into_iter().cloned().collect())
    }

    fn runs(&mut self, runs: &RunsTable) {
        let amounts = ["fixed", "blocks", "budget", "runs", "time", "precision"];
        if !amounts.iter().any(|option| self.is_given(option)) {
            self.number("budget", runs.budget);
            self.number("fixed", runs.fixed);
        }
        self.number("runs-per-block", runs.runs_per_block);
        self.number("warmup", runs.warmup);
        self.number("timeout", runs.timeout);
        self.number("seed", runs.seed);
        self.number("cpu", runs.cpu);
        self.set("turns", runs.turns.iter().cloned());
        self.set("env-size", runs.env_size.iter().cloned());
        self.set("prepare", runs.prepare.iter().cloned());
        self.set("cleanup", runs.cleanup.iter().cloned());
        if runs.check_output == Some(false) && !self.is_given("check-output") {
            self.set("no-check-output", ["true".to_owned()]);
        }
        if runs.shuffle == Some(false) && !self.is_given("shuffle") {
            self.set("no-shuffle", ["true".to_owned()]);
        }
    }

    /// How to build, and what, if the user said nothing about either.
    fn build(&mut self, build: &BuildTable, all: bool) {
        let escaped = |value: &String| value.replace(',', r"\,");
        self.set("build", build.command.iter().cloned());
        self.set("tree", build.tree.iter().cloned());
        self.set("cache", build.cache.iter().cloned());
        if !all {
            return;
        }
        self.set("flags", build.flags.iter().map(escaped));
        self.set(
            "param",
            build.parameters.iter().map(|(name, values)| {
                let values: Vec<String> = values.iter().map(escaped).collect();
                format!("{name}={}", values.join(","))
            }),
        );
        self.set("rev", build.revisions.iter().cloned());
    }

    fn number(&mut self, option: &str, value: Option<impl ToString>) {
        self.set(option, value.map(|value| value.to_string()));
    }

    /// Makes the values the default of `--option`, if the command has it.
    fn set(&mut self, option: &str, values: impl IntoIterator<Item = String>) {
        let values: Vec<String> = values.into_iter().collect();
        if let Some(id) = self.id_of(option).filter(|_| !values.is_empty()) {
            self.command = std::mem::take(&mut self.command)
                .mut_arg(id, |argument| argument.default_values(values));
        }
    }

    fn id_of(&self, option: &str) -> Option<String> {
        let mut arguments = self.command.get_arguments();
        let found = arguments.find(|argument| argument.get_long() == Some(option))?;
        Some(found.get_id().to_string())
    }

    fn is_given(&self, option: &str) -> bool {
        self.id_of(option).is_some_and(|id| self.is_given_id(&id))
    }

    fn is_given_id(&self, id: &str) -> bool {
        let known = self.command.get_arguments().any(|argument| argument.get_id() == id);
        known && self.given.value_source(id) == Some(ValueSource::CommandLine)
    }
}
