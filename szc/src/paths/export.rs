//! What was found, as JSON.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Serialize;

use super::merge::Merged;
use super::places::{Place, Places};
use super::rows::{Coverage, Row, coverage};

/// Version of the form.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct File<'a> {
    szc_paths: u32,
    command: &'a [String],
    programs: &'a [String],
    /// How long the program had run, if it had not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_seconds: Option<f64>,
    threads: u64,
    /// Executed blocks.
    blocks: u64,
    /// Mean number of blocks from one beginning of a subpath to the next; 1: all were counted.
    spacing: u32,
    max_length: u32,
    unprofiled_threads: u64,
    abandoned_threads: u64,
    /// By length: different subpaths, and the shares of the most frequent 1, 10 and 100.
    coverage: Vec<Coverage>,
    subpaths: Vec<Subpath>,
}

#[derive(Serialize)]
struct Subpath {
    program: usize,
    length: usize,
    is_loop: bool,
    /// How often the sample has it.
    seen: u64,
    executions: f64,
    lower: f64,
    upper: f64,
    /// About how many cycles an execution takes, by a table of instructions.
    cycles: u64,
    blocks: Vec<Block>,
}

#[derive(Serialize)]
struct Block {
    /// Distance of the call that tells of it, and of what follows that, from the program's start.
    address: u32,
    #[serde(flatten)]
    place: Place,
}

/// The file, with a newline at its end.
pub(super) fn json(
    merged: &Merged,
    rows: &[Row<'_>],
    places: &mut Places,
    command: &[String],
    after: Option<Duration>,
) -> String {
    let subpath = |row: &Row<'_>| Subpath {
        program: row.key.program,
        length: row.key.blocks.len(),
        is_loop: row.key.is_loop,
        seen: row.seen,
        executions: row.count,
        lower: row.interval.lower,
        upper: row.interval.upper,
        cycles: row.cycles,
        blocks: row
            .key
            .blocks
            .iter()
            .map(|&address| {
                let place = places.of(&merged.programs, row.key.program, address);
                Block { address, place }
            })
            .collect(),
    };
    let subpaths = rows.iter().map(subpath).collect();
    let file = File {
        szc_paths: VERSION,
        command,
        programs: &merged.programs,
        after_seconds: after.map(|after| after.as_secs_f64()),
        threads: merged.threads,
        blocks: merged.blocks,
        spacing: merged.spacing,
        max_length: merged.longest,
        unprofiled_threads: merged.unprofiled,
        abandoned_threads: merged.abandoned,
        coverage: coverage(merged),
        subpaths,
    };
    serde_json::to_string(&file).expect("numbers and texts are JSON") + "\n"
}
