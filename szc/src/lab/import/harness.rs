//! Files of harnesses that were measured elsewhere: each one, or criterion's folder, is a run.
//!
//! With a table of runs they are blocks, as if szc had measured them. Without one nothing is known
//! of what was measured next to what, so that the files of A and those of B are groups.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};

use super::options::Options;
use super::record::record;
use super::table::Complete;
use crate::lab::analysis::analyse;
use crate::lab::metric::HARNESS_PREFIX;
use crate::measure::harness::Harness;
use crate::measure::machine;
use crate::measure::program::label;
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::{Arrangement, Design, EnvironmentSize, MAX_BLOCKS};
use crate::samples::machine::Machine;
use crate::samples::{
    Command, DesignRecord, EndedRecord, Metric, ProgramRecord, RuleRecord, Sample, SamplesFile, io,
};

/// Fewest runs of a program by which it can be compared with another one's.
const MIN_RUNS: usize = 2;

/// What the user is told, since no harness writes it down.
const NOT_KNOWN: &str = "the files of a harness do not tell whether their programs were \
                         randomized: unless szc built them, and each run had another layout, the \
                         verdicts are about one layout of each";

/// Runs of programs, and how they belong together.
struct Runs {
    /// Names of the programs, the reference first.
    names: Vec<String>,
    samples: Vec<Sample>,
    randomized: Vec<bool>,
    plan: Design,
    /// The file that was there first.
    first: PathBuf,
}

/// The samples of the files that `options` name.
///
/// # Errors
/// When a file cannot be read or is of no harness, and when there are too few.
pub(super) fn imported(
    options: &Options,
    harness: &str,
    command_line: Vec<String>,
) -> Result<SamplesFile> {
    let filter = options.rows.as_ref().map_or(String::new(), |rows| format!(":{rows}"));
    let option = format!("{harness}{filter}");
    let harness = Harness::new(&option).map_err(anyhow::Error::msg)?;
    let runs = match &options.table {
        Some(table) => of_table(options, table, &harness)?,
        None => of_groups(options, &harness)?,
    };
    let created = fs::metadata(&runs.first).and_then(|data| data.modified());
    let programs = runs.names.iter().zip(&runs.randomized).enumerate();
    let records = programs.map(|(at, (name, randomized))| program(label(at), name, *randomized));
    let design = DesignRecord {
        tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
        row_tolerances: options.row_tolerances.clone(),
        complete_blocks: runs.plan.blocks,
        metric_option: Some(format!("{HARNESS_PREFIX}{option}")),
        check_output: false,
        ..DesignRecord::new(runs.plan, RuleRecord::Fixed, Metric::Rows)
    };
    // How busy it is now says nothing about then.
    let machine = Machine { load: None, ..machine::current() };
    let advice = runs.randomized.iter().any(|randomized| !randomized).then(|| NOT_KNOWN.to_owned());
    let mut file = SamplesFile {
        created: io::iso_8601(created.unwrap_or_else(|_| SystemTime::now())),
        runs: runs.samples,
        ended: EndedRecord::Complete,
        advice: advice.into_iter().collect(),
        ..SamplesFile::new(Command::Compare, command_line, design, machine, records.collect())
    };
    analyse(&mut file);
    Ok(file)
}

/// Blocks of a table.
fn of_table(options: &Options, table: &Path, harness: &Harness) -> Result<Runs> {
    let complete = Complete::read(table, options.reference.as_deref())?;
    let folder = table.parent().unwrap_or(Path::new("."));
    let mut samples = Vec::new();
    for row in &complete.rows {
        samples.push(Sample {
            block: row.block,
            position: row.position,
            program: complete.place_of(&row.level),
            seed: row.seed,
            ..read(harness, &folder.join(&row.file))?
        });
    }
    let seed = complete.rows[0].seed;
    let plan = Design::mirrored(complete.levels.len(), complete.blocks, seed);
    Ok(Runs {
        randomized: complete.levels.iter().map(|name| complete.is_randomized(name)).collect(),
        samples,
        plan: Design { warmup: 0, environment: EnvironmentSize::Fixed, ..plan },
        first: table.to_owned(),
        names: complete.levels,
    })
}

/// Groups of files that have nothing to do with each other.
fn of_groups(options: &Options, harness: &Harness) -> Result<Runs> {
    let groups = [&options.a, &options.b];
    let mut samples = Vec::new();
    let mut seen = BTreeSet::new();
    for (program, (files, option)) in groups.into_iter().zip(["--a", "--b"]).enumerate() {
        if files.len() < MIN_RUNS || files.len() > MAX_BLOCKS as usize {
            bail!(
                "{option} has {} files, and {MIN_RUNS} runs of each program are needed at least: \
                 {option} 1.json 2.json …, or folders of criterion",
                files.len()
            );
        }
        for (block, path) in (0..).zip(files) {
            let same = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            if !seen.insert(same) {
                bail!("{} is given twice: every run has a file of its own", path.display());
            }
            samples.push(Sample { block, program, ..read(harness, path)? });
        }
    }
    let blocks = groups.iter().map(|files| files.len()).max().unwrap_or_default();
    let blocks = u32::try_from(blocks).unwrap_or(MAX_BLOCKS);
    Ok(Runs {
        names: ["A", "B"].map(str::to_owned).to_vec(),
        samples,
        randomized: vec![false; 2],
        plan: Design {
            arrangement: Arrangement::Groups,
            warmup: 0,
            environment: EnvironmentSize::Fixed,
            ..Design::mirrored(2, blocks, 0)
        },
        first: options.a[0].clone(),
    })
}

/// What a run says of its rows.
fn read(harness: &Harness, path: &Path) -> Result<Sample> {
    if !path.exists() {
        bail!("cannot read {}: there is no such file", path.display());
    }
    let figures = harness.figures_of(path);
    let figures = figures.map_err(|wrong| anyhow!("cannot use {}: {wrong}", path.display()))?;
    Ok(Sample { figures, ..Sample::default() })
}

fn program(label: String, name: &str, randomized: bool) -> ProgramRecord {
    let reason = "the files of a harness do not tell";
    ProgramRecord {
        name: (label != name).then(|| name.to_owned()),
        label,
        workload: None,
        level: None,
        not_randomized_reason: (!randomized).then(|| reason.to_owned()),
        ..record(name, name, randomized)
    }
}

#[cfg(test)]
mod tests;
