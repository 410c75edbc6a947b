//! `szc manual`: the manual pages, one of the compilers and one of each command.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::roff::{Roff, bold, italic, roman};

use super::answer::printed;
use super::page::{BUILD_VARIABLES, COMPILERS, Entry, OPTIONS, Purpose, RUN_VARIABLES};
use crate::cargo;
use crate::error::{Class, report};
use crate::version;

const USAGE: &str = "\
szc manual FOLDER: writes the manual pages of szc and of its commands into a folder

Example:
  szc manual ~/.local/share/man/man1 && man szc compare
";

/// Other names of the compiler.
const ALIASES: [&str; 2] = ["szc++", "szc-fortran"];

const DESCRIPTION: &str = "\
szc is a compiler driver that takes what clang takes and makes programs whose functions, frames \
and heap blocks move to other places while they run, at full optimization and with the same \
output. Its commands measure such programs and say whether one is faster as code, not by a lucky \
layout.";

/// Runs `szc manual`, with all commands and what the page of szc says of each.
pub(super) fn command(
    args: &[std::ffi::OsString],
    all: Command,
    commands: &[(Purpose, String, &'static str)],
) -> ExitCode {
    match args {
        [word] if word == "--help" || word == "-h" => printed(USAGE),
        [folder] => match write(Path::new(folder), all, commands) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(Class::Failed, error),
        },
        _ => report(Class::Usage, "one folder is needed: szc manual ~/.local/share/man/man1"),
    }
}

/// Writes all pages.
///
/// # Errors
/// The folder cannot be made or written to.
fn write(folder: &Path, all: Command, commands: &[(Purpose, String, &'static str)]) -> Result<()> {
    let failed = || format!("cannot write manual pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    // Its page of szc itself knows nothing of compiling, and is replaced.
    clap_mangen::generate_to(all, folder).with_context(failed)?;
    fs::write(folder.join("szc.1"), own(commands)).with_context(failed)?;
    fs::write(folder.join("cargo-szc.1"), of_cargo()).with_context(failed)?;
    for alias in ALIASES {
        fs::write(folder.join(format!("{alias}.1")), ".so man1/szc.1\n").with_context(failed)?;
    }
    Ok(())
}

/// The page of szc itself.
fn own(commands: &[(Purpose, String, &'static str)]) -> String {
    let mut page = Roff::new();
    page.control("TH", ["SZC", "1", "", &version::words(), "szc"]);
    page.control("SH", ["NAME"]);
    page.text([roman(
        "szc, szc++, szc-fortran - compile programs whose layout changes, and measure them",
    )]);
    page.control("SH", ["SYNOPSIS"]);
    for (usage, _) in COMPILERS {
        page.text([bold(usage)]).control("br", []);
    }
    page.text([
        bold("szc"),
        roman(" "),
        italic("COMMAND"),
        roman(" ["),
        italic("OPTIONS"),
        roman("]"),
    ]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(DESCRIPTION)]);
    for purpose in Purpose::ALL {
        page.control("SH", [format!("COMMANDS: {}", purpose.title()).to_uppercase().as_str()]);
        for (_, usage, what) in commands.iter().filter(|(of, ..)| *of == purpose) {
            item(&mut page, usage, what);
        }
    }
    for (title, entries) in [
        ("OPTIONS OF THE COMPILERS, BESIDE THOSE OF CLANG", &OPTIONS[..]),
        ("ENVIRONMENT OF THE COMPILERS", &BUILD_VARIABLES),
        ("ENVIRONMENT OF A PROGRAM THAT SZC BUILT", &RUN_VARIABLES),
    ] {
        section(&mut page, title, entries);
    }
    page.control("SH", ["EXIT STATUS"]);
    page.text([roman(
        "As a compiler that of clang; 1 if a part of szc is missing; 2 for a usage error. ",
    )]);
    page.text([roman("Each command lists its own.")]);
    page.control("SH", ["SEE ALSO"]);
    page.text([roman(
        "cargo-szc(1), szc-compare(1), szc-gate(1), szc-run(1), szc-doctor(1), clang(1)",
    )]);
    page.to_roff()
}

/// The page of `cargo szc`, by the name that `cargo help szc` looks for.
fn of_cargo() -> String {
    let mut page = Roff::new();
    page.control("TH", ["CARGO-SZC", "1", "", &version::words(), "szc"]);
    page.control("SH", ["NAME"]);
    page.text([roman("cargo-szc - build a workspace of Rust by szc, and measure its benches")]);
    page.control("SH", ["SYNOPSIS"]);
    page.text([bold("cargo szc"), roman(" [--pads] "), italic("COMMAND ARGS"), roman("…")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(cargo::ABOUT)]);
    for (title, entries) in cargo::SECTIONS {
        section(&mut page, &title.to_uppercase(), entries);
    }
    page.control("SH", ["EXIT STATUS"]);
    page.text([roman(
        "That of cargo, or, of compare and gate, of szc's own command; 2 for a usage error.",
    )]);
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("szc(1), szc-compare(1), szc-gate(1), cargo(1)")]);
    page.to_roff()
}

fn section(page: &mut Roff, title: &str, entries: &[Entry]) {
    page.control("SH", [title]);
    for (usage, what) in entries {
        item(page, usage, what);
    }
}

fn item(page: &mut Roff, usage: &str, what: &str) {
    page.control("TP", []).text([bold(usage.trim_end())]).text([roman(what)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_of_szc_its_other_names_and_each_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = Command::new("szc")
            .subcommand(Command::new("compare").about("Compares").arg(clap::Arg::new("CMD")));
        let commands =
            [(Purpose::Measure, "szc compare -- 'A' 'B' …".to_owned(), "which is faster")];
        write(folder.path(), all, &commands).expect("writable");
        let page = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
        for text in ["szc compare", "which is faster", "\\-Rstack=per\\-call", "SZC_SEED"] {
            assert!(page("szc.1").contains(text), "{text}: {}", page("szc.1"));
        }
        assert!(page("szc-compare.1").contains("Compares"));
        assert_eq!(page("szc++.1"), ".so man1/szc.1\n");
        assert!(page("cargo-szc.1").contains("\\-\\-pads"), "{}", page("cargo-szc.1"));
    }
}
