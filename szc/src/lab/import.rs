//! `szc import`: times that SPEC's tools measured, as a samples file.
//!
//! SPEC's tools run the programs themselves, so szc cannot interleave them; a driver script does,
//! and notes each call in a table of runs. With that table the times are a sweep like any other.
#![forbid(unsafe_code)]

mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Parser;

use self::table::{Row, read_table};
use super::sweep::conclude_made;
use super::values::parse_share;
use crate::lab::analysis::analyse;
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::measure::machine;
use crate::measure::rsf::{self, RawResult};
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::{
    Arrangement, Design, EnvironmentSize, MAX_PROGRAMS, MAX_RUNS_PER_POSITION,
};
use crate::samples::machine::Machine;
use crate::samples::{
    Command, DesignRecord, EndedRecord, Metric, ProgramRecord, RuleRecord, Sample, SamplesFile, io,
};

const LONG_ABOUT: &str = "\
Makes a samples file of what SPEC CPU2006 or CPU2017 measured, so that szc report, merge, export \
and \
history work on it. The metric is the wall time that SPEC's tools report.

RUNS is the table that spec-scripts/spec/measure.sh writes: which level ran when, under which \
seed, \
and the raw file (.rsf) with its times.";

const AFTER_HELP: &str = "\
Example:
  szc import results/runs.tsv --reference O2 --json results/suite.json

The table: a first line `szc-spec-runs 1`, then a line for each call of SPEC's tools with
block, position, level, seed, whether the programs were randomized (yes or no) and raw
file, with tabs between them. Blocks and positions count from 0; file names are relative
to the table. A block has every level twice. Lines that begin with # are comments, and a
block that is not complete is left out. Several iterations in one raw file are runs of
the same position.

Import on the machine that measured: the samples file describes this one.

Exit status: 0 imported, whatever the verdicts are; 1 szc could not do its work; 2 usage
error, or files that do not belong together; a failed run of a benchmark included.";

/// Options of `szc import`.
#[derive(Debug, Parser)]
#[command(
    name = "szc import",
    bin_name = "szc import",
    no_binary_name = true,
    about = "Makes a samples file of what SPEC's tools measured",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc import runs.tsv --json suite.json\nMore with --help."
)]
pub(crate) struct Options {
    /// Table of the runs
    #[arg(value_name = "RUNS")]
    table: PathBuf,

    /// Write the samples, with the results, to a file
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,

    /// The level that the others are compared with [default: that of the first line]
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    reference: Option<String>,

    /// Difference that does not matter, for "equivalent" [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    delta: Option<f64>,

    /// Print only the verdicts
    #[arg(long, short)]
    quiet: bool,
}

impl Subcommand for Options {
    const NAME: &'static str = "import";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let file = imported(&self, command_line);
        conclude_made(Self::NAME, file, self.json.as_ref(), self.quiet)
    }
}

/// A line of the table with what its raw file says.
struct Call {
    row: Row,
    /// Times of each benchmark, s, in the order of the iterations.
    times: BTreeMap<String, Vec<f64>>,
}

