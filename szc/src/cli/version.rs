//! Which szc this is: behind the lines of clang's for `--version`, alone for `szc version`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use super::answer::printed;
use crate::drive::{self, Language};
use crate::error::{Class, report};
use crate::version;

/// The line of this szc.
fn line() -> String {
    version::words() + "\n"
}

/// Whether a command line asks clang for its version and for nothing else.
pub(super) fn is_asked(args: &[OsString]) -> bool {
    let is_option = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"-");
    args.last().is_some_and(|arg| arg == "--version") && args.iter().all(is_option)
}

/// clang's answer, unchanged since build systems read it, and ours behind it.
pub(super) fn after_clang(language: Language, args: &[OsString]) -> ExitCode {
    match drive::ask(language, args) {
        Ok(0) => printed(&line()),
        Ok(code) => code.into(),
        Err(error) => report(Class::Failed, error),
    }
}

/// Runs `szc version`.
pub(super) fn command(args: &[OsString]) -> ExitCode {
    match args {
        [] => printed(&line()),
        [word] if word == "--help" || word == "-h" => {
            printed("szc version: prints the version of szc alone\n")
        }
        _ => report(Class::Usage, "szc version takes no arguments"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_asked_for_by_the_last_argument_behind_options_alone() {
        for (args, expected) in [
            (&["--version"][..], true),
            (&["-m64", "--version"], true),
            (&["-Rnone", "-O2", "--version"], true),
            (&["--version", "-v"], false),
            (&["x.c", "--version"], false),
            (&["-o", "x", "--version"], false),
            (&["-v"], false),
            (&[], false),
        ] {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(is_asked(&args), expected, "{args:?}");
        }
    }
}
