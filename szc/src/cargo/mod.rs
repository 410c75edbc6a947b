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
mod rustc;
mod workspace;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use crate::error::{Class, report};
use crate::lab::output::say;

/// The name by which cargo finds the subcommand.
pub const PROGRAM: &str = "cargo-szc";

/// What can stand behind `cargo szc`, and what it does.
pub const COMMANDS: [(&str, &str); 6] = [
    ("build", "cargo build, but programs and libraries move"),
    ("run", "cargo run, likewise"),
    ("test", "cargo test, likewise"),
    ("bench", "cargo bench, likewise"),
    ("compare", "a bench of two revisions: which is faster?"),
    ("gate", "the same, as the exit code that a CI wants"),
];

/// Options in front of the command.
pub const OPTIONS: [(&str, &str); 1] =
    [("--pads", "the linker generates code, so that frames get pads")];

/// Options of compare and gate, beside those that szc's own have.
pub const BENCH_OPTIONS: [(&str, &str); 5] = [
    ("--rev REV", "what is compared; once: against HEAD"),
    ("--bench NAME", "the bench, where the package has several"),
    ("-p, --package NAME", "the package, where several have one"),
    ("--harness FORMAT", "as szc compare's; default auto"),
    ("--features, --profile, …", "what decides about a build, as cargo bench's"),
];

/// The lists of the page, with their titles.
pub const SECTIONS: [(&str, &[(&str, &str)]); 3] = [
    ("Commands", &COMMANDS),
    ("Options, in front of the command", &OPTIONS),
    ("Options of compare and gate", &BENCH_OPTIONS),
];

/// How it goes about it.
pub const ABOUT: &str = "\
Other commands of cargo's work, too (cargo szc nextest run). Arguments are
cargo's, and so is the exit code; what is built lies in szc, or szc-pads, of the
target folder. No file of the workspace is touched, and its flags are kept.";

const TITLE: &str = "\
cargo szc [--pads] COMMAND ARGS…: builds a workspace of Rust by szc, and measures its benches
";

const EXAMPLES: &str = "
Examples:
  cargo szc build --release
  cargo szc compare --rev main --bench parser
  cargo szc compare --rev v1.0 --rev v1.1 --budget 10m --bench parser -- --measurement-time 0.5
  cargo szc gate --rev origin/main --max-slowdown 2% --bench parser --json gate.json
All options of compare and gate: szc help compare, szc help gate.
";

/// Width of the first column.
const WIDTH: usize = 26;

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
        Some(name @ ("compare" | "gate")) => compare::run(name, pads, rest),
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

/// The page of `cargo szc --help`.
fn page() -> String {
    let mut page = format!("{TITLE}\n{ABOUT}\n");
    for (title, entries) in SECTIONS {
        page.push_str(&format!("\n{title}\n"));
        for (usage, what) in entries {
            page.push_str(&format!("  {usage:WIDTH$}{what}\n"));
        }
    }
    page + EXAMPLES
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

    #[test]
    fn the_page_has_every_command_and_option() {
        for (usage, what) in COMMANDS.iter().chain(&OPTIONS).chain(&BENCH_OPTIONS) {
            assert!(page().contains(&format!("\n  {usage:WIDTH$}{what}\n")), "{usage}");
        }
    }
}
