//! What the commands do: a line for each program as soon as it is done, then what went wrong.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use jobserver::Client;

use super::args::{Building, Choice, Cli, Command};
use crate::build::{self, Built, Recipe};
use crate::check::{self, Request};
use crate::files::Cache;
use crate::measure::{self, Subject};
use crate::say::{complain, say};
use crate::suite::{self, Language, Program, Suite, Trait};
use crate::toolchain::Toolchain;
use crate::workload::{make_folder, prepare};
use crate::{evaluate, fetch, pool};

/// A program could not be fetched, built or checked; the others were.
const EXIT_FAILED: u8 = 1;

/// Downloads at a time: a package archive is no place for more.
const DOWNLOADS: usize = 2;

/// Runs the command.
///
/// # Errors
/// When the command line or the suite makes no sense.
pub fn run(cli: &Cli) -> Result<ExitCode> {
    let suite = suite::load(&cli.suite)?;
    let cache = Cache::new(&cli.cache)?;
    let context = Phases { suite: &suite, cache: &cache };
    match &cli.command {
        Command::List(choice) => context.list(choice),
        Command::Fetch(choice) => context.fetch(choice),
        Command::Build { choice, building } => {
            let (_, failed) = context.build(choice, building, &single(building)?)?;
            Ok(code(failed))
        }
        Command::Check { choice, building, length, seeds, interval } => {
            let request = Request {
                size: length.size,
                seeds: *seeds,
                interval_ms: *interval,
                randomized: toolchain(building)?.is_szc()
                    && std::env::var("SZC_BUILD").as_deref() != Ok("none"),
            };
            context.check(choice, building, request)
        }
        Command::Measure { choice, building, length, results, szc, sweep } => {
            measure::check_levels(&building.flags)?;
            make_folder(results)?;
            let results = std::path::absolute(results)?;
            let (subjects, failed) = context.subjects(choice, building)?;
            if subjects.is_empty() {
                return Ok(code(true));
            }
            let file =
                measure::write_configuration(&suite, &subjects, length.size, &results, &cache)?;
            let swept = measure::sweep(szc, &file, &results, sweep)?;
            Ok(if swept == ExitCode::SUCCESS { code(failed) } else { swept })
        }
        Command::Evaluate(options) => evaluate::run(options, &suite, &cli.suite, &cli.cache),
        Command::Words { workload, building, length } => {
            let (program, workload) = suite.workload(workload)?;
            let built = context.one(program, building)?;
            let prepared = prepare(&suite, program, workload, &built.out, length.size, &cache)?;
            if prepared.stdin.is_some() {
                say!("/bin/sh\n-c\n{}", prepared.line());
            } else {
                prepared.args.iter().for_each(|word| say!("{word}"));
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Source { program } => match fetch::source(&suite, suite.program(program)?, &cache)
        {
            Ok(folder) => {
                say!("{}", folder.display());
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                complain!("{program}: {error:#}");
                Ok(code(true))
            }
        },
    }
}

fn code(failed: bool) -> ExitCode {
    ExitCode::from(if failed { EXIT_FAILED } else { 0 })
}

fn single(building: &Building) -> Result<String> {
    match building.flags.as_slice() {
        [flags] => Ok(flags.clone()),
        several => {
            bail!("--flags is given {} times, and only measure takes several", several.len())
        }
    }
}

fn toolchain(building: &Building) -> Result<Toolchain> {
    let given = [(Language::Cxx, &building.cxx), (Language::Fortran, &building.fc)];
    let given = given.into_iter().filter_map(|(language, name)| Some((language, name.clone()?)));
    Toolchain::new(&building.cc, given.collect(), building.link_cc.as_deref())
}

fn recipe(building: &Building, flags: &str) -> Result<Recipe> {
    Ok(Recipe {
        toolchain: toolchain(building)?,
        flags: flags.to_owned(),
        link_flags: building.ldflags.clone(),
        randomize: std::env::var("SZC_BUILD").unwrap_or_default(),
        link_orders: None,
        again: building.rebuild,
    })
}

fn jobs(building: &Building) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    building.jobs.map_or(processors, usize::from)
}

/// How many compilers run at a time, over all programs that are built: GNU make's jobserver.
fn jobserver(jobs: usize) -> Result<Client> {
    Client::new(jobs).context("cannot make the pipe of a jobserver")
}

#[derive(Clone, Copy)]
struct Phases<'a> {
    suite: &'a Suite,
    cache: &'a Cache,
}

