//! What was found, as JSON.
#![forbid(unsafe_code)]

use serde::Serialize;

use super::merge::Merged;
use super::places::{Place, Places};
use super::rows::Row;

/// Version of the form.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct File<'a> {
    szc_paths: u32,
    command: &'a [String],
    programs: &'a [String],
    threads: u64,
    /// Executed blocks.
    blocks: u64,
    /// Mean number of blocks from one beginning of a subpath to the next; 1: all were counted.
    spacing: u32,
    max_length: u32,
    unprofiled_threads: u64,
    abandoned_threads: u64,
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
) -> String {
    let subpath = |row: &Row<'_>| Subpath {
        program: row.key.program,
        length: row.key.blocks.len(),
        is_loop: row.key.is_loop,
        seen: row.seen,
        executions: row.count,
        lower: row.interval.lower,
        upper: row.interval.upper,
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
        threads: merged.threads,
        blocks: merged.blocks,
        spacing: merged.spacing,
        max_length: merged.longest,
        unprofiled_threads: merged.unprofiled,
        abandoned_threads: merged.abandoned,
        subpaths,
    };
    serde_json::to_string(&file).expect("numbers and texts are JSON") + "\n"
}
