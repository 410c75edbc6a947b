//! How a step ended, and what is kept of a program that could not be measured.
#![forbid(unsafe_code)]

use std::fs;

use anyhow::{Context, Result};

use super::setting::Setting;
use super::step::Step;
use crate::say::say;
use crate::suite::Program;
use crate::workload::make_folder;

/// How a step ended.
pub(super) enum Done {
    Well,
    /// Some programs could not be measured.
    Failed,
    /// With this exit code, by a signal.
    Interrupted(i32),
}

/// Says why a program could not be measured, and keeps it beside the samples.
///
/// # Errors
/// When the reason cannot be written.
pub(super) fn fail(
    setting: &Setting<'_>,
    step: Step,
    program: &Program,
    reason: &str,
) -> Result<()> {
    say!("{:<13} FAILED: {reason}", program.name());
    let place = setting.archive.failure(step, program.name());
    make_folder(place.parent().unwrap_or(&setting.results))?;
    fs::write(&place, format!("{}\n", setting.private.removed(reason)))
        .with_context(|| format!("cannot write {}", place.display()))
}
