//! Samples in long format for other programs: one row for each run.
//!
//! All three forms have the same columns, in the same order. Times keep the unit that was measured,
//! which their names say, so that nothing is rounded on the way.
#![forbid(unsafe_code)]

pub mod csv;
pub mod json;
pub mod r;

use std::collections::BTreeSet;

use super::view::Experiment;
use crate::samples::Sample;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// Any number.
    Number(f64),
    /// Not measured in this run.
    Missing,
}

/// Column names and rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns: lower-case letters, digits and underscores.
    pub columns: Vec<String>,
    /// One for each run, cells in the order of the columns.
    pub rows: Vec<Vec<Cell>>,
}

const FIXED: [&str; 19] = [
    "experiment",
    "workload",
    "program",
    "name",
    "complete",
    "block",
    "position",
    "seed",
    "wall_ns",
    "user_us",
    "sys_us",
    "max_rss_kib",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "relocations",
    "epochs",
    "machine",
];

/// All runs of `experiments` as one table: the fixed columns, then one for each figure that occurs.
#[must_use]
pub fn long_format(experiments: &[Experiment]) -> Table {
    let runs = || experiments.iter().flat_map(|experiment| &experiment.file.runs);
    let figures: BTreeSet<&String> = runs().flat_map(|run| run.figures.keys()).collect();
    let columns = FIXED.iter().map(|name| (*name).to_owned());
    let columns =
        columns.chain(figures.iter().map(|name| format!("figure_{}", name.replace('-', "_"))));
    let rows = experiments
        .iter()
        .flat_map(|one| one.file.runs.iter().map(move |run| (one, run)))
        .map(|(experiment, run)| {
            let figure = |name: &&String| {
                run.figures.get(*name).copied().map_or(Cell::Missing, Cell::Number)
            };
            fixed_cells(experiment, run).into_iter().chain(figures.iter().map(figure)).collect()
        })
        .collect();
    Table { columns: columns.collect(), rows }
}

fn fixed_cells(experiment: &Experiment, run: &Sample) -> Vec<Cell> {
    let program = experiment.file.programs.get(run.program);
    let text = |text: Option<String>| text.map_or(Cell::Missing, Cell::Text);
    let count = |count: Option<u64>| count.map_or(Cell::Missing, Cell::Whole);
    let complete = run.block < experiment.file.design.complete_blocks;
    vec![
        Cell::Text(experiment.title()),
        text(program.and_then(|program| program.workload.clone())),
        text(program.map(|program| program.label.clone())),
        text(program.and_then(|program| program.name.clone())),
        Cell::Whole(u64::from(complete)),
        Cell::Whole(u64::from(run.block)),
        Cell::Whole(u64::from(run.position)),
        Cell::Whole(run.seed),
        Cell::Whole(run.wall_ns),
        Cell::Whole(run.user_us),
        Cell::Whole(run.sys_us),
        Cell::Whole(run.max_rss_kib),
        Cell::Whole(run.minor_faults),
        Cell::Whole(run.major_faults),
        Cell::Whole(run.voluntary_switches),
        Cell::Whole(run.involuntary_switches),
        count(run.relocations),
        count(run.epochs),
        text(experiment.file.machine_of(run.program).hostname.clone()),
    ]
}

#[cfg(test)]
mod tests;