fn imported(options: &Options, command_line: Vec<String>) -> Result<SamplesFile> {
    let rows = read_table(&options.table)?;
    let created = fs::metadata(&options.table).and_then(|data| data.modified());
    let levels = levels(&rows, options.reference.as_deref())?;
    let blocks = complete_blocks(&rows, &levels);
    if blocks == 0 {
        bail!(
            "{} has no complete block: each of {} is needed twice in block 0",
            options.table.display(),
            levels.join(", ")
        );
    }
    let folder = options.table.parent().unwrap_or(Path::new("."));
    let calls: Vec<Call> = rows
        .into_iter()
        .filter(|row| row.block < blocks)
        .map(|row| called(folder, row))
        .collect::<Result<_>>()?;
    let first = calls.first().context("a complete block has runs")?;
    let iterations = first.times.values().map(Vec::len).next().unwrap_or_default();
    for call in &calls {
        check_alike(first, call, iterations)?;
    }
    let runs_per_position = u32::try_from(iterations).unwrap_or(u32::MAX);
    let benchmarks: Vec<&String> = first.times.keys().collect();
    let place = |benchmark: usize, level: &String| {
        let level = levels.iter().position(|known| known == level).unwrap_or_default();
        benchmark * levels.len() + level
    };
    let mut runs = Vec::new();
    for call in &calls {
        for (number, benchmark) in benchmarks.iter().enumerate() {
            for (iteration, seconds) in (0..).zip(&call.times[*benchmark]) {
                let position = call.row.position * runs_per_position + iteration;
                let program = place(number, &call.row.level);
                runs.push(sample(&call.row, position, program, *seconds));
            }
        }
    }
    let randomized =
        |level: &String| calls.iter().all(|call| call.row.level != *level || call.row.randomized);
    let programs = benchmarks
        .iter()
        .flat_map(|benchmark| {
            levels.iter().map(|level| record(benchmark, level, randomized(level)))
        })
        .collect();
    let design = design(options, levels.len(), blocks, runs_per_position, first.row.seed);
    // How busy it is now says nothing about then.
    let machine = Machine { load: None, ..machine::current() };
    let mut file = SamplesFile {
        created: io::iso_8601(created.unwrap_or_else(|_| SystemTime::now())),
        runs,
        ended: EndedRecord::Complete,
        ..SamplesFile::new(Command::Sweep, command_line, design, machine, programs)
    };
    analyse(&mut file);
    Ok(file)
}

/// All levels, the reference first.
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

fn called(folder: &Path, row: Row) -> Result<Call> {
    let path = folder.join(&row.file);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let raw = rsf::parse(&String::from_utf8_lossy(&bytes))
        .with_context(|| format!("cannot use {}", path.display()))?;
    let times = times_of(&raw, &row).with_context(|| format!("cannot use {}", path.display()))?;
    Ok(Call { row, times })
}

fn times_of(raw: &RawResult, row: &Row) -> Result<BTreeMap<String, Vec<f64>>> {
    if let Some(label) = raw.label.as_ref().filter(|label| **label != row.level) {
        bail!("its label is {label}, and the table says {}", row.level);
    }
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in &raw.iterations {
        if run.tune != raw.iterations[0].tune {
            bail!("it has both base and peak: run one of them (--tune=base)");
        }
        times.entry(run.benchmark.clone()).or_default().push(run.seconds);
    }
    if times.is_empty() {
        bail!("it has no results of benchmarks");
    }
    Ok(times)
}

fn check_alike(first: &Call, call: &Call, iterations: usize) -> Result<()> {
    let names = |call: &Call| call.times.keys().cloned().collect::<Vec<String>>().join(", ");
    if names(first) != names(call) {
        bail!(
            "{} has {}, and {} has {}: the same benchmarks are needed in all runs",
            first.row.file.display(),
            names(first),
            call.row.file.display(),
            names(call)
        );
    }
    if iterations > MAX_RUNS_PER_POSITION as usize
        || call.times.values().any(|times| times.len() != iterations)
    {
        bail!(
            "{} has another number of iterations of some benchmark than {iterations}: the same is \
             needed in all runs",
            call.row.file.display()
        );
    }
    Ok(())
}

fn sample(row: &Row, position: u32, program: usize, seconds: f64) -> Sample {
    Sample {
        block: row.block,
        position,
        program,
        seed: row.seed,
        wall_ns: u64::try_from(Duration::from_secs_f64(seconds).as_nanos())
            .expect("the reader of raw files believes no such time"),
        ..Sample::default()
    }
}

fn record(benchmark: &str, level: &str, randomized: bool) -> ProgramRecord {
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

fn design(
    options: &Options,
    levels: usize,
    blocks: u32,
    runs_per_position: u32,
    seed: u64,
) -> DesignRecord {
    let plan = Design {
        arrangement: Arrangement::Mirrored,
        runs_per_position,
        warmup: 0,
        environment: EnvironmentSize::Fixed,
        ..Design::mirrored(levels, blocks, seed)
    };
    // SPEC's tools compare outputs themselves.
    DesignRecord {
        tolerance: Some(options.delta.unwrap_or(USUAL_TOLERANCE)),
        complete_blocks: blocks,
        ..DesignRecord::new(plan, RuleRecord::Fixed, Metric::Wall)
    }
}

#[cfg(test)]
mod tests;
