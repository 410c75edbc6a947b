//! A single run: what is executed for it, and whether it succeeded.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use super::blocks::Ending;
use super::conditions::Conditions;
use super::refusal;
use crate::measure::child::{End, Invocation, Outcome};
use crate::measure::lane::{Ran, Start};
use crate::measure::program::{PADDING_VARIABLE, Program, padding};
use crate::measure::stop::Stop;
use crate::samples::design::PlannedRun;

/// Variables with the seed of all layouts, and with those of its parts, which would keep one that
/// somebody set.
const SEED_VARIABLES: [&str; 4] = ["SZC_SEED", "SZC_CODE_SEED", "SZC_STACK_SEED", "SZC_HEAP_SEED"];

/// Variable that sets the time between layouts.
const INTERVAL_VARIABLE: &str = "SZC_INTERVAL_MS";

/// What the runtime has without it.
const USUAL_INTERVAL_MS: u32 = 500;

/// The time between layouts for so many programs by turns, so that there are as many in the same
/// CPU time: it passes during the turns of the others. None if the runtime is to judge the value.
fn interval_by_turns(set: Option<String>, programs: usize) -> Option<(String, OsString)> {
    let interval_ms = set.map_or(Ok(USUAL_INTERVAL_MS), |text| text.parse::<u32>()).ok()?;
    let by_turns = interval_ms.saturating_mul(u32::try_from(programs).ok()?);
    Some((INTERVAL_VARIABLE.to_owned(), by_turns.to_string().into()))
}

/// What is executed for a run, and the variables that are its own.
pub(super) fn start<'a>(
    programs: &'a [Program],
    conditions: &Conditions,
    run: PlannedRun,
) -> Start<'a> {
    let program = &programs[run.program];
    let mut variables: Vec<(String, OsString)> =
        SEED_VARIABLES.map(|name| (name.to_owned(), OsString::from(run.seed.to_string()))).to_vec();
    if let Some(bytes) = run.padding_bytes {
        variables.push((PADDING_VARIABLE.to_owned(), padding(bytes).into()));
    }
    if conditions.turn.is_some() {
        variables.extend(interval_by_turns(std::env::var(INTERVAL_VARIABLE).ok(), programs.len()));
    }
    let invocation = Invocation {
        timeout: conditions.timeout,
        folder: program.folder.as_deref(),
        cpu: conditions.cpu,
        slice: conditions.turn,
        addresses: run.addresses,
        ..Invocation::new(&program.argv)
    };
    Start { invocation, variables }
}

/// How a run ended, if it did so with exit status 0.
pub(super) fn ended_well<'a>(
    program: &Program,
    run: PlannedRun,
    ran: &'a Ran,
    conditions: &Conditions,
    stop: &Stop,
) -> Result<&'a Outcome, Ending> {
    let outcome = ran
        .outcome
        .as_ref()
        .map_err(|error| Ending::Refused(refusal::cannot_start(program, &ran.argv, error)))?;
    if outcome.end == End::Exited(0) {
        return Ok(outcome);
    }
    // A program that dies of the user's Ctrl-C has not failed.
    Err(match stop.signal() {
        Some(signal) => Ending::Interrupted(signal),
        None => Ending::Refused(refusal::failure(program, run, outcome, conditions.timeout)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_turns_the_time_between_layouts_passes_for_all_programs() {
        let interval = |set: Option<&str>, programs| {
            let (name, value) = interval_by_turns(set.map(str::to_owned), programs)?;
            assert_eq!(name, "SZC_INTERVAL_MS");
            Some(value)
        };
        assert_eq!(interval(None, 2), Some("1000".into()));
        assert_eq!(interval(Some("20"), 3), Some("60".into()));
        assert_eq!(interval(Some("0"), 2), Some("0".into()));
        assert_eq!(interval(Some("often"), 2), None);
    }
}
