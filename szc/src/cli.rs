//! Decides what a call of szc is: a compiler, by its name and words, or a subcommand.

#![forbid(unsafe_code)]

use crate::drive::{self, Language};
use crate::error::{Class, report};
use crate::lab::compare;
use crate::table::inspect;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

/// What a first word of that name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subcommand {
    Compare,
    Inspect,
    Help,
    /// Reserved: a later version gives it a meaning.
    Later,
}

static SUBCOMMANDS: &[(&str, Subcommand)] = &[
    ("compare", Subcommand::Compare),
    ("inspect", Subcommand::Inspect),
    ("help", Subcommand::Help),
    ("run", Subcommand::Later),
    ("sweep", Subcommand::Later),
    ("gate", Subcommand::Later),
    ("history", Subcommand::Later),
    ("report", Subcommand::Later),
    ("export", Subcommand::Later),
];

const HELP: &str = "\
szc: clang 22 for programs whose code moves while they run, and a laboratory for them

  szc [clang's options] FILES…    compile and link C, as clang does
  szc++ [clang's options] FILES…  compile and link C++, as clang++ does
  szc-fortran [flang's options] FILES…
                                  compile and link Fortran, as flang does
  szc compare -- 'A' 'B'          measure two programs against each other
  szc inspect FILE                show what may move in an image, and what may not
  szc help [WORD]                 this text, or that of a subcommand

To compile a file named like a subcommand, write ./compare.

Options beside clang's own (`szc --help` lists those):
  -Rcode          functions move while the program runs
  -Rall           all that this version can randomize (default)
  -Rnone          an ordinary build; cancels the -R words before it
  -Rstack -Rheap -Rlink
                  not available in this version: a warning at the link

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

/// The language that the program's name stands for. Versioned and prefixed names (`szc++-1`, `x86_64-linux-gnu-szc++`) are those of links to szc.
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
    let (name, rest) = words.split_first().expect("the subcommand was among them");
    match which {
        Subcommand::Compare => compare::command(rest),
        Subcommand::Inspect => inspect::command(rest),
        Subcommand::Help => help(rest),
        Subcommand::Later => report(
            Class::Usage,
            format_args!(
                "'{0}' is not available in this version; `szc help` lists what is \
                 (to compile a file of that name, write ./{0})",
                name.display()
            ),
        ),
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
        assert_eq!(subcommand(OsStr::new("gate")), Some(Subcommand::Later));
        for word in ["./compare", "compare.c", "--help", "Compare", ""] {
            assert_eq!(subcommand(OsStr::new(word)), None, "{word}");
        }
    }
}
