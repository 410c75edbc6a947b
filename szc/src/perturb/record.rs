//! The file of an experiment: every trace, so that all that is said follows from it again.
#![forbid(unsafe_code)]

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::trace::Clock;
use crate::samples::io::write_whole;

/// The form of the file.
pub(super) const VERSION: u32 = 1;

/// An experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The form.
    pub(super) szc_perturb: u32,
    /// As szc was called.
    pub(super) command_line: Vec<String>,
    /// What was run.
    pub(super) command: Vec<String>,
    /// When.
    pub(super) date: String,
    /// Everything random follows from it.
    pub(super) seed: u64,
    /// Time between two records.
    pub(super) interval_ms: f64,
    /// What that is of; not in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) clock: Option<Clock>,
    /// What was read from outside in every run.
    pub(super) metrics: Vec<String>,
    /// What was added in which step; the baseline first, which adds nothing.
    pub(super) steps: Vec<Step>,
    /// The conditions under which all was done.
    pub(super) arms: Vec<Arm>,
    /// In the order of time.
    pub(super) runs: Vec<Run>,
}

/// Something that is measured with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    /// How tables call it.
    pub(super) name: String,
    /// Metrics by probes, in the order of the signals behind those from outside.
    pub(super) probes: Vec<String>,
    /// The tool that starts the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// Whether it was tried as part of a split, after all others.
    #[serde(default)]
    pub(super) for_advice: bool,
}

/// What is said of layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Arm {
    /// Every run has a layout of its own.
    Layouts,
    /// All runs have the same layout.
    Fixed,
    /// The program has one layout, as it was built.
    AsBuilt,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    /// Place in the steps.
    pub(super) step: usize,
    /// Its arm.
    pub(super) arm: Arm,
    /// The layout seed that it was given.
    pub(super) layout_seed: u64,
    /// How long it ran.
    pub(super) wall_ns: u64,
    /// CPU time.
    pub(super) cpu_ns: u64,
    /// Intervals that were too long.
    pub(super) late: usize,
    /// Of each metric, outside ones first, what it did in each interval.
    pub(super) signals: Vec<Vec<f64>>,
}

impl Record {
    /// Reads one.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let record: Self = serde_json::from_slice(&text)
            .with_context(|| format!("{} is no file of szc perturb", path.display()))?;
        if record.szc_perturb != VERSION {
            bail!(
                "{} has the form {}, and this szc reads {VERSION}",
                path.display(),
                record.szc_perturb
            );
        }
        let metrics = record.metrics.len();
        for run in &record.runs {
            let Some(step) = record.steps.get(run.step) else {
                bail!("{}: a run of a step that is not there", path.display());
            };
            let lengths: Vec<usize> = run.signals.iter().map(Vec::len).collect();
            let is_even = lengths.windows(2).all(|pair| pair[0] == pair[1]);
            if lengths.len() != metrics + step.probes.len() || !is_even {
                bail!("{}: a run whose signals do not fit", path.display());
            }
        }
        Ok(record)
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, "traces", &serde_json::to_vec(self).context("traces are no JSON")?)
    }

    /// Whether the experiment of an earlier record is the same, of which this is the beginning.
    pub(super) fn check_same(&self, earlier: &Self) -> Result<()> {
        let steps = |record: &Self| -> Vec<Step> {
            record.steps.iter().filter(|step| !step.for_advice).cloned().collect()
        };
        let differs = [
            ("command", self.command != earlier.command),
            ("interval", (self.interval_ms - earlier.interval_ms).abs() > 1e-9),
            ("clock", earlier.clock.is_some() && self.clock != earlier.clock),
            ("metrics", self.metrics != earlier.metrics || steps(self) != steps(earlier)),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            Some((what, _)) => bail!("the traces that are there are of another {what}"),
            None => Ok(()),
        }
    }

    /// The signals from outside of the runs of a step in an arm, in the order of time.
    pub(super) fn traces(&self, step: usize, arm: Arm) -> Vec<Vec<Vec<f64>>> {
        let metrics = self.metrics.len();
        self.runs_of(step, arm).map(|run| run.signals[..metrics].to_vec()).collect()
    }

    /// The runs of a step in an arm.
    pub(super) fn runs_of(&self, step: usize, arm: Arm) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| run.step == step && run.arm == arm)
    }
}
