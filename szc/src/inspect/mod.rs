//! `szc inspect FILE`: shows the relocation table of an image, for people and as JSON.

mod report;
mod text;

pub use report::{FunctionReport, Report};

use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Shows which functions of a program may move, and why the others are pinned
#[derive(Debug, Parser)]
#[command(
    name = "szc inspect",
    after_help = "Examples:\n  \
        szc inspect ./sqlite3\n  \
        szc inspect --json ./sqlite3 | jq '.pinned_by_reason'\n  \
        szc inspect --functions ./sqlite3 | grep pinned"
)]
struct Arguments {
    /// Print one JSON object, with every function
    #[arg(long)]
    json: bool,
    /// List every function
    #[arg(long)]
    functions: bool,
    /// Program or shared library built by szc
    file: PathBuf,
}

/// Runs `szc inspect`. Exit code 0 if the file has a table, 1 if it has none or cannot be read, 2
/// for a usage error.
#[must_use]
pub fn command(args: &[OsString]) -> ExitCode {
    let name = OsString::from("szc inspect");
    let arguments = match Arguments::try_parse_from(std::iter::once(&name).chain(args)) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match Report::of_file(&arguments.file) {
        Ok(report) => {
            let text = if arguments.json {
                serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
            } else {
                text::text(&report, arguments.functions)
            };
            // A closed pipe (`| head`) is not an error of ours.
            let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("szc inspect: {error:#}");
            ExitCode::FAILURE
        }
    }
}
