//! Does every program compute what it should? Output of workloads against the SHA-256 in the suite.
#![forbid(unsafe_code)]

use std::time::Duration;

use anyhow::{Result, bail};

use crate::build::Built;
use crate::files::Cache;
use crate::run::{self, Layout, Log, Outcome};
use crate::suite::{Program, Size, Suite, Workload};
use crate::workload::prepare;

/// Far longer than any workload at constant re-randomization on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// What runs are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Which workload.
    pub size: Size,
    /// Runs of each workload, with seeds from 1.
    pub seeds: u64,
    /// Time between layouts.
    pub interval_ms: u64,
    /// Whether the programs are built by szc, and so must be randomized.
    pub randomized: bool,
}

/// The runs of a workload.
#[derive(Debug, Default)]
pub struct Checked {
    /// Name of the workload.
    pub name: String,
    /// Runs that were right.
    pub right: u64,
    /// What went wrong, with the command that repeats it.
    pub wrong: Vec<String>,
    /// How long each right run took.
    pub seconds: Vec<f64>,
    /// What the runtime did in the last right run.
    pub log: Option<Log>,
}

impl Checked {
    /// One line of the table.
    pub fn row(&self) -> String {
        let runs = self.right + self.wrong.len() as u64;
        let verdict = if self.wrong.is_empty() { "ok" } else { "WRONG" };
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
        let moved = self.log.map_or_else(String::new, |log| {
            format!("  {:>8} moves {:>6} layouts", log.relocations, log.epochs + 1)
        });
        format!(
            "{:<20} {verdict:<6} {:>3} of {runs:>3} runs {middle:>7.2} s{moved}",
            self.name, self.right
        )
    }
}

/// Runs all workloads of a program.
///
/// # Errors
/// When the input of one cannot be made.
pub fn check(
    suite: &Suite,
    program: &Program,
    built: &Built,
    request: Request,
    cache: &Cache,
) -> Result<Vec<Checked>> {
    let workloads = program.workloads.get_ref().iter();
    workloads
        .map(|workload| check_workload(suite, program, workload, built, request, cache))
        .collect()
}

fn check_workload(
    suite: &Suite,
    program: &Program,
    workload: &Workload,
    built: &Built,
    request: Request,
    cache: &Cache,
) -> Result<Checked> {
    let prepared = prepare(suite, program, workload, &built.out, request.size, cache)?;
    let mut checked = Checked { name: program.workload_name(workload), ..Checked::default() };
    for seed in 1..=request.seeds {
        let layout = Layout { seed, interval_ms: request.interval_ms };
        let outcome = run::run(&prepared, Some(layout), PATIENCE);
        match outcome.and_then(|outcome| judge(workload, request, outcome)) {
            Ok(outcome) => {
                checked.right += 1;
                checked.seconds.push(outcome.seconds);
                checked.log = outcome.log;
            }
            Err(error) => checked.wrong.push(format!(
                "{}, seed {seed}: {error:#}\n  SZC_SEED={seed} SZC_INTERVAL_MS={} {}",
                checked.name,
                request.interval_ms,
                prepared.line()
            )),
        }
    }
    Ok(checked)
}

fn judge(workload: &Workload, request: Request, outcome: Outcome) -> Result<Outcome> {
    let expected = workload.stdout.get_ref().get(&request.size).map_or("", String::as_str);
    if outcome.stdout != expected {
        bail!(
            "its output ({} bytes) has the SHA-256 {}, and the suite has {expected}",
            outcome.stdout_bytes,
            outcome.stdout
        );
    }
    if request.randomized && !is_randomized(&outcome) {
        bail!("its output is right, but it did not run randomized: {:?}", outcome.log);
    }
    Ok(outcome)
}

/// A program that szc built says so. What it randomizes is the choice of whoever built it; nothing
/// at all is no randomization.
fn is_randomized(outcome: &Outcome) -> bool {
    outcome.log.is_some_and(|log| {
        let randomize = log.randomize;
        let any = randomize.code || randomize.stack || randomize.heap;
        any && (!randomize.code || log.relocations > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Randomize;

    #[test]
    fn code_that_may_move_but_did_not_is_not_randomized() {
        let outcome = |code, relocations| Outcome {
            stdout: String::new(),
            stdout_bytes: 0,
            seconds: 0.0,
            log: Some(Log {
                randomize: Randomize { code, stack: false, heap: true },
                epochs: 0,
                relocations,
            }),
        };
        assert!(is_randomized(&outcome(true, 1)));
        assert!(!is_randomized(&outcome(true, 0)));
        assert!(is_randomized(&outcome(false, 0)));
    }
}
