//! What came of a run, and what a user has to know of it.
#![forbid(unsafe_code)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use super::plan::Plan;
use super::samples::Samples;
use super::spaces::Spaces;
use crate::causal::file::{Point, Progress};
use crate::lab::exit::{EXIT_PROGRAM, EXIT_VERDICT};

/// What came of a run.
pub struct Outcome {
    /// How the program ended; nothing if it did not stop when it was asked to.
    pub status: Option<ExitStatus>,
    /// Experiments that were written.
    pub experiments: u64,
    /// Visits of progress points in them.
    pub visits: u64,
    /// Processes that joined.
    pub processes: usize,
    /// Those that go on although the program has ended.
    pub left: Vec<u32>,
    /// Threads that could not be sampled.
    pub unsampled_threads: u64,
    /// What arrived.
    pub arrivals: u64,
    /// Whether a program had the place where it was to arrive.
    pub has_arrival_place: bool,
    /// What was sampled.
    pub samples: Samples,
    /// Progress points that no program had.
    pub missing_points: Vec<String>,
}

/// How a process ended, as a profile says it.
pub fn how_ended(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.code(), status.signal())) {
        None => "it was asked to stop, and went on".to_owned(),
        Some((Some(code), _)) => format!("exit {code}"),
        Some((None, signal)) => format!("signal {}", signal.unwrap_or_default()),
    }
}

/// How often points were visited, all together.
pub fn visits(points: &[Point]) -> u64 {
    points.iter().fold(0, |sum, point| match point.progress {
        Progress::Throughput { visits } => sum + visits,
        Progress::Latency { departures, .. } => sum + departures,
    })
}

/// Says what is missing in a profile, and what to do.
pub fn explain(outcome: &Outcome, plan: &Plan, spaces: &Spaces) {
    if outcome.unsampled_threads > 0 {
        eprintln!(
            "szc: {} threads could not be sampled: the kernel gives no more clocks. See \
             kernel.perf_event_mlock_kb and ulimit -l",
            outcome.unsampled_threads
        );
    }
    if let Some(first) = outcome.left.first() {
        eprintln!(
            "szc: the program has ended, and {} of its processes go on ({first} is one), which \
             nothing measures any more: let a server run in the foreground",
            outcome.left.len()
        );
    }
    if let Some(place) = plan.arrival.as_ref().filter(|_| !outcome.has_arrival_place) {
        eprintln!("szc: no program had {place}, so nothing arrives there");
    } else if plan.header.load.is_some() && outcome.arrivals == 0 {
        eprintln!(
            "szc: nothing arrived, so the load is what it was. Mark where it does by COZ_ARRIVAL \
             or COZ_BEGIN of szc's coz.h (coz's own does not tell of threads), or name a function \
             or line with --arrival"
        );
    }
    if outcome.samples.lost > 0 {
        eprintln!("szc: {} samples were lost: szc was not let run", outcome.samples.lost);
    }
    for name in &outcome.missing_points {
        eprintln!("szc: no program had {name}, so it is no progress point");
    }
    if outcome.processes == 0 {
        eprintln!(
            "szc: the program took no library that is preloaded: it is linked statically, or has \
             more rights than its caller"
        );
    } else if plan.is_load_alone {
        if outcome.visits == 0 {
            eprintln!("szc: {NO_VISIT}");
        }
    } else if !spaces.has_files() {
        eprintln!("szc: no program or library matches --binary-scope");
    } else if spaces.is_empty() {
        eprintln!(
            "szc: nothing could be selected: build the program with -g, or take -F for \
             functions; or see the options for scope"
        );
    } else if outcome.samples.in_scope() == 0 {
        eprintln!("szc: no sample was in scope: the program runs elsewhere, or was too short");
    } else if let (0, Some(name)) = (outcome.experiments, &plan.fixed) {
        eprintln!("szc: no experiment was made: is there code of {name}?");
    } else if outcome.experiments == 0 && !plan.end_to_end {
        eprintln!("szc: no experiment was made: the program was too short. See --experiment-ms");
    } else if outcome.visits == 0 && !plan.end_to_end {
        eprintln!("szc: {NO_VISIT}");
    }
}

const NO_VISIT: &str = "no progress point was visited: put COZ_PROGRESS into the program, or name \
    a function or line that it comes to again and again with --progress, or take --end-to-end";

/// The exit code of `szc causal` behind a run.
pub fn exit_code(outcome: &Outcome) -> u8 {
    match outcome.status {
        Some(status) if !status.success() => {
            eprintln!("szc: the program ended with {status}");
            EXIT_PROGRAM
        }
        _ => EXIT_VERDICT,
    }
}
