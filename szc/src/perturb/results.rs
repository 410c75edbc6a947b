//! What follows from the traces of an experiment.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result};
use szc_stats::alignment::Alignment;
use szc_stats::multiplicity::holm;
use szc_stats::perturbation::{Change, Score, changes};
use szc_stats::random::Draws;

use super::record::{Arm, Record};

/// The error rate of all that is said of an arm together.
pub(super) const ALPHA: f64 = 0.05;

/// What a step did in an arm.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// The step's place.
    pub(super) step: usize,
    /// The arm.
    pub(super) arm: Arm,
    /// All scores.
    pub(super) changes: Vec<Change>,
    /// Median CPU time over that of the baseline.
    pub(super) cpu_ratio: f64,
}

impl Judged {
    /// What is shown to have changed.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.is_shown(ALPHA))
    }

    /// Whether a score is shown to have changed.
    pub(super) fn shows(&self, score: Score) -> bool {
        self.shown().any(|change| change.score == score)
    }
}

/// What each step did in each arm, but for those of a split. The error rate is that of all steps of
/// an arm together.
pub(super) fn judge(record: &Record) -> Result<Vec<Judged>> {
    let mut all = Vec::new();
    for &arm in &record.arms {
        let steps = record.steps.iter().enumerate().skip(1);
        let mut judged: Vec<Judged> = steps
            .filter(|(_, step)| !step.for_advice)
            .map(|(step, _)| judge_step(record, step, arm))
            .collect::<Result<_>>()?;
        let p: Vec<f64> =
            judged.iter().flat_map(|step| step.changes.iter().map(|change| change.p)).collect();
        let adjusted = holm(&p).context("no p-values")?;
        let changes = judged.iter_mut().flat_map(|step| step.changes.iter_mut());
        for (change, adjusted_p) in changes.zip(adjusted) {
            change.adjusted_p = adjusted_p;
        }
        all.append(&mut judged);
    }
    Ok(all)
}

/// What a step did in an arm, at an error rate of its own.
pub(super) fn judge_step(record: &Record, step: usize, arm: Arm) -> Result<Judged> {
    let mut baselines = record.traces(0, arm);
    // Which of them are references must not depend on when they ran.
    Draws::new(record.seed).shuffle(&mut baselines);
    let changes = changes(&baselines, &record.traces(step, arm), Alignment::default())
        .with_context(|| format!("the traces of {} cannot be compared", record.steps[step].name))?;
    let cpu = |step: usize| {
        let mut times: Vec<u64> = record.runs_of(step, arm).map(|run| run.cpu_ns).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(0) as f64
    };
    Ok(Judged { step, arm, changes, cpu_ratio: cpu(step) / cpu(0) })
}

/// Metrics that do not vary in any baseline.
pub(super) fn flat(record: &Record) -> Vec<&str> {
    let mut flat = Vec::new();
    for (place, name) in record.metrics.iter().enumerate() {
        let mut baselines = record.runs.iter().filter(|run| run.step == 0);
        let is_constant = |signal: &[f64]| signal.windows(2).all(|pair| pair[0] == pair[1]);
        if baselines.all(|run| is_constant(&run.signals[place])) {
            flat.push(name.as_str());
        }
    }
    flat
}
