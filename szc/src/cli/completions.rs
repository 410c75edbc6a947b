//! `szc completions`: a script for a shell that completes subcommands and their options.
//!
//! Words that are clang's are left to the shell, which completes file names.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};

use crate::error::{Class, report};
use crate::lab::output::say;
use crate::lab::{baseline, compare, gate, history, import, merge, run, sweep};

const USAGE: &str = "\
szc completions SHELL: prints a script that completes szc's subcommands and options

Examples:
  szc completions bash > ~/.local/share/bash-completion/completions/szc
  szc completions zsh > ~/.zfunc/_szc        (a folder of $fpath)
  szc completions fish > ~/.config/fish/completions/szc.fish
";

/// Runs `szc completions` with the words behind it.
pub(super) fn command(words: &[OsString]) -> ExitCode {
    let shell = match words {
        [word] if word == "--help" || word == "-h" => {
            return printed(USAGE);
        }
        [word] => word.to_str().and_then(|word| Shell::from_str(word, true).ok()),
        _ => None,
    };
    let Some(shell) = shell else {
        return report(
            Class::Usage,
            "one shell is needed: szc completions bash, zsh, fish, elvish or powershell",
        );
    };
    let mut script = Vec::new();
    generate(shell, &mut all(), "szc", &mut script);
    printed(&String::from_utf8_lossy(&script))
}

fn printed(text: &str) -> ExitCode {
    match say(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(Class::Failed, error),
    }
}

/// All subcommands as one command.
fn all() -> Command {
    let part = |name: &'static str, command: Command| command.name(name);
    Command::new("szc")
        .disable_help_subcommand(true)
        .about("A compiler driver and a laboratory for programs whose layout is random")
        .subcommand(part("compare", compare::Options::command()))
        .subcommand(part("run", run::Options::command()))
        .subcommand(part("sweep", sweep::Options::command()))
        .subcommand(part("merge", merge::Options::command()))
        .subcommand(part("import", import::Options::command()))
        .subcommand(part("history", history::Options::command()))
        .subcommand(part("gate", gate::Options::command()))
        .subcommand(part("baseline", baseline::Options::command()))
        .subcommand(part("report", crate::lab::report::Options::command()))
        .subcommand(part("export", crate::lab::export::Options::command()))
        .subcommand(Command::new("inspect").about("Shows what may move in an image").arg(file()))
        .subcommand(Command::new("completions").about("Prints a completion script"))
        .subcommand(Command::new("help").about("Shows help"))
}

fn file() -> clap::Arg {
    clap::Arg::new("FILE").value_hint(clap::ValueHint::FilePath)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            generate(shell, &mut all(), "szc", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["compare", "gate", "baseline", "max-slowdown", "precision"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn an_unknown_shell_is_a_usage_error() {
        for words in [&["tcsh"][..], &[], &["bash", "zsh"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(command(&words), ExitCode::from(2), "{words:?}");
        }
    }
}
