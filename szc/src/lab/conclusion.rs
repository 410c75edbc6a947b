//! The end of an experiment or of a reading: its report printed, its samples saved, its exit code.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::Result;

use super::exit::EXIT_VERDICT;
use super::experiment::Experiment;
use super::output;
use crate::samples::{EndedRecord, SamplesFile};

/// Where samples come from.
pub enum Source {
    /// From runs.
    Runs(Box<Experiment>),
    /// They were measured before, and are to be saved to that file again.
    Saved(Box<SamplesFile>, Option<PathBuf>),
}

impl Source {
    /// Those of an experiment.
    pub fn runs(experiment: Experiment) -> Self {
        Self::Runs(Box::new(experiment))
    }

    /// Measures, unless that is done, prints what `report` says, and saves. The exit code, if it
    /// does not depend on the verdict.
    ///
    /// # Errors
    /// When szc itself cannot work, or those of [`conclude`].
    pub fn concluded(
        self,
        quiet: bool,
        report: fn(&SamplesFile, bool) -> String,
    ) -> Result<(SamplesFile, u8)> {
        match self {
            Self::Runs(experiment) => {
                if !quiet {
                    output::say(&experiment.header())?;
                }
                let json = experiment.json.clone();
                let file = experiment.carry_out()?;
                let code = conclude(json.as_ref(), &file, &report(&file, quiet))?;
                Ok((file, code))
            }
            Self::Saved(file, json) => {
                let code = conclude(json.as_ref(), &file, &report(&file, quiet))?;
                // How the measuring ended says nothing about reading, unless a program was unfit.
                let unfit = matches!(file.ended, EndedRecord::Refused { .. });
                Ok((*file, if unfit { code } else { EXIT_VERDICT }))
            }
        }
    }
}

/// What to do with a finished experiment: print its report, save it, and complain about a program
/// that failed. The exit code, if it does not depend on the verdict.
///
/// # Errors
/// When the report cannot be printed or the samples cannot be saved where they should be. Neither
/// keeps the other from being done.
pub fn conclude(json: Option<&PathBuf>, file: &SamplesFile, report: &str) -> Result<u8> {
    let said = match &file.ended {
        EndedRecord::Refused { reason } => {
            output::complain(file.command.name(), reason);
            Ok(())
        }
        _ => output::say(report),
    };
    let saved = json.map_or(Ok(()), |path| output::save(path, file));
    saved?;
    said?;
    Ok(output::exit_code(&file.ended))
}