impl<'a> Phases<'a> {
    fn choose(self, choice: &Choice) -> Result<Vec<&'a Program>> {
        self.suite.select(&choice.programs, choice.ci)
    }

    fn list(self, choice: &Choice) -> Result<ExitCode> {
        say!("{:<13} {:<18} {:<11} {:<20} stands for", "program", "version", "language", "traits");
        for program in self.choose(choice)? {
            let languages: Vec<&str> =
                program.languages.get_ref().iter().map(|it| it.name()).collect();
            let traits: Vec<&str> = program.traits.iter().map(|it| Trait::name(*it)).collect();
            say!(
                "{:<13} {:<19} {:<8} {:<19} {}\n{:14}{}",
                program.name(),
                program.version,
                languages.join(", "),
                traits.join(", "),
                program.spec,
                "",
                program.about
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    fn fetch(self, choice: &Choice) -> Result<ExitCode> {
        let programs = self.choose(choice)?;
        let work = |program: &&Program| fetch::source(self.suite, program, self.cache);
        let results = pool::each(&programs, DOWNLOADS, work, |program, result| match result {
            Ok(_) => say!("{:<13} {}", program.name(), program.version),
            Err(error) => say!("{:<13} NO SOURCE: {error:#}", program.name()),
        });
        Ok(code(results.iter().any(Result::is_err)))
    }

    /// Builds the chosen programs; those that could be built, and whether one could not.
    fn build(
        self,
        choice: &Choice,
        building: &Building,
        flags: &str,
    ) -> Result<(Vec<(&'a Program, Built)>, bool)> {
        let programs = self.choose(choice)?;
        let recipe = recipe(building, flags)?;
        let jobs = jobs(building);
        let jobserver = jobserver(jobs)?;
        let work =
            |program: &&Program| build::build(self.suite, program, &recipe, self.cache, &jobserver);
        let results = pool::each(&programs, jobs, work, |program, result| {
            let said = match result {
                Ok(Built { seconds: Some(seconds), .. }) => format!("built {seconds:>7.1} s"),
                Ok(Built { seconds: None, .. }) => "built before".to_owned(),
                Err(missing) => format!("{}: {:#}", missing.word(), missing.error()),
            };
            complain!("{:<13} {flags}  {said}", program.name());
        });
        let failed = results.iter().any(Result::is_err);
        let built = programs.into_iter().zip(results);
        Ok((built.filter_map(|(program, result)| Some((program, result.ok()?))).collect(), failed))
    }

    fn check(self, choice: &Choice, building: &Building, request: Request) -> Result<ExitCode> {
        let (built, mut failed) = self.build(choice, building, &single(building)?)?;
        let mut wrong = Vec::new();
        for (program, built) in &built {
            match check::check(self.suite, program, built, request, self.cache) {
                Ok(workloads) => {
                    for checked in workloads {
                        say!("{}", checked.row());
                        wrong.extend(checked.wrong);
                    }
                }
                Err(error) => {
                    say!("{:<20} NOT RUN: {error:#}", program.name());
                    failed = true;
                }
            }
        }
        for problem in &wrong {
            say!("\n{problem}");
        }
        Ok(code(failed || !wrong.is_empty()))
    }

    /// The chosen programs that could be built at all levels, and whether one could not.
    fn subjects(self, choice: &Choice, building: &Building) -> Result<(Vec<Subject<'a>>, bool)> {
        let mut failed = false;
        let mut subjects: Vec<Subject<'a>> = self
            .choose(choice)?
            .into_iter()
            .map(|program| Subject { program, levels: Vec::new() })
            .collect();
        for flags in &building.flags {
            let (built, missing) = self.build(choice, building, flags)?;
            failed |= missing;
            for (program, built) in built {
                let of = |subject: &&mut Subject<'_>| subject.program.name() == program.name();
                if let Some(subject) = subjects.iter_mut().find(of) {
                    subject.levels.push((flags.clone(), built));
                }
            }
        }
        subjects.retain(|subject| subject.levels.len() == building.flags.len());
        Ok((subjects, failed))
    }

    fn one(self, program: &Program, building: &Building) -> Result<Built> {
        let recipe = recipe(building, &single(building)?)?;
        let jobserver = jobserver(jobs(building))?;
        match build::build(self.suite, program, &recipe, self.cache, &jobserver) {
            Ok(built) => Ok(built),
            Err(missing) => {
                bail!("{}: {}: {:#}", program.name(), missing.word(), missing.error())
            }
        }
    }
}
