//! `szc completions`: a script for a shell that completes commands and options, those of the
//! compilers too.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};

use super::answer::printed;
use super::shells::{self, with_compilers};
use crate::error::{Class, report};

const USAGE: &str = "\
szc completions SHELL: prints a script that completes szc's commands and options, and clang's
szc completions SHELL cargo: one for what stands behind cargo szc

Examples:
  szc completions bash > ~/.local/share/bash-completion/completions/szc
  szc completions zsh > ~/.zfunc/_szc        (a folder of $fpath)
  szc completions fish > ~/.config/fish/completions/szc.fish
  source <(szc completions bash cargo)       (in ~/.bashrc)
  szc completions zsh cargo > ~/.zfunc/_cargo-szc
  szc completions fish cargo > ~/.config/fish/conf.d/cargo-szc.fish
";

/// Runs `szc completions` with the arguments behind it.
pub(super) fn command(
    args: &[OsString],
    subcommands: impl Iterator<Item = (&'static str, fn() -> Command)>,
) -> ExitCode {
    let named = |word: &OsString| Shell::from_str(word.to_str()?, true).ok();
    let script = match args {
        [word] if word == "--help" || word == "-h" => Some(USAGE.to_owned()),
        [word] => named(word).map(|shell| script(shell, subcommands)),
        [word, what] if what == "cargo" => named(word).and_then(|shell| {
            let described: Vec<Command> =
                subcommands.map(|(name, describe)| describe().name(name)).collect();
            shells::cargo::script(shell, &described)
        }),
        _ => None,
    };
    match script {
        Some(script) => printed(&script),
        None => report(
            Class::Usage,
            "one shell is needed: szc completions bash, zsh, fish, elvish or powershell; \
             for cargo szc: szc completions bash cargo, zsh cargo or fish cargo",
        ),
    }
}

/// The script for a shell.
pub(super) fn script(
    shell: Shell,
    subcommands: impl Iterator<Item = (&'static str, fn() -> Command)>,
) -> String {
    let mut all = all(subcommands);
    let names: Vec<String> = all.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut script = Vec::new();
    generate(shell, &mut all, "szc", &mut script);
    with_compilers(shell, String::from_utf8_lossy(&script).into_owned(), &names)
}

/// All subcommands as one command.
pub(super) fn all(subcommands: impl Iterator<Item = (&'static str, fn() -> Command)>) -> Command {
    Command::new("szc")
        .disable_help_subcommand(true)
        .about("A compiler driver and a laboratory for programs whose layout is random")
        .subcommands(subcommands.map(|(name, describe)| describe().name(name)))
}

/// What completions know of `szc inspect`.
pub(super) fn inspect() -> Command {
    let file = clap::Arg::new("FILE").value_hint(clap::ValueHint::FilePath);
    Command::new("inspect").about("Shows what may move in an image").arg(file)
}

/// What they know of `szc link-order`.
pub(super) fn link_order() -> Command {
    let compiler = clap::Arg::new("CC").value_hint(clap::ValueHint::CommandName);
    Command::new("link-order").about("Another compiler, linking in SZC_LINK_ORDER").arg(compiler)
}

/// What they know of themselves.
pub(super) fn completions() -> Command {
    let shell = clap::Arg::new("SHELL").value_parser(clap::value_parser!(Shell));
    let what = clap::Arg::new("WHAT").value_parser(["cargo"]);
    Command::new("completions").about("Prints a completion script").args([shell, what])
}

/// What they know of `szc manual`.
pub(super) fn manual() -> Command {
    let folder = clap::Arg::new("FOLDER").value_hint(clap::ValueHint::DirPath);
    Command::new("manual").about("Writes the manual pages").arg(folder)
}

/// What they know of `szc version`.
pub(super) fn version() -> Command {
    Command::new("version").about("Prints the version of szc alone")
}

/// What they know of `szc help`.
pub(super) fn help() -> Command {
    Command::new("help").about("Shows help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_shell_is_a_usage_error() {
        for args in [&["tcsh"][..], &[], &["bash", "zsh"], &["elvish", "cargo"]] {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(command(&args, std::iter::empty()), ExitCode::from(2), "{args:?}");
        }
    }
}
