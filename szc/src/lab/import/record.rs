//! The record of a program that szc did not run.
#![forbid(unsafe_code)]

use crate::samples::ProgramRecord;

/// A benchmark at a level.
pub(super) fn record(benchmark: &str, level: &str, randomized: bool) -> ProgramRecord {
    let reason = "a run left no log of szc's runtime that tells of moved functions";
    ProgramRecord {
        label: level.to_owned(),
        name: Some(benchmark.to_owned()),
        workload: Some(benchmark.to_owned()),
        level: Some(level.to_owned()),
        machine: None,
        command: benchmark.to_owned(),
        via_shell: false,
        folder: None,
        executable: None,
        orders: Vec::new(),
        randomized,
        not_randomized_reason: (!randomized).then(|| reason.to_owned()),
        randomization: None,
        schedule: None,
        shared: None,
    }
}
