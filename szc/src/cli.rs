//! Decides what a call of szc is: a compiler, by its name and arguments, or a subcommand.

#![forbid(unsafe_code)]

mod answer;
mod completions;
#[cfg(test)]
mod documented;
mod link_order;
mod manual;
mod mistyped;
mod page;
mod shells;
mod version;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;

use crate::cargo;
use crate::causal;
use crate::doctor;
use crate::drive::{self, Language};
use crate::error::{Class, report};
use crate::inspect;
use crate::lab;
use crate::lab::output::say;
use crate::lab::subcommand::{Subcommand, run};
use crate::paths;
use crate::perturb;
use crate::profile;
use answer::printed;
use page::Purpose::{self, Keep, Measure, SetUp, Show};

/// What a first word of that name does.
struct CliCommand {
    name: &'static str,
    /// With the arguments behind the name.
    run: fn(&[OsString]) -> ExitCode,
    /// As completions know it.
    describe: fn() -> Command,
    purpose: Purpose,
    /// What follows the name on szc's own page, and what that does.
    usage: page::Entry,
}

impl CliCommand {
    const fn of<S: Subcommand>(purpose: Purpose, usage: &'static str, what: &'static str) -> Self {
        let usage = (usage, what);
        Self { name: S::NAME, run: run::<S>, describe: S::command, purpose, usage }
    }

    const fn new(
        name: &'static str,
        run: fn(&[OsString]) -> ExitCode,
        describe: fn() -> Command,
        purpose: Purpose,
        usage: page::Entry,
    ) -> Self {
        Self { name, run, describe, purpose, usage }
    }
}

/// In the order of the page.
static SUBCOMMANDS: &[CliCommand] = &[
    CliCommand::of::<lab::run::Options>(
        Measure,
        "-- 'A'",
        "how long A takes, how much of it is layout",
    ),
    CliCommand::of::<lab::compare::Options>(
        Measure,
        "-- 'A' 'B' …",
        "which is faster, or are they equivalent?",
    ),
    CliCommand::of::<lab::gate::Options>(
        Measure,
        "-- 'BASE' 'NEW'",
        "fail if NEW is slower than a budget allows",
    ),
    CliCommand::of::<lab::sweep::Options>(
        Measure,
        "--flags=F,G -- 'A' …",
        "levels of a parameter over several programs",
    ),
    CliCommand::of::<lab::bias::Options>(
        Measure,
        "-- 'A' ['B']",
        "is the answer an artefact of the setup, and why?",
    ),
    CliCommand::of::<lab::luck::Options>(
        Measure,
        "-- 'A'",
        "whose placement makes A fast or slow?",
    ),
    CliCommand::of::<perturb::Options>(
        Measure,
        "--with 'TOOL' -- CMD",
        "does measuring disturb what is measured?",
    ),
    CliCommand::of::<profile::Options>(
        Measure,
        "record|report",
        "where the time of a program goes",
    ),
    CliCommand::of::<causal::Options>(
        Measure,
        "-- ./a | report",
        "what a program would gain by a faster line",
    ),
    CliCommand::of::<paths::Options>(
        Measure,
        "-- CMD",
        "the sequences of blocks that run most often",
    ),
    CliCommand::of::<lab::baseline::Options>(
        Keep,
        "save|list|rm",
        "samples that a gate is held against",
    ),
    CliCommand::of::<lab::history::Options>(
        Keep,
        "FILES…",
        "since when something is faster or slower",
    ),
    CliCommand::of::<lab::merge::Options>(
        Keep,
        "FILES… --json OUT",
        "join the parts of a sweep over machines",
    ),
    CliCommand::of::<lab::import::Options>(
        Keep,
        "RUNS --json OUT",
        "samples of what harnesses or SPEC's tools wrote",
    ),
    CliCommand::of::<lab::report::Options>(
        Show,
        "FILE… --html OUT",
        "samples files as a page, or for a build server",
    ),
    CliCommand::of::<lab::export::Options>(
        Show,
        "FILE… --csv OUT",
        "every run of samples files as CSV, JSON or R",
    ),
    CliCommand::new(
        "inspect",
        inspect::command,
        completions::inspect,
        Show,
        ("FILE", "functions that move, and why others do not"),
    ),
    CliCommand::of::<doctor::Options>(
        SetUp,
        "[--quick] [--json]",
        "what works on this machine, and what to do",
    ),
    CliCommand::new(
        "link-order",
        link_order::command,
        completions::link_order,
        SetUp,
        ("CC ARGS…", "another compiler, linking in SZC_LINK_ORDER"),
    ),
    CliCommand::new(
        "completions",
        completions,
        completions::completions,
        SetUp,
        ("SHELL [cargo]", "a script that completes all this"),
    ),
    CliCommand::new(
        "manual",
        manual,
        completions::manual,
        SetUp,
        ("FOLDER", "the manual pages of all this"),
    ),
    CliCommand::new(
        "version",
        version::command,
        completions::version,
        SetUp,
        ("", "the version of szc alone"),
    ),
    CliCommand::new(
        "help",
        help,
        completions::help,
        SetUp,
        ("[COMMAND]", "this page, or that of a command"),
    ),
];

