//! What subcommands print, and where the samples go when their file cannot be written.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Serialize;

use super::exit::{EXIT_INTERNAL, EXIT_PROGRAM, EXIT_SIGNAL_BASE, EXIT_USAGE, EXIT_VERDICT};
use crate::measure::stop;
use crate::samples::{EndedRecord, SamplesFile, io};

/// Writes to stdout. A reader that has gone away is no error.
///
/// # Errors
/// When stdout cannot be written to, such as a full disk.
pub fn say(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write the report to stdout")
        }
        _ => Ok(()),
    }
}

/// Writes an error message of a subcommand to stderr.
pub fn complain(command: &str, text: &str) {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "szc {command}: error: {text}");
}

/// Prints what the reader of the command line has to say: help to stdout, or what is wrong to
/// stderr.
pub fn explain(error: &clap::Error) -> ExitCode {
    // A closed stdout or stderr leaves nobody to tell.
    let _ = error.print();
    if error.use_stderr() { EXIT_USAGE } else { EXIT_VERDICT }.into()
}

/// Writes the samples; if that fails, to a file in the folder for temporary files, so that nothing
/// measured is lost.
///
/// # Errors
/// That the file could not be written, and where the samples are instead.
pub fn save(path: &Path, file: &SamplesFile) -> Result<()> {
    if io::is_special(path) {
        // A pipe that nobody reads is opened, and written to, for ever.
        stop::end_on_signals().context("cannot handle signals")?;
    }
    let Err(error) = io::write(path, file) else {
        return Ok(());
    };
    let rescue = std::env::temp_dir().join(format!("szc-samples-{}.json", std::process::id()));
    match io::write(&rescue, file) {
        Ok(()) => Err(error.context(format!(
            "the samples are in {} instead: move them to where there is room",
            rescue.display()
        ))),
        Err(_) => Err(error),
    }
}

/// The exit code of an experiment that ended this way, whatever its verdict is.
#[must_use]
pub fn exit_code(ended: &EndedRecord) -> u8 {
    match ended {
        EndedRecord::Complete => EXIT_VERDICT,
        EndedRecord::Interrupted { signal } => {
            EXIT_SIGNAL_BASE + u8::try_from(*signal).unwrap_or_default()
        }
        EndedRecord::Refused { .. } => EXIT_PROGRAM,
        EndedRecord::Unfinished => EXIT_INTERNAL,
    }
}

/// Writes `value` as JSON that people can read, whole or not at all; `what` names it in errors.
///
/// # Errors
/// Those of [`io::write_whole`].
pub fn write_json(path: &Path, what: &str, value: &impl Serialize) -> Result<()> {
    let text =
        serde_json::to_string_pretty(value).with_context(|| format!("cannot write {what}"))?;
    io::write_whole(path, what, (text + "\n").as_bytes())
}
