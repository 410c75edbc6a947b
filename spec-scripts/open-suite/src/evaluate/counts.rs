//! Instructions and cache misses of programs, counted by valgrind's cachegrind: what the noise of a
//! machine does not touch. Not in the paper.
//!
//! Workloads are the short ones, because a simulated instruction takes some fifty times as long.
//! Each configuration runs once, in one layout: counts repeat exactly.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use szc::measure::machine;
use szc::samples::io;
use szc::samples::machine::Machine;

use super::ended::{Done, fail};
use super::estimate::duration;
use super::record::{Archive, Evaluation, compress, decompressed};
use super::setting::Setting;
use super::step::Step;
use super::subject::{self, Subject};
use crate::run::{self, Layout};
use crate::say::say;
use crate::suite::Program;
use crate::toolchain::find_in_path;
use crate::workload::Prepared;

/// What counts, and options that programs built by szc need (README, "Debuggers and profilers").
const COUNTER: [&str; 8] = [
    "valgrind",
    "--tool=cachegrind",
    "--cache-sim=yes",
    "--smc-check=all",
    "--fair-sched=yes",
    // Caches of a processor of today: bytes, ways, bytes of a line.
    "--I1=32768,8,64",
    "--D1=32768,8,64",
    "--LL=1048576,16,64",
];

/// Longest run.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Times that a program takes longer when it is counted, about.
const SLOWDOWN: f64 = 50.0;

/// The file of a program's counts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Counts {
    /// How they came about.
    pub evaluation: Evaluation,
    /// Where.
    pub machine: Machine,
    /// When.
    pub created: String,
    /// The command in front of the program's.
    pub counter: Vec<String>,
    /// Counts of each configuration by the names that cachegrind gives them (`Ir`, `I1mr` …), in
    /// the order of the evaluation's.
    pub events: Vec<BTreeMap<String, u64>>,
}

/// The counts of a program that are there.
///
/// # Errors
/// When they cannot be read.
pub fn results(archive: &Archive, program: &str) -> Result<Option<Counts>> {
    let path = archive.samples(Step::Counts, program);
    if !path.is_file() {
        return Ok(None);
    }
    let counts = serde_json::from_slice(&decompressed(&path)?);
    counts.map(Some).with_context(|| format!("cannot use {}", path.display()))
}

/// Counts all programs whose counts are not there.
///
/// # Errors
/// When valgrind is not there, or results cannot be read or written.
pub fn carry_out(setting: &Setting<'_>, programs: &[&Program]) -> Result<Done> {
    let step = Step::Counts;
    if find_in_path(COUNTER[0]).is_none() {
        bail!("{} not found: it is in the package of that name", COUNTER[0]);
    }
    let mut failed = false;
    for program in programs {
        if results(&setting.archive, program.name())?.is_some() && !setting.options.again {
            continue;
        }
        let counted = subject::ready(setting, step, program)
            .and_then(|subject| count_or_plan(setting, &subject));
        if let Err(error) = counted {
            failed = true;
            fail(setting, step, program, &format!("{error:#}"))?;
        }
    }
    Ok(if failed { Done::Failed } else { Done::Well })
}

fn count_or_plan(setting: &Setting<'_>, subject: &Subject<'_>) -> Result<()> {
    let name = subject.program.name();
    if setting.options.plan {
        let one = run::run(subject.first()?, None, PATIENCE)?.seconds;
        let all = SLOWDOWN * one * subject.commands.len() as f64;
        say!("{name:<13} about {}", duration(all));
        return Ok(());
    }
    say!("-- {name}");
    let scratch = setting.cache.scratch()?;
    let mut events = Vec::new();
    let mut output = None;
    for (command, configuration) in subject.commands.iter().zip(&subject.evaluation.configurations)
    {
        let counts = scratch.path().join("counts");
        let outcome = run::run(&counted(command, &counts), Some(layout(setting)), PATIENCE)
            .with_context(|| format!("{} under {}", configuration.name, COUNTER[0]))?;
        if *output.get_or_insert(outcome.stdout.clone()) != outcome.stdout {
            bail!("{} writes something else than the configurations before", configuration.name);
        }
        let text = fs::read_to_string(&counts).context("cachegrind left no counts")?;
        events.push(parsed(&text).context("cachegrind's counts cannot be read")?);
    }
    let mut record = serde_json::to_value(Counts {
        evaluation: subject.evaluation.clone(),
        machine: machine::current(),
        created: io::iso_8601(SystemTime::now()),
        counter: COUNTER.map(str::to_owned).to_vec(),
        events,
    })?;
    setting.private.remove_from(&mut record);
    let place = setting.archive.samples(Step::Counts, name);
    compress(&place, &serde_json::to_vec(&record)?)
}

/// One layout, the same for all.
fn layout(setting: &Setting<'_>) -> Layout {
    Layout { seed: setting.options.seed, interval_ms: 0 }
}

fn counted(command: &Prepared, counts: &Path) -> Prepared {
    let file = format!("--cachegrind-out-file={}", counts.display());
    let args = COUNTER.map(str::to_owned).into_iter().chain([file]);
    Prepared { args: args.chain(command.args.clone()).collect(), stdin: command.stdin.clone() }
}

/// The sums at the end of cachegrind's file, by their names.
fn parsed(text: &str) -> Option<BTreeMap<String, u64>> {
    let args = |start: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(start))?;
        Some(line.split_whitespace())
    };
    let numbers: Option<Vec<u64>> = args("summary:")?.map(|word| word.parse().ok()).collect();
    let names: Vec<&str> = args("events:")?.collect();
    let numbers = numbers.filter(|numbers| numbers.len() == names.len())?;
    Some(names.into_iter().map(str::to_owned).zip(numbers).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_names_of_their_columns() {
        let text = "desc: x\nevents: Ir I1mr\nfl=a\nfn=b\n1 7 8\nsummary: 70 8\n";
        let counts = parsed(text).unwrap();
        assert_eq!((counts["Ir"], counts["I1mr"], counts.len()), (70, 8, 2));
        for damaged in ["events: Ir I1mr\nsummary: 70\n", "events: Ir\n", "summary: 1\n", ""] {
            assert_eq!(parsed(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn the_program_runs_behind_the_counter_with_its_own_input() {
        let command =
            Prepared { args: vec!["/p".to_owned(), "x".to_owned()], stdin: Some("/in".into()) };
        let counted = counted(&command, Path::new("/c"));
        assert_eq!(counted.args[0], "valgrind");
        assert_eq!(counted.args[COUNTER.len()..], ["--cachegrind-out-file=/c", "/p", "x"]);
        assert_eq!(counted.stdin, command.stdin);
    }
}
