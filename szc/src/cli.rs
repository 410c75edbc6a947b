//! Decides what a call of szc is: a compiler, by its name and arguments, or a subcommand.

#![forbid(unsafe_code)]

mod completions;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;

use crate::drive::{self, Language};
use crate::error::{Class, report};
use crate::inspect;
use crate::lab;
use crate::lab::subcommand::{Subcommand, run};

/// What a first word of that name does.
struct CliCommand {
    name: &'static str,
    /// With the arguments behind the name.
    run: fn(&[OsString]) -> ExitCode,
    /// As completions know it.
    describe: fn() -> Command,
}

impl CliCommand {
    const fn of<S: Subcommand>() -> Self {
        Self { name: S::NAME, run: run::<S>, describe: S::command }
    }
}

static SUBCOMMANDS: [CliCommand; 13] = [
    CliCommand::of::<lab::compare::Options>(),
    CliCommand::of::<lab::run::Options>(),
    CliCommand::of::<lab::sweep::Options>(),
    CliCommand::of::<lab::merge::Options>(),
    CliCommand::of::<lab::import::Options>(),
    CliCommand::of::<lab::history::Options>(),
    CliCommand::of::<lab::gate::Options>(),
    CliCommand::of::<lab::baseline::Options>(),
    CliCommand::of::<lab::report::Options>(),
    CliCommand::of::<lab::export::Options>(),
    CliCommand { name: "inspect", run: inspect::command, describe: completions::inspect },
    CliCommand { name: "completions", run: completions, describe: completions::completions },
    CliCommand { name: "help", run: help, describe: completions::help },
];

const HELP: &str = "\
szc: clang 22 for programs that change their layout while they run, and a laboratory for them

  szc [clang's options] FILES…    compile and link C, as clang does
  szc++ [clang's options] FILES…  compile and link C++, as clang++ does
  szc-fortran [flang's options] FILES…
                                  compile and link Fortran, as flang does
  szc compare -- 'A' 'B' …        measure programs against the first
  szc run -- 'A'                  measure one program over layouts
  szc sweep --flags=F,G -- 'A'    measure levels of a parameter on several programs
  szc merge FILES… --json OUT     join the parts of a sweep that machines measured
  szc import RUNS --json OUT      samples from what SPEC CPU's own tools measured
  szc history FILES…              since when something is faster or slower
  szc gate -- 'BASE' 'NEW'        fail if the second is slower than a budget allows
  szc baseline save|list|rm       keep samples that a gate is held against
  szc completions SHELL           a script that completes all this
  szc report FILE… --html OUT     what samples files say, as one page, or for a build server
  szc export FILE… --csv OUT      every run of samples files as CSV, JSON or R
  szc inspect FILE                show what may move in an image, and what may not
  szc help [WORD]                 this text, or that of a subcommand

To compile a file named like a subcommand, write ./compare.

Options beside clang's own (`szc --help` lists those):
  -Rcode          functions move while the program runs
  -Rstack         frames get random pads
  -Rheap          blocks of the heap lie in random places
  -Rall           all three (default)
  -Rnone          an ordinary build; cancels the -R words before it
  -Rlink          not available in this version: a warning at the link

Environment:
  SZC_BUILD       the same words without -R, separated by commas; overrides the options
  SZC_CLANG       the clang to run instead of clang-22
  SZC_HOME        the directory of szc's own parts, or whose lib/szc holds them
";

/// Runs szc with the arguments of the process.
#[must_use]
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let program = arguments.next().unwrap_or_default();
    let args: Vec<OsString> = arguments.collect();
    if let Some(entry) = args.first().and_then(|word| subcommand(word)) {
        return (entry.run)(&args[1..]);
    }
    compile(language(&program), args)
}

fn compile(language: Language, args: Vec<OsString>) -> ExitCode {
    drive::drive(language, args).unwrap_or_else(|error| report(Class::Failed, error))
}

/// The language that the program's name stands for. Versioned and prefixed names (`szc++-1`,
/// `x86_64-linux-gnu-szc++`) are those of links to szc.
fn language(program: &OsStr) -> Language {
    let name = Path::new(program).file_name().unwrap_or(program);
    let name = name.as_bytes();
    if contains(name, b"szc-fortran") {
        Language::Fortran
    } else if contains(name, b"szc++") {
        Language::Cxx
    } else {
        Language::C
    }
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}

fn subcommand(word: &OsStr) -> Option<&'static CliCommand> {
    SUBCOMMANDS.iter().find(|entry| entry.name == word)
}

fn completions(args: &[OsString]) -> ExitCode {
    completions::command(args, entries())
}

fn entries() -> impl Iterator<Item = (&'static str, fn() -> Command)> {
    SUBCOMMANDS.iter().map(|entry| (entry.name, entry.describe))
}

fn help(args: &[OsString]) -> ExitCode {
    let Some(word) = args.first().filter(|word| *word != "help") else {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    };
    match subcommand(word) {
        Some(entry) => (entry.run)(&["--help".into()]),
        None => report(
            Class::Usage,
            format_args!(
                "there is no help on '{}'; `szc help` lists the subcommands, \
                 `szc --help` clang's options",
                word.display()
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap_complete::Shell;

    #[test]
    fn the_name_of_the_program_selects_the_language() {
        for (program, expected) in [
            ("szc", Language::C),
            ("/usr/bin/szc", Language::C),
            ("target/release/szc++", Language::Cxx),
            ("szc++-1", Language::Cxx),
            ("cc", Language::C),
            ("/opt/szc++/bin/szc", Language::C),
            ("szc-fortran", Language::Fortran),
        ] {
            assert_eq!(language(OsStr::new(program)), expected, "{program}");
        }
    }

    #[test]
    fn only_the_bare_words_are_subcommands() {
        let found = |word| subcommand(OsStr::new(word)).map(|entry| entry.name);
        for word in ["compare", "gate", "sweep", "help"] {
            assert_eq!(found(word), Some(word));
        }
        for word in ["./compare", "compare.c", "--help", "Compare", ""] {
            assert_eq!(found(word), None, "{word}");
        }
    }

    #[test]
    fn the_option_tables_are_consistent() {
        for entry in &SUBCOMMANDS {
            (entry.describe)().debug_assert();
        }
    }

    #[test]
    fn every_shell_gets_a_script_that_knows_the_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = completions::script(shell, entries());
            for word in ["compare", "gate", "baseline", "max-slowdown", "precision"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
