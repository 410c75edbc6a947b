//! `szc profile disagree`: what several profilers say of one program.
#![forbid(unsafe_code)]

mod analysis;
mod record;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use szc_stats::random::Draws;

use self::analysis::{Call, Profiled, pairs, unions};
use self::record::{Observed, Record};
use super::check::runs::{Subjected, folder};
use super::profilers::{Hotness, Profiler, share_in_its_process};
use super::symbols::Symbols;
use crate::lab::exit::EXIT_VERDICT;
use crate::lab::failure::Failure;
use crate::lab::options::draw_seed;
use crate::lab::output::{say, write_json};
use crate::measure::stop::stop_on_signals;

/// What is not a function of the program's file.
const ELSEWHERE: &str = "[elsewhere]";

/// Options of `szc profile disagree`.
#[derive(Debug, Args)]
#[command(override_usage = "szc profile disagree [OPTIONS] --profiler CMD --profiler CMD -- CMD…")]
pub(super) struct Options {
    /// A profiler and its options, as for szc profile check; twice or more
    #[arg(long, value_name = "CMD", required = true)]
    profiler: Vec<String>,

    /// Runs under each profiler
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=1000)
    )]
    runs: u16,

    /// Hottest functions that are compared
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        value_parser = clap::value_parser!(u16).range(1..=100)
    )]
    top: u16,

    /// What the order of runs and the layout are drawn by [default: drawn and printed]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Write what was found to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Say nothing of the progress
    #[arg(long, short)]
    quiet: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    command: Vec<String>,
}

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// A run failed, or what a profiler says cannot be read.
pub(super) fn disagree(options: &Options) -> Result<u8, Failure> {
    let profilers: Result<Vec<Profiler>, _> =
        options.profiler.iter().map(|text| Profiler::parse(text)).collect();
    let profilers = profilers.map_err(Failure::Usage)?;
    if profilers.len() < 2 {
        return Err(Failure::Usage(anyhow!("--profiler is needed twice or more: who disagrees?")));
    }
    let seed = options.seed.map_or_else(draw_seed, Ok)?;
    let stop = stop_on_signals().context("cannot handle signals")?;
    let program = Subjected::new(&options.command, seed, stop)?;
    let mut planned: Vec<usize> =
        (0..profilers.len()).flat_map(|index| vec![index; usize::from(options.runs)]).collect();
    Draws::new(seed).shuffle(&mut planned);
    let own_functions = functions(&program);
    let mut sums: Vec<BTreeMap<String, f64>> = vec![BTreeMap::new(); profilers.len()];
    let mut calls: BTreeSet<Call> = BTreeSet::new();
    for (at, &index) in planned.iter().enumerate() {
        if !options.quiet {
            let (text, all) = (&profilers[index].text, planned.len());
            eprintln!("szc profile disagree: run {} of {all}, {text}", at + 1);
        }
        let hotness = one_run(&program, &profilers[index])?;
        for (name, amount) in &hotness.functions {
            let name = if own_functions.contains(name) { name.as_str() } else { ELSEWHERE };
            *sums[index].entry(name.to_owned()).or_default() += amount / hotness.total;
        }
        calls.extend(hotness.calls);
    }
    let mean = |(profiler, sums): (&Profiler, BTreeMap<String, f64>)| Profiled {
        profiler: profiler.text.clone(),
        shares: sums.into_iter().map(|(name, sum)| (name, sum / f64::from(options.runs))).collect(),
    };
    let profiled: Vec<Profiled> = profilers.iter().zip(sums).map(mean).collect();
    let observed = observe(options, &program, &profilers, &profiled)?;
    let record = Record {
        szc_disagree: 1,
        command: options.command.clone(),
        seed,
        runs: options.runs,
        unions: unions(&profiled, usize::from(options.top)),
        pairs: pairs(&profiled, &calls),
        has_calls: !calls.is_empty(),
        profilers: profiled,
        observed,
    };
    say(&text::report(&record, usize::from(options.top)))?;
    if let Some(path) = &options.json {
        write_json(path, "the result", &record)?;
    }
    Ok(EXIT_VERDICT)
}

/// Names of the functions in the program's file.
fn functions(program: &Subjected<'_>) -> BTreeSet<String> {
    Symbols::default().functions(&program.path.to_string_lossy()).into_iter().collect()
}

fn one_run(program: &Subjected<'_>, profiler: &Profiler) -> Result<Hotness, Failure> {
    let scratch = folder()?;
    Ok(program.execute(Some(profiler), scratch.path(), &[])?.unwrap_or_default())
}

/// The observer effect: what szc sees of the hottest function of the first profiler while each is
/// at work.
fn observe(
    options: &Options,
    program: &Subjected<'_>,
    profilers: &[Profiler],
    profiled: &[Profiled],
) -> Result<Vec<Observed>, Failure> {
    let is_own = |name: &&&str| **name != ELSEWHERE;
    let hottest = profiled.first().map(Profiled::hottest).unwrap_or_default();
    let Some(&function) = hottest.iter().find(is_own) else { return Ok(Vec::new()) };
    let own = Profiler::own().map_err(Failure::Internal)?;
    let seen = |profiler: Option<&Profiler>| -> Result<Option<f64>, Failure> {
        let (mut sum, mut count) = (0.0, 0u32);
        for _ in 0..options.runs {
            let (scratch, inner) = (folder()?, folder()?);
            let mut environment = Vec::new();
            let mut command = program.command.clone();
            if let Some(profiler) = profiler {
                command = profiler.command(inner.path(), &command)?;
                environment.extend(profiler.environment(inner.path()));
            }
            let nested = Subjected {
                command,
                path: program.path.clone(),
                seed: program.seed,
                stop: program.stop,
            };
            nested.execute(Some(&own), scratch.path(), &environment)?;
            if let Some(share) = share_in_its_process(scratch.path(), function)? {
                (sum, count) = (sum + share, count + 1);
            }
        }
        Ok((count > 0).then(|| sum / f64::from(count)))
    };
    if !options.quiet {
        eprintln!("szc profile disagree: what the profilers do to {function}");
    }
    let without = seen(None)?.unwrap_or_default();
    let of = |profiler: &Profiler| {
        Ok(Observed { function: function.to_owned(), without, with: seen(Some(profiler))? })
    };
    profilers.iter().map(of).collect()
}
