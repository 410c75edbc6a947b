//! A single run: what is executed for it, and whether it succeeded.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use super::blocks::Ending;
use super::conditions::Conditions;
use super::refusal;
use crate::measure::child::{End, Invocation, Outcome};
use crate::measure::lane::{Ran, Start};
use crate::measure::program::{ONE_LAYOUT, PADDING_VARIABLE, Program, padding};
use crate::measure::stop::Stop;
use crate::samples::design::PlannedRun;
use crate::samples::setups::FILLING_VARIABLE;

/// Variables with the seed of all layouts, and with those of its parts, which would keep one that
/// somebody set.
const SEED_VARIABLES: [&str; 4] = ["SZC_SEED", "SZC_CODE_SEED", "SZC_STACK_SEED", "SZC_HEAP_SEED"];

/// By turns, time passes for all programs, processor time only for the one whose turn it is: the
/// interval between layouts is counted in that.
const CLOCK_BY_TURNS: (&str, &str) = ("SZC_CLOCK", "cpu");

/// What is executed for a run, and the variables that are its own.
pub(in crate::lab) fn start<'a>(
    programs: &'a [Program],
    conditions: &Conditions,
    run: PlannedRun,
) -> Start<'a> {
    let program = programs[run.program].of_run(&run);
    let parts = run.part_seeds();
    let with_seed = |name: &str| {
        let part = parts.iter().find(|(part, _)| *part == name);
        let seed = part.map_or(run.seed, |(_, seed)| *seed);
        (name.to_owned(), OsString::from(seed.to_string()))
    };
    let mut variables = SEED_VARIABLES.map(with_seed).to_vec();
    if let Some(bytes) = run.padding_bytes {
        variables.push((PADDING_VARIABLE.to_owned(), padding(bytes).into()));
    }
    if let Some(setup) = run.setup {
        let [_, bytes] = setup.variables_bytes();
        variables.push((FILLING_VARIABLE.to_owned(), padding(bytes).into()));
    }
    if run.keeps_layout() {
        variables.push((ONE_LAYOUT.0.to_owned(), ONE_LAYOUT.1.into()));
    }
    if conditions.turn.is_some() {
        variables.push((CLOCK_BY_TURNS.0.to_owned(), CLOCK_BY_TURNS.1.into()));
    }
    let own = program.variables.iter();
    variables.extend(own.map(|(name, value)| (name.clone(), OsString::from(value))));
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
