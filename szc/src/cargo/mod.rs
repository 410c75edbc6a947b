//! `cargo szc`: szc as cargo's compiler of a workspace, of which no file is touched.
//!
//! cargo runs a subcommand by the name `cargo-szc`, which is a name of szc. It has two roles. As
//! the subcommand it runs cargo again, with a target folder of its own and with itself as `RUSTC`;
//! as `RUSTC` it becomes rustc, with a few arguments more. So nothing has to be known of where
//! cargo takes its flags from (`RUSTFLAGS`, `CARGO_ENCODED_RUSTFLAGS`, `build.rustflags`,
//! `target.*.rustflags`): ours come behind all of them.
#![forbid(unsafe_code)]

mod bench;
mod compare;
mod front;
mod page;
mod rustc;
mod workspace;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use crate::error::{Class, report};
use crate::lab::output::say;
use page::{PROGRAM, page};

pub use page::{ABOUT, BENCH_CHOICES, COMMANDS, MEASURING, NOT_FOR_BENCHES, OPTIONS, SECTIONS};

/// Whether a program of this name is for cargo.
#[must_use]
pub fn is_named(program: &OsStr) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == PROGRAM)
}

/// Runs `cargo-szc` with its arguments: those of cargo begin with the name of the subcommand.
#[must_use]
pub fn main(args: &[OsString]) -> ExitCode {
    match args {
        [first, rest @ ..] if first == "szc" => subcommand(rest),
        _ if rustc::is_role() => rustc::run(args),
        _ => report(Class::Usage, format_args!("{PROGRAM} is run by cargo: cargo szc build")),
    }
}

fn subcommand(args: &[OsString]) -> ExitCode {
    let (pads, args) = match args {
        [first, rest @ ..] if first == "--pads" => (true, rest),
        _ => (false, args),
    };
    let Some((command, rest)) = args.split_first() else {
        eprint!("{}", page());
        return report(Class::Usage, "a command of cargo's is needed: cargo szc build");
    };
    match command.to_str() {
        Some("--help" | "-h" | "help") => match say(&page()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(Class::Failed, error),
        },
        Some(name) if MEASURING.contains(&name) => compare::run(name, pads, rest),
        Some(bench::BUILD) => bench::build(pads, rest),
        Some(text) if text.starts_with('-') => report(
            Class::Usage,
            format_args!(
                "'{text}' is no option of cargo szc, which has --pads; options of cargo stand \
                 behind its command: cargo szc build {text}"
            ),
        ),
        _ => front::run(pads, args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_of_that_name_is_for_cargo() {
        for (program, expected) in [
            ("/usr/bin/cargo-szc", true),
            ("cargo-szc", true),
            ("szc", false),
            ("/cargo-szc/szc", false),
        ] {
            assert_eq!(is_named(OsStr::new(program)), expected, "{program}");
        }
    }
}
