//! The table of runs that the driver script writes.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::measure::rsf;
use crate::samples::design::{MAX_BLOCKS, MAX_PROGRAMS};

/// The first line: of SPEC's tools, and of others.
const HEADERS: [&str; 2] = ["szc-spec-runs 1", "szc-runs 1"];

/// Most positions of a block.
const MAX_POSITIONS: u32 = 1000;

/// A call of SPEC's tools, or of a harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) block: u32,
    pub(super) position: u32,
    pub(super) level: String,
    pub(super) seed: u64,
    pub(super) randomized: bool,
    /// The raw file, from the table's folder.
    pub(super) file: PathBuf,
}

/// The blocks of a table that have every level twice, from the first one on.
pub(super) struct Complete {
    /// The reference first.
    pub(super) levels: Vec<String>,
    /// Runs of these blocks alone, in the order of the table.
    pub(super) rows: Vec<Row>,
    /// How many blocks there are: one at least.
    pub(super) blocks: u32,
}

impl Complete {
    /// Reads a table.
    ///
    /// # Errors
    /// When it cannot be read, or has not one such block.
    pub(super) fn read(path: &Path, reference: Option<&str>) -> Result<Self> {
        let rows = read_table(path)?;
        let levels = levels(&rows, reference)?;
        let blocks = complete_blocks(&rows, &levels);
        if blocks == 0 {
            bail!(
                "{} has no complete block: each of {} is needed twice in block 0",
                path.display(),
                levels.join(", ")
            );
        }
        let rows = rows.into_iter().filter(|row| row.block < blocks).collect();
        Ok(Self { levels, rows, blocks })
    }

    /// The number of a level.
    pub(super) fn place_of(&self, level: &str) -> usize {
        self.levels.iter().position(|known| known == level).unwrap_or_default()
    }

    /// Whether all runs of a level were randomized.
    pub(super) fn is_randomized(&self, level: &str) -> bool {
        self.rows.iter().all(|row| row.level != level || row.randomized)
    }
}

/// Reads the table.
///
/// # Errors
/// When it cannot be read, a line is no run, or two lines are about the same.
fn read_table(path: &Path) -> Result<Vec<Row>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines = text.lines();
    if !lines.next().is_some_and(|line| HEADERS.contains(&line)) {
        bail!(
            "{} does not begin with the line {:?} or {:?}: a table of runs is needed, such as \
             spec-scripts/spec/measure.sh writes{}",
            path.display(),
            HEADERS[0],
            HEADERS[1],
            if rsf::parse(&text).is_ok() { ", which names raw files such as this one" } else { "" }
        );
    }
    let mut rows: Vec<Row> = Vec::new();
    for (number, line) in (2..).zip(lines) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(row) = row(line) else {
            bail!(
                "{}:{number}: block, position, level, seed, yes or no, and file are needed, with \
                 tabs between them; found {line:?}",
                path.display()
            );
        };
        let same = |other: &Row| (other.block, other.position) == (row.block, row.position);
        if rows.iter().any(same) {
            bail!(
                "{}:{number}: block {} has two runs at position {}",
                path.display(),
                row.block,
                row.position
            );
        }
        if let Some(other) = rows.iter().find(|other| other.file == row.file) {
            bail!(
                "{}:{number}: {} is the file of block {}, too: every run has one of its own",
                path.display(),
                row.file.display(),
                other.block
            );
        }
        rows.push(row);
    }
    rows.sort_by_key(|row| (row.block, row.position));
    Ok(rows)
}

fn row(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [block, position, level, seed, randomized, file] = fields[..] else {
        return None;
    };
    if level.is_empty() || file.is_empty() {
        return None;
    }
    Some(Row {
        block: block.parse().ok().filter(|block| *block < MAX_BLOCKS)?,
        position: position.parse().ok().filter(|position| *position < MAX_POSITIONS)?,
        level: level.to_owned(),
        seed: seed.parse().ok()?,
        randomized: match randomized {
            "yes" => true,
            "no" => false,
            _ => return None,
        },
        file: PathBuf::from(file),
    })
}

/// All levels, the reference first.
///
/// # Errors
/// When there are too few or too many, or the reference is none of them.
fn levels(rows: &[Row], reference: Option<&str>) -> Result<Vec<String>> {
    let mut levels: Vec<String> = Vec::new();
    for row in rows {
        if !levels.contains(&row.level) {
            levels.push(row.level.clone());
        }
    }
    if levels.len() < 2 || levels.len() > MAX_PROGRAMS {
        bail!("{} levels in the table, and 2 to {MAX_PROGRAMS} are needed", levels.len());
    }
    if let Some(reference) = reference {
        let Some(place) = levels.iter().position(|level| level == reference) else {
            bail!("--reference {reference} is no level: there are {}", levels.join(", "));
        };
        levels[..=place].rotate_right(1);
    }
    Ok(levels)
}

/// How many blocks from the first one on have every level twice.
fn complete_blocks(rows: &[Row], levels: &[String]) -> u32 {
    let is_complete = |block: &u32| {
        let times = |level: &String| {
            rows.iter().filter(|row| row.block == *block && row.level == *level).count()
        };
        levels.iter().all(|level| times(level) == 2)
    };
    (0..).take_while(is_complete).map(|block: u32| block + 1).last().unwrap_or_default()
}
