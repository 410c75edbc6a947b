//! Which functions of a program take its time: samples of a few runs, each in a layout of its own,
//! put together by the copies that the runtime lists in `SZC_MAP`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use szc_sampler::form::Callers;
use szc_sampler::periods::Schedule;
use szc_sampler::recorder::{Options, Recorder, Report};
use szc_sampler::spawn::Held;

use super::places::Copies;
use super::program::{ONE_LAYOUT, Program};
use crate::samples::luck::HotRecord;

/// Mean interval between samples.
const PERIOD_NS: u64 = 250_000;
const JITTER: f64 = 0.3;
/// Samples that are enough; fewer after some runs, or whatever there are after many.
const ENOUGH_SAMPLES: u64 = 2000;
const USUAL_RUNS: u64 = 8;
const FEW_SAMPLES: u64 = 200;
const MAX_RUNS: u64 = 40;
/// Least share of the samples of a function that is looked at.
const MIN_SHARE: f64 = 0.01;
/// The longest wait for samples: then a look whether the program has ended.
const WAIT: Duration = Duration::from_millis(20);

/// So many functions that take the most time, the one that takes the most first; fewer if others
/// take too little, or do not move.
///
/// # Errors
/// The kernel gives no samples, or the program fails.
pub fn hottest(
    program: &Program,
    seed: u64,
    most: usize,
    timeout: Option<Duration>,
) -> Result<Vec<HotRecord>> {
    let mut hits = BTreeMap::new();
    let mut samples = 0;
    for run in 0..MAX_RUNS {
        samples += sampled(program, seed.wrapping_add(run), timeout, &mut hits)?;
        let enough = if run + 1 < USUAL_RUNS { ENOUGH_SAMPLES } else { FEW_SAMPLES };
        if samples >= enough {
            break;
        }
    }
    Ok(greatest(&hits, samples, most))
}

/// A run: how often each function was met, and how many samples there are.
fn sampled(
    program: &Program,
    seed: u64,
    timeout: Option<Duration>,
    hits: &mut BTreeMap<String, u64>,
) -> Result<u64> {
    let scratch = tempfile::tempdir().context("no folder for the map of a run")?;
    let how = Options {
        schedule: Schedule { period_ns: PERIOD_NS, jitter: JITTER, seed },
        callers: Callers::None,
        by_thread: false,
        off_cpu: false,
    };
    let mut recorder = Recorder::start(how).map_err(|none| {
        anyhow!(
            "the kernel gives no samples, by which functions could be chosen: {}\n  next: name the \
             functions yourself, as in --pairs parse,emit, or allow samples \
             (kernel.perf_event_paranoid of 2 or less)",
            none.error
        )
    })?;
    let (file, arguments) = program.argv.split_first().context("a command is needed")?;
    let held = Held::start(
        Command::new(file)
            .args(arguments)
            .env("SZC_SEED", seed.to_string())
            .env(ONE_LAYOUT.0, ONE_LAYOUT.1)
            .env("SZC_MAP", scratch.path().join("map.%p"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
    .with_context(|| format!("cannot run {file}"))?;
    let pid = held.pid();
    let mut addresses = Vec::new();
    let mut note = |report| {
        // A child has a map of its own.
        if let Report::Sample(sample, _) = report
            && sample.pid == pid
        {
            addresses.push(sample.ip);
        }
    };
    recorder.follow(pid, &mut note).with_context(|| format!("cannot sample process {pid}"))?;
    held.release().context("the program is gone")?;
    let process = Pid::from_raw(pid.cast_signed());
    let begun = Instant::now();
    loop {
        recorder.read(WAIT, false, &mut note).context("cannot go on sampling")?;
        match waitpid(process, Some(WaitPidFlag::WNOHANG)).context("cannot wait for the program")? {
            WaitStatus::Exited(_, 0) => break,
            WaitStatus::Exited(_, code) => bail!("the command failed: it returned {code}"),
            WaitStatus::Signaled(_, signal, _) => bail!("the command failed: killed by {signal}"),
            _ => {}
        }
        if timeout.is_some_and(|most| begun.elapsed() > most) {
            // Nobody else waits for it.
            let _ = kill(process, Signal::SIGKILL);
            let _ = waitpid(process, None);
            bail!("the command took longer than --timeout allows");
        }
    }
    recorder.read(Duration::ZERO, true, &mut note).context("cannot read the last samples")?;
    let map = fs::read_to_string(scratch.path().join(format!("map.{pid}"))).unwrap_or_default();
    count(&map, &addresses, hits);
    Ok(addresses.len() as u64)
}

/// Adds up by the lines of a map whose copies addresses lie in.
fn count(map: &str, addresses: &[u64], hits: &mut BTreeMap<String, u64>) {
    let copies = Copies::of(map);
    for name in addresses.iter().filter_map(|address| copies.function_at(*address)) {
        *hits.entry(name.to_owned()).or_default() += 1;
    }
}

fn greatest(hits: &BTreeMap<String, u64>, samples: u64, most: usize) -> Vec<HotRecord> {
    let record = |(function, count): (&String, &u64)| HotRecord {
        function: function.clone(),
        share: *count as f64 / samples as f64,
    };
    let mut found: Vec<HotRecord> =
        hits.iter().map(record).filter(|one| one.share >= MIN_SHARE).collect();
    found.sort_by(|one, other| other.share.total_cmp(&one.share));
    found.truncate(most);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_for_the_copies_that_they_lie_in() {
        let map = "2000 20 b c [epoch 0]\n1000 10 a [epoch 0, pad 16]\n3000 8 d [epoch 0]\n";
        let mut hits = BTreeMap::new();
        count(map, &[0x1000, 0x100f, 0x1010, 0x2010, 0xfff, 0x3008, 0x2000, 0x201f], &mut hits);
        let counted = |name: &str| hits.get(name).copied();
        assert_eq!([counted("a"), counted("b c"), counted("d")], [Some(2), Some(3), None]);
    }

    #[test]
    fn the_greatest_are_chosen_and_those_that_take_next_to_nothing_are_not() {
        let hits = [("a", 300), ("b", 9), ("c", 500), ("d", 100), ("e", 90)];
        let hits = hits.map(|(name, count)| (name.to_owned(), count)).into();
        let names = |most| -> Vec<String> {
            greatest(&hits, 1000, most).into_iter().map(|one| one.function).collect()
        };
        assert_eq!(names(3), ["c", "a", "d"]);
        assert_eq!(names(9), ["c", "a", "d", "e"]);
        assert!(greatest(&BTreeMap::new(), 0, 4).is_empty());
    }
}
