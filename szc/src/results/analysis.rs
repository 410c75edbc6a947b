//! All results of a samples file, or those that it lacks.
#![forbid(unsafe_code)]

use super::bias::bias;
use super::comparison::results;
use super::groups::group_results;
use super::machines::over_machines;
use super::suite::suite;
use super::summary::summaries;
use crate::samples::design::Arrangement;
use crate::samples::{Command, EndedRecord, SamplesFile};

/// Writes down all results that follow from the runs of `file`, without their sentences. Of an
/// experiment that ended with a refusal there are none: whatever was seen, a program is unfit.
pub fn analyse(file: &mut SamplesFile) {
    file.results = Vec::new();
    file.summaries = Vec::new();
    file.bias = None;
    if file.command == Command::Sweep {
        file.over_machines = Vec::new();
        file.suite = None;
    }
    if !matches!(file.ended, EndedRecord::Refused { .. }) {
        complete(file);
    }
}

/// Adds the results that `file` lacks, as files of older versions and of experiments that were cut
/// off do, without their sentences.
pub fn complete(file: &mut SamplesFile) {
    if file.command == Command::Bias {
        // Its blocks differ on purpose, so they are no sample of one distribution.
        file.bias = file.bias.take().or_else(|| bias(file));
        return;
    }
    if file.results.is_empty() {
        file.results = match file.design.plan.arrangement {
            Arrangement::Groups => group_results(file),
            _ => results(file),
        };
    }
    if file.summaries.is_empty() {
        file.summaries = summaries(file);
    }
    if file.over_machines.is_empty() {
        file.over_machines = over_machines(file);
    }
    if file.suite.is_none() && file.command == Command::Sweep {
        file.suite = suite(file);
    }
}
