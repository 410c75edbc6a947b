//! `szc import`: times that SPEC's tools or a harness measured, as a samples file.
//!
//! SPEC's tools run the programs themselves, so szc cannot interleave them; a driver script does,
//! and notes each call in a table of runs. With that table the times are a sweep like any other.
//! What harnesses wrote is in `harness`.
#![forbid(unsafe_code)]

mod harness;
mod options;
mod record;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};

pub(crate) use self::options::Options;
use self::record::record;
use self::table::{Complete, Row};
use super::sweep::conclude_made;
use crate::lab::analysis::analyse;
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::measure::machine;
use crate::measure::rsf::{self, RawResult};
use crate::results::tolerance::USUAL_TOLERANCE;
use crate::samples::design::{Arrangement, Design, EnvironmentSize, MAX_RUNS_PER_POSITION};
use crate::samples::machine::Machine;
use crate::samples::{
    Command, DesignRecord, EndedRecord, Metric, RuleRecord, Sample, SamplesFile, io,
};

impl Subcommand for Options {
    const NAME: &'static str = "import";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let file = match &self.harness {
            Some(harness) => harness::imported(&self, harness, command_line),
            None => imported(&self, command_line),
        };
        conclude_made(Self::NAME, file, self.json.as_ref(), self.quiet)
    }
}

/// A line of the table with what its raw file says.
struct Call<'a> {
    row: &'a Row,
    /// Times of each benchmark, s, in the order of the iterations.
    times: BTreeMap<String, Vec<f64>>,
}

fn imported(options: &Options, command_line: Vec<String>) -> Result<SamplesFile> {
    let table = options.table.as_ref().context("no table of runs")?;
    let complete = Complete::read(table, options.reference.as_deref())?;
    let created = fs::metadata(table).and_then(|data| data.modified());
    let folder = table.parent().unwrap_or(Path::new("."));
    let calls: Vec<Call> =
        complete.rows.iter().map(|row| called(folder, row)).collect::<Result<_>>()?;
    let first = calls.first().context("a complete block has runs")?;
    let iterations = first.times.values().map(Vec::len).next().unwrap_or_default();
    for call in &calls {
        check_alike(first, call, iterations)?;
    }
    let runs_per_position = u32::try_from(iterations).unwrap_or(u32::MAX);
    let benchmarks: Vec<&String> = first.times.keys().collect();
    let levels = &complete.levels;
    let place = |benchmark: usize, level: &str| benchmark * levels.len() + complete.place_of(level);
    let mut runs = Vec::new();
    for call in &calls {
        for (number, benchmark) in benchmarks.iter().enumerate() {
            for (iteration, seconds) in (0..).zip(&call.times[*benchmark]) {
                let position = call.row.position * runs_per_position + iteration;
                let program = place(number, &call.row.level);
                runs.push(sample(call.row, position, program, *seconds));
            }
        }
    }
    let programs = benchmarks
        .iter()
        .flat_map(|benchmark| {
            levels.iter().map(|level| record(benchmark, level, complete.is_randomized(level)))
        })
        .collect();
    let design = design(options, levels.len(), complete.blocks, runs_per_position, first.row.seed);
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

fn called<'a>(folder: &Path, row: &'a Row) -> Result<Call<'a>> {
    let path = folder.join(&row.file);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let raw = rsf::parse(&String::from_utf8_lossy(&bytes))
        .with_context(|| format!("cannot use {}", path.display()))?;
    let times = times_of(&raw, row).with_context(|| format!("cannot use {}", path.display()))?;
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
