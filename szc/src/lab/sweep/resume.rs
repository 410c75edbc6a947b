//! Going on with an interrupted sweep: the programs without all their blocks, with the same seeds.
#![forbid(unsafe_code)]

use std::path::Path;

use anyhow::{Result, bail};

use super::plan::{Sweep, Workload};
use crate::lab::options::MetricChoice;
use crate::lab::resume::{conditions_of, metric_of, reopened};
use crate::measure::program::Program;
use crate::samples::{Command, ProgramRecord};

/// The rest of the sweep in the file at `path`, to be saved there.
///
/// # Errors
/// When the file cannot be read, is of another subcommand, or a program is not the one it was.
pub(super) fn rest_of(path: &Path, command_line: Vec<String>, quiet: bool) -> Result<Sweep> {
    let (file, programs) = reopened(Command::Sweep, path)?;
    if !file.was_measured() {
        bail!(
            "{} was made of other files, by szc merge or szc import: go on with those, and make it \
             again",
            path.display()
        );
    }
    let Some(workloads) = workloads_of(&file.programs, &programs) else {
        bail!(
            "{} does not name the same levels for all its programs, so it is not as szc sweep \
             wrote it: begin a new sweep",
            path.display()
        );
    };
    let metric = metric_of(&file.design).to_owned();
    let choice = MetricChoice::new(&metric)?;
    Ok(Sweep {
        workloads,
        design: file.design.plan,
        conditions: conditions_of(&file.design, choice.metric),
        shard: file.design.shard,
        metric,
        tolerance: file.design.tolerance,
        command_line,
        json: Some(path.to_owned()),
        quiet,
        earlier: Some(file),
    })
}

/// The programs by workload; `None` unless they stand together, at least two levels each, and the
/// same ones for all.
fn workloads_of(records: &[ProgramRecord], programs: &[Program]) -> Option<Vec<Workload>> {
    let mut workloads: Vec<Workload> = Vec::new();
    for (record, program) in records.iter().zip(programs) {
        let (name, level) = (record.workload.as_ref()?, record.level.clone()?);
        let level = (level, program.clone());
        match workloads.last_mut() {
            Some(last) if last.name == *name => last.levels.push(level),
            _ => workloads.push(Workload { name: name.clone(), levels: vec![level] }),
        }
    }
    let labels = |workload: &Workload| -> Vec<String> {
        workload.levels.iter().map(|(label, _)| label.clone()).collect()
    };
    let first = labels(workloads.first()?);
    let fit = first.len() >= 2 && workloads.iter().all(|workload| labels(workload) == first);
    fit.then_some(workloads)
}