/// Runs szc with the arguments of the process.
#[must_use]
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let program = arguments.next().unwrap_or_default();
    let args: Vec<OsString> = arguments.collect();
    if cargo::is_named(&program) {
        return cargo::main(&args);
    }
    let language = language(&program);
    let Some(first) = args.first() else { return nothing_to_do() };
    if let Some(entry) = subcommand(first) {
        return (entry.run)(&args[1..]);
    }
    match args.as_slice() {
        [word] if word == "--help" => return own_help(language),
        [word] if word == "--help=clang" => return compile(language, vec!["--help".into()]),
        args if version::is_asked(args) => return version::after_clang(language, args),
        _ => {}
    }
    if let Some(name) = mistyped::meant(first, SUBCOMMANDS.iter().map(|entry| entry.name)) {
        return report(
            Class::Usage,
            format_args!(
                "there is no command '{0}', and no file; did you mean `szc {name}`?",
                first.display()
            ),
        );
    }
    compile(language, args)
}

/// szc alone. It fails, as clang does: a build whose list of files is empty must not pass.
fn nothing_to_do() -> ExitCode {
    eprintln!("{}", own_page());
    report(Class::Failed, "no input files, and no command")
}

/// szc's own page. For a script that looks for an option of clang's in it, clang's follows.
fn own_help(language: Language) -> ExitCode {
    let is_read_by_scripts = !std::io::stdout().is_terminal();
    let space = if is_read_by_scripts { "\n" } else { "" };
    match say(&(own_page() + space)) {
        Err(error) => report(Class::Failed, error),
        Ok(()) if is_read_by_scripts => compile(language, vec!["--help".into()]),
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn own_page() -> String {
    page::page(&on_the_page())
}

fn on_the_page() -> Vec<(Purpose, String, &'static str)> {
    let line = |entry: &CliCommand| {
        let (usage, what) = entry.usage;
        (entry.purpose, format!("szc {} {usage}", entry.name), what)
    };
    SUBCOMMANDS.iter().map(line).collect()
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

fn manual(args: &[OsString]) -> ExitCode {
    manual::command(args, completions::all(entries()), &on_the_page())
}

fn completions(args: &[OsString]) -> ExitCode {
    completions::command(args, entries())
}

fn entries() -> impl Iterator<Item = (&'static str, fn() -> Command)> {
    SUBCOMMANDS.iter().map(|entry| (entry.name, entry.describe))
}

fn help(args: &[OsString]) -> ExitCode {
    let Some(word) = args.first().filter(|word| *word != "help") else {
        return printed(&own_page());
    };
    match subcommand(word) {
        Some(entry) => (entry.run)(&["--help".into()]),
        None => report(
            Class::Usage,
            format_args!(
                "there is no help on '{}'; `szc help` lists the commands, \
                 `szc --help=clang` the options of clang",
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
    fn the_page_lists_every_command_once_below_its_purpose() {
        let page = own_page();
        for entry in SUBCOMMANDS {
            let line = format!("\n  szc {} {}", entry.name, entry.usage.0);
            assert_eq!(page.matches(line.trim_end()).count(), 1, "{line}: {page}");
        }
        let place = |text: &str| page.find(text).expect(text);
        assert!(place("\nMeasure\n") < place("  szc gate "));
        assert!(place("  szc gate ") < place("\nKeep samples"));
    }

    #[test]
    fn the_page_fits_a_terminal() {
        for line in own_page().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_option_tables_are_consistent() {
        for entry in SUBCOMMANDS {
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
