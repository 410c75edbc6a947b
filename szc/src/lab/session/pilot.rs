//! The pilot of an experiment: one run of each program for itself, as in the first round of the
//! warm-up, to see how it uses its time.
#![forbid(unsafe_code)]

use std::io;

use super::blocks::Ending;
use super::conditions::Conditions;
use super::single::{ended_well, start};
use crate::measure::child::Outcome;
use crate::measure::lane::{LOG_VARIABLE, Lane, round};
use crate::measure::program::Program;
use crate::measure::stop::Stop;
use crate::samples::design::Design;

/// How the run of each program ended; or why the experiment is over.
///
/// # Errors
/// When files for the logs of the runtime cannot be made or read.
pub fn pilot(
    programs: &[Program],
    design: &Design,
    conditions: &Conditions,
    stop: &Stop,
) -> io::Result<Result<Vec<Outcome>, Ending>> {
    let mut lanes = Lane::several(1, &[])?;
    let mut outcomes = Vec::new();
    for run in (Design { warmup: 1, ..*design }).warm_up_runs() {
        if let Some(signal) = stop.signal() {
            return Ok(Err(Ending::Interrupted(signal)));
        }
        let mut start = start(programs, conditions, run);
        // A log would be a file that it writes.
        start.variables.push((LOG_VARIABLE.to_owned(), "/dev/null".into()));
        for ran in round(&mut lanes, &[start], stop)? {
            match ended_well(&programs[run.program], run, &ran, conditions, stop) {
                Ok(outcome) => outcomes.push(outcome.clone()),
                Err(ending) => return Ok(Err(ending)),
            }
        }
    }
    Ok(Ok(outcomes))
}
