//! How a question to szc itself is answered.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use crate::error::{Class, report};
use crate::lab::output::say;

/// Prints a text, and what to leave with.
pub(super) fn printed(text: &str) -> ExitCode {
    match say(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(Class::Failed, error),
    }
}
