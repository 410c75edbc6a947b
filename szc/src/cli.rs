//! Decides what a call of szc is: a compiler, by its name and words, or a subcommand.

#![forbid(unsafe_code)]

mod completions;

use crate::drive::{self, Language};
use crate::error::{Class, report};
use crate::inspect;
use crate::lab::{baseline, compare, gate, history, import, merge, run as measure_layouts, sweep};
use crate::lab::{export, report as report_command};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

/// What a first word of that name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subcommand {
    Compare,
    Run,
    Sweep,
    Merge,
    Import,
    History,
    Gate,
    Baseline,
    Completions,
    Inspect,
    Report,
    Export,
    Help,
}

static SUBCOMMANDS: &[(&str, Subcommand)] = &[
    ("compare", Subcommand::Compare),
    ("run", Subcommand::Run),
    ("gate", Subcommand::Gate),
    ("baseline", Subcommand::Baseline),
    ("completions", Subcommand::Completions),
    ("inspect", Subcommand::Inspect),
    ("help", Subcommand::Help),
    ("sweep", Subcommand::Sweep),
    ("history", Subcommand::History),
    ("report", Subcommand::Report),
    ("export", Subcommand::Export),
    ("merge", Subcommand::Merge),
    ("import", Subcommand::Import),
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
    let words: Vec<OsString> = arguments.collect();
    if let Some(subcommand) = words.first().and_then(|word| subcommand(word)) {
        return run(subcommand, &words);
    }
    compile(language(&program), words)
}

fn compile(language: Language, words: Vec<OsString>) -> ExitCode {
    drive::drive(language, words).unwrap_or_else(|error| report(Class::Failed, error))
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

fn subcommand(word: &OsStr) -> Option<Subcommand> {
    SUBCOMMANDS.iter().find(|(name, _)| *name == word).map(|(_, subcommand)| *subcommand)
}

/// `words` starts with the name of the subcommand.
fn run(which: Subcommand, words: &[OsString]) -> ExitCode {
    let (_, rest) = words.split_first().expect("the subcommand was among them");
    match which {
        Subcommand::Compare => compare::command(rest),
        Subcommand::Run => measure_layouts::command(rest),
        Subcommand::Sweep => sweep::command(rest),
        Subcommand::Merge => merge::command(rest),
        Subcommand::Import => import::command(rest),
        Subcommand::History => history::command(rest),
        Subcommand::Gate => gate::command(rest),
        Subcommand::Baseline => baseline::command(rest),
        Subcommand::Completions => completions::command(rest),
        Subcommand::Inspect => inspect::command(rest),
        Subcommand::Report => report_command::command(rest),
        Subcommand::Export => export::command(rest),
        Subcommand::Help => help(rest),
    }
}

fn help(words: &[OsString]) -> ExitCode {
    match words.first().map(|word| (word, subcommand(word))) {
        None | Some((_, Some(Subcommand::Help))) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Some((name, Some(which))) => run(which, &[name.clone(), "--help".into()]),
        Some((name, None)) => report(
            Class::Usage,
            format_args!(
                "there is no help on '{}'; `szc help` lists the subcommands, \
                 `szc --help` clang's options",
                name.display()
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(subcommand(OsStr::new("compare")), Some(Subcommand::Compare));
        assert_eq!(subcommand(OsStr::new("gate")), Some(Subcommand::Gate));
        assert_eq!(subcommand(OsStr::new("sweep")), Some(Subcommand::Sweep));
        for word in ["./compare", "compare.c", "--help", "Compare", ""] {
            assert_eq!(subcommand(OsStr::new(word)), None, "{word}");
        }
    }
}
