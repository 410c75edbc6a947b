//! `szc profile train`: makes the path map that call paths are inferred by.
//!
//! A training run has no pads (`SZC_STACK=0`): its frames are as large as without szc, and what a
//! layout adds to them follows from the layout.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Args;
use szc_sampler::clock::now;
use szc_sampler::form::{Callers, MAX_STACK_BYTES};
use szc_sampler::heights::training::Training;
use szc_sampler::periods::Schedule;
use szc_sampler::recorder::{self, Recorder};
use szc_sampler::spawn::Held;

use super::path_file::PathFile;
use super::record::{self, Ending, Recording};
use super::search::search;
use crate::lab::exit::{EXIT_PROGRAM, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::measure::stop::{Stop, stop_on_signals};

/// Options of `szc profile train`.
#[derive(Debug, Args)]
#[command(override_usage = "szc profile train [OPTIONS] -- CMD…")]
pub(super) struct Options {
    /// Samples a second, on average
    #[arg(short = 'F', long, value_name = "HZ", default_value_t = 1000.0)]
    freq: f64,

    /// Bytes of each stack; frames have no pads meanwhile
    #[arg(long, value_name = "BYTES", default_value_t = MAX_STACK_BYTES,
          value_parser = clap::value_parser!(u32).range(8..=i64::from(MAX_STACK_BYTES)))]
    stack: u32,

    /// How often the program is run
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Layouts that are tried for the one that tells most call paths apart; 0 for none
    #[arg(long, value_name = "N", default_value_t = 64)]
    layouts: u32,

    /// Where the path map is written
    #[arg(short, long, value_name = "FILE", default_value = "szc-paths.json")]
    output: PathBuf,

    /// Add to the path map that is there
    #[arg(long)]
    add: bool,

    /// What intervals are drawn by [default: the time]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    command: Vec<String>,
}

/// Most of the interval that it may be longer or shorter.
const JITTER: f64 = 0.5;

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// The program could not be run or sampled, or the map not be written.
pub(super) fn train(options: Options) -> Result<u8, Failure> {
    let period_ns = record::period_of(options.freq).map_err(Failure::Usage)?;
    let mut training = Training::default();
    let (mut stacks, mut unusable) = (0, 0);
    if options.add {
        let before = PathFile::read(&options.output).map_err(Failure::Usage)?;
        training = Training::from(before.map().map_err(Failure::Usage)?);
        (stacks, unusable) = (before.stacks, before.unusable);
    }
    let stop = stop_on_signals().context("cannot handle signals")?;
    let seed = options.seed.unwrap_or_else(now);
    let (mut code, mut lost) = (EXIT_VERDICT, 0);
    for run in 0..options.runs {
        let paths = training.len();
        let schedule = Schedule { period_ns, jitter: JITTER, seed: seed.wrapping_add(run.into()) };
        let (trained, ending, missed) = run_once(&options, schedule, training, stop)?;
        training = trained;
        lost += missed;
        code = match ending {
            Ending::Returned(0) | Ending::Gone => code,
            Ending::Returned(_) | Ending::Killed(_) => EXIT_PROGRAM,
            Ending::Asked(signal) => record::by_signal(signal),
        };
        eprintln!(
            "szc: run {}: {} new call paths, {} in all; the next sample has an unseen one with a \
             chance of about {:.1} %",
            run + 1,
            training.len() - paths,
            training.len(),
            100.0 * training.unseen()
        );
        if let Some(signal) = stop.signal() {
            code = record::by_signal(signal);
            break;
        }
    }
    stacks += training.stacks;
    unusable += training.unusable;
    if training.is_empty() {
        return Err(Failure::Internal(anyhow!(
            "no call path was seen: of {unusable} stacks none could be followed to its beginning, \
             and {lost} records were lost. Sample a longer run, or less often (-F) if many were"
        )));
    }
    let map = training.finish();
    let chosen = search(&map, options.layouts);
    if let Some(chosen) = chosen {
        eprintln!(
            "szc: of {} layouts that of stack seed {} tells most apart: {:.1} % of such samples \
             would be precise in it, without pads {:.1} %, in no layout more than {:.1} %",
            chosen.tried,
            chosen.seed,
            100.0 * chosen.share,
            100.0 * chosen.without_pads,
            100.0 * chosen.at_most
        );
    }
    let mut file = PathFile::of(&map, options.command, stacks, unusable);
    file.stack_seed = chosen.map(|chosen| chosen.seed);
    file.write(&options.output)?;
    eprintln!(
        "szc: {} call paths of {stacks} stacks in {} ({unusable} other stacks could not be \
         followed, {lost} records were lost)",
        map.paths.len(),
        options.output.display()
    );
    Ok(code)
}

fn run_once(
    options: &Options,
    schedule: Schedule,
    training: Training,
    stop: &Stop,
) -> Result<(Training, Ending, u64), Failure> {
    let how = recorder::Options {
        schedule,
        callers: Callers::Tables { stack_bytes: options.stack & !7 },
        by_thread: false,
        off_cpu: false,
    };
    let mut recorder = Recorder::start(how)
        .map_err(|none| anyhow!(record::why_unavailable(&none.error, false)))?;
    recorder.train(training);
    let mut command = Command::new(&options.command[0]);
    command.args(&options.command[1..]).envs([("SZC_STACK", "0"), ("SZC_INTERVAL_MS", "0")]);
    let held = Held::start(&mut command)
        .with_context(|| format!("cannot run {}", options.command[0]))
        .map_err(Failure::Usage)?;
    let pid = held.pid();
    let mut recording = Recording::counting();
    recorder
        .follow(pid, |report| recording.put(report))
        .with_context(|| format!("cannot sample process {pid}"))?;
    held.release().context("the program is gone")?;
    let ending = record::watch(&mut recorder, &mut recording, pid, true, stop)?;
    recorder.read(Duration::ZERO, true, |_| {}).context("cannot read the last samples")?;
    Ok((recorder.trained(), ending, recorder.missed().lost))
}
