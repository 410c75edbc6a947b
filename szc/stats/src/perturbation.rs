//! Whether measuring disturbs what is measured: Mytkowicz, Diwan, Hauswirth and Sweeney 2007,
//! "Understanding measurement perturbation in trace-based data".
//!
//! A run is a trace of several metrics. Its *inner* scores are Spearman's correlations of pairs of
//! its metrics; its *outer* scores the correlations of each metric with itself in reference traces,
//! records brought together by [`crate::alignment`]. A probe perturbs if the scores of runs with it
//! lie elsewhere than those of runs without: by the exact rank-sum test, which needs only that runs
//! were made in random order, and Holm's procedure over all scores. A signal that is flat in a run
//! says nothing in it: its score is 0.

use super::alignment::{Alignment, Signals};
use super::correlation::{MIN_PAIRS, spearman};
use super::data::{DataError, check};
use super::multiplicity::holm;
use super::quantile::type_7;
use super::rank_sum::{rank_sum, smallest_p};

/// Correlations that are weaker say little, before and after (Mytkowicz et al.).
pub const MIN_CORRELATION: f64 = 0.3;

/// A smaller change matters to nobody, however sure it is.
pub const MIN_CHANGE: f64 = 0.05;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Score {
    /// The correlation of two metrics, by their places, within a trace.
    Inner(usize, usize),
    /// The correlation of a metric in two traces.
    Outer(usize),
}

/// A score with and without something.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which.
    pub score: Score,
    /// Its median in the baseline.
    pub before: f64,
    /// The lowest and the highest in the baseline.
    pub range: [f64; 2],
    /// Its median with what is tested.
    pub after: f64,
    /// p of "nothing changed": two-sided for inner scores; for outer ones, "it did not fall".
    pub p: f64,
    /// The same by Holm's procedure over all scores that were tested together.
    pub adjusted_p: f64,
}

impl Change {
    /// Whether it is shown at an error rate of `alpha`, and worth a word.
    #[must_use]
    pub fn is_shown(&self, alpha: f64) -> bool {
        self.adjusted_p <= alpha && self.is_relevant()
    }

    /// Whether the correlation is not weak in both, and the change is not small.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        self.before.abs().max(self.after.abs()) >= MIN_CORRELATION
            && (self.after - self.before).abs() >= MIN_CHANGE
    }
}

/// Pairs of metrics in the order of [`inner_scores`].
pub fn pairs(metrics: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..metrics).flat_map(move |one| (one + 1..metrics).map(move |other| (one, other)))
}

/// The correlations of all pairs of metrics in a trace.
///
/// # Errors
/// [`DataError`] for a trace that is too short, uneven, or has values that are not finite.
pub fn inner_scores(trace: &Signals) -> Result<Vec<f64>, DataError> {
    pairs(trace.len()).map(|(one, other)| rho(&trace[one], &trace[other])).collect()
}

/// For each metric the median, over the references, of its correlation with itself.
///
/// # Errors
/// [`DataError`] for traces that cannot be aligned, or no references.
pub fn outer_scores(
    references: &[&Signals],
    trace: &Signals,
    alignment: Alignment,
) -> Result<Vec<f64>, DataError> {
    let mut scores = vec![Vec::new(); trace.len()];
    for reference in references {
        let path = alignment.path(reference, trace)?;
        for ((scores, one), other) in scores.iter_mut().zip(*reference).zip(trace) {
            let one: Vec<f64> = path.iter().map(|(place, _)| one[*place]).collect();
            let other: Vec<f64> = path.iter().map(|(_, place)| other[*place]).collect();
            scores.push(rho(&one, &other)?);
        }
    }
    scores.iter().map(|scores| type_7(scores, 0.5)).collect()
}

/// How many of so many baselines are references, and so no baseline of outer scores.
#[must_use]
pub fn references_of(baselines: usize) -> usize {
    (baselines / 5).max(1)
}

/// The smallest adjusted p that so many runs can give for one score of `metrics` metrics. Above the
/// error rate nothing could be found.
#[must_use]
pub fn smallest_adjusted_p(baselines: usize, runs: usize, metrics: usize) -> f64 {
    let tests = pairs(metrics).count() + metrics;
    let inner = 2.0 * smallest_p(baselines, runs);
    let outer = smallest_p(baselines - references_of(baselines), runs);
    (inner.max(outer) * tests as f64).min(1.0)
}

/// What differs between the runs of a baseline and runs with something: all pairs of metrics, then
/// all metrics. The first of the baselines are the references ([`references_of`]); the order of all
/// runs must have been drawn at random.
///
/// # Errors
/// [`DataError`] for fewer than three baselines, no runs, or traces that cannot be compared.
pub fn changes(
    baselines: &[Signals],
    runs: &[Signals],
    alignment: Alignment,
) -> Result<Vec<Change>, DataError> {
    if baselines.len() < 3 {
        return Err(DataError::TooFew { needed: 3, found: baselines.len() });
    }
    let metrics = baselines[0].len();
    if baselines.iter().chain(runs).any(|trace| trace.len() != metrics) {
        return Err(DataError::UnequalLengths);
    }
    let inner = |traces: &[Signals]| traces.iter().map(inner_scores).collect::<Result<Vec<_>, _>>();
    let (references, rest) = baselines.split_at(references_of(baselines.len()));
    let references: Vec<&Signals> = references.iter().collect();
    let outer = |traces: &[Signals]| -> Result<Vec<Vec<f64>>, DataError> {
        traces.iter().map(|trace| outer_scores(&references, trace, alignment)).collect()
    };
    let (before, after) = (inner(baselines)?, inner(runs)?);
    let mut changes = Vec::new();
    for (place, (one, other)) in pairs(metrics).enumerate() {
        changes.push(change(Score::Inner(one, other), &before, &after, place)?);
    }
    let (before, after) = (outer(rest)?, outer(runs)?);
    for metric in 0..metrics {
        changes.push(change(Score::Outer(metric), &before, &after, metric)?);
    }
    let p: Vec<f64> = changes.iter().map(|change| change.p).collect();
    for (change, adjusted_p) in changes.iter_mut().zip(holm(&p)?) {
        change.adjusted_p = adjusted_p;
    }
    Ok(changes)
}

fn change(
    score: Score,
    before: &[Vec<f64>],
    after: &[Vec<f64>],
    place: usize,
) -> Result<Change, DataError> {
    let column = |rows: &[Vec<f64>]| rows.iter().map(|row| row[place]).collect::<Vec<f64>>();
    let (before, after) = (column(before), column(after));
    let found = rank_sum(&before, &after)?;
    let p = match score {
        Score::Inner(..) => found.two_sided(),
        Score::Outer(_) => found.lower,
    };
    Ok(Change {
        score,
        before: type_7(&before, 0.5)?,
        range: [type_7(&before, 0.0)?, type_7(&before, 1.0)?],
        after: type_7(&after, 0.5)?,
        p,
        adjusted_p: 1.0,
    })
}

/// Spearman's ρ, 0 where a signal is flat.
fn rho(one: &[f64], other: &[f64]) -> Result<f64, DataError> {
    check(one, MIN_PAIRS)?;
    match spearman(one, other) {
        Err(DataError::NoSpread) => Ok(0.0),
        found => found,
    }
}

#[cfg(test)]
mod tests;
