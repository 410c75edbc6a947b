//! What follows from experiments: for each place that was sped up, and each progress point, by how
//! much the program changes.
//!
//! Experiments with the same place and speedup are added up. A place needs experiments without
//! speedup, its own baseline, so that what selecting it costs by itself cancels. The change is
//! told as a share: of the time per visit, or by Little's law of the time from arrival to
//! departure. How intervals come about is in [`szc_stats::dose`]; all verdicts of a profile share
//! one error rate by Holm's procedure.
//!
//! Source: Curtsinger and Berger 2015, sections 2.2 and 3.3; Little 1961.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use szc_stats::dose::{MIN_OBSERVATIONS, Observation, Reduction, levels, slope};
use szc_stats::family::holm_divisors;
use szc_stats::fixed::Interval;
use szc_stats::multiplicity::holm;
use szc_stats::sequential::ERROR_RATE;

use super::file::{CausalProfile, Experiment, Location, Progress};
use super::finding::{Analysis, Change, Finding, Kind, Lack, LeftOut, Slope, Step, Verdict};
use super::phase::{Phase, phases};

/// Fewest different speedups of a place, 0 among them, as in coz.
pub const MIN_SPEEDUPS: usize = 5;

/// A slope within ± this is no effect, where nobody says otherwise.
pub const TOLERANCE: f64 = 0.05;

/// What is asked of the experiments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Places with fewer different speedups are left out, unless the profile has no more.
    pub min_speedups: usize,
    /// A slope whose interval lies within ± this is called no effect.
    pub tolerance: f64,
}

impl Default for Question {
    fn default() -> Self {
        Self { min_speedups: MIN_SPEEDUPS, tolerance: TOLERANCE }
    }
}

/// Analyses the experiments of a profile.
#[must_use]
pub fn analyse(profile: &CausalProfile, question: &Question) -> Analysis {
    let series = series(&profile.experiments);
    let phases = phases(profile);
    let shares = sample_shares(profile);
    // A profile of few speedups, which somebody chose, is shown as it is.
    let speedups: BTreeSet<Speedup> =
        profile.experiments.iter().map(|one| Speedup::of(one.speedup)).collect();
    let min_speedups = question.min_speedups.min(speedups.len()).max(2);
    let mut analysis = Analysis::default();
    let mut slopes = Vec::new();
    for (key, observations) in series {
        let experiments = observations.len();
        let steps = match lack(&observations, min_speedups) {
            None => levels(&observations).unwrap_or_default(),
            Some(lack) => {
                let Key { location, point, .. } = key;
                analysis.left_out.push(LeftOut { location, point, lack, experiments });
                continue;
            }
        };
        let phase = phases.get(&key.location).copied();
        let steps = steps
            .iter()
            .map(|level| Step {
                speedup: level.dose,
                change: change(&level.reduction, ERROR_RATE, phase),
                experiments: level.reduction.observations,
            })
            .collect();
        let enough = experiments >= MIN_OBSERVATIONS;
        slopes.push(slope(&observations).ok().filter(|_| enough));
        analysis.findings.push(Finding {
            sample_share: shares.get(&key.location).copied(),
            location: key.location,
            point: key.point,
            kind: key.kind,
            experiments,
            phase,
            steps,
            slope: None,
            verdict: Verdict::TooFew,
        });
    }
    judge(&mut analysis.findings, &slopes, question);
    analysis.findings.sort_by(by_worth);
    analysis
}

/// Gives each finding its slope and verdict.
fn judge(findings: &mut [Finding], slopes: &[Option<Reduction>], question: &Question) {
    let p: Vec<f64> = slopes.iter().flatten().map(Reduction::p).collect();
    let adjusted = holm(&p).unwrap_or_else(|_| vec![1.0; p.len()]);
    let divisors = holm_divisors(&p);
    let mut at = 0;
    for (finding, reduction) in findings.iter_mut().zip(slopes) {
        let Some(reduction) = reduction else { continue };
        let alpha = ERROR_RATE / divisors[at] as f64;
        let change = change(reduction, alpha, finding.phase);
        finding.verdict = verdict(&change, finding.experiments, question.tolerance);
        finding.slope =
            Some(Slope { change, confidence: 1.0 - alpha, p: p[at], p_adjusted: adjusted[at] });
        at += 1;
    }
}

fn verdict(change: &Change, experiments: usize, tolerance: f64) -> Verdict {
    let [lower, upper] = change.bounds();
    if lower > 0.0 {
        return Verdict::Gain;
    }
    if upper < 0.0 {
        return Verdict::Contention;
    }
    if -tolerance <= lower && upper <= tolerance {
        return Verdict::NoEffect;
    }
    // An interval is about as wide as the root of the number of experiments is small.
    let half = (upper - lower) / 2.0;
    let wanted = change.value.abs().max(tolerance - change.value.abs());
    let needed = experiments as f64 * (half / wanted).powi(2);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float-to-integer cast saturates, which is the documented result"
    )]
    let experiments_needed = (needed.ceil() as u64).max(experiments as u64 + 1);
    Verdict::Unresolved { experiments_needed }
}

fn change(reduction: &Reduction, alpha: f64, phase: Option<Phase>) -> Change {
    let value = reduction.value();
    let interval = reduction.interval(alpha);
    let (value, interval) = match phase {
        Some(phase) => phase.applied(value, interval),
        None => (value, interval),
    };
    let Interval { lower, upper } = interval;
    let finite = |end: f64| end.is_finite().then_some(end);
    Change { value, lower: finite(lower), upper: finite(upper) }
}

/// Gains from the largest on, then contention from the worst on, then what is not known.
fn by_worth(one: &Finding, other: &Finding) -> std::cmp::Ordering {
    let class = |finding: &Finding| match finding.verdict {
        Verdict::Gain => 0,
        Verdict::Contention => 1,
        Verdict::Unresolved { .. } => 2,
        Verdict::NoEffect => 3,
        Verdict::TooFew => 4,
    };
    let slope = |finding: &Finding| {
        let value = finding.slope.map_or(f64::NEG_INFINITY, |slope| slope.change.value);
        if finding.verdict == Verdict::Contention { -value } else { value }
    };
    let names = |finding: &Finding| (finding.location.clone(), finding.point.clone());
    (class(one).cmp(&class(other)))
        .then(slope(other).total_cmp(&slope(one)))
        .then_with(|| names(one).cmp(&names(other)))
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    location: Location,
    point: String,
    kind: Kind,
}

/// A speedup in thousandths of a percent, to tell different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Speedup(i64);

impl Speedup {
    fn of(share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a share; others saturate")]
        let thousandths = (share * 1e5).round() as i64;
        Self(thousandths)
    }

    fn share(self) -> f64 {
        self.0 as f64 / 1e5
    }
}

/// Observations of each place and progress point.
fn series(experiments: &[Experiment]) -> BTreeMap<Key, Vec<Observation>> {
    let mut series: BTreeMap<Key, Vec<Observation>> = BTreeMap::new();
    for experiment in experiments {
        let effective = experiment.effective_ns() as f64 / 1e9;
        for point in &experiment.points {
            let (kind, amount, count) = match point.progress {
                Progress::Throughput { visits } => (Kind::Throughput, effective, visits),
                // The time that all spend there, over how many they are.
                Progress::Latency { arrivals, mean_length, .. } => {
                    (Kind::Latency, effective * mean_length, arrivals)
                }
            };
            // Nothing was under way, and nothing came.
            if amount == 0.0 && count == 0 || !amount.is_finite() {
                continue;
            }
            let key =
                Key { location: experiment.selected.clone(), point: point.name.clone(), kind };
            let dose = Speedup::of(experiment.speedup).share().max(0.0);
            let observation = Observation { dose, amount, count: count as f64 };
            series.entry(key).or_default().push(observation);
        }
    }
    series
}

fn lack(observations: &[Observation], min_speedups: usize) -> Option<Lack> {
    let counted = || observations.iter().filter(|one| one.count > 0.0);
    let speedups: BTreeSet<Speedup> = counted().map(|one| Speedup::of(one.dose)).collect();
    if speedups.is_empty() {
        Some(Lack::Visits)
    } else if !speedups.contains(&Speedup(0)) {
        Some(Lack::Baseline)
    } else if speedups.len() < min_speedups {
        Some(Lack::Speedups)
    } else {
        None
    }
}

/// Share of each place in all samples of the runs.
fn sample_shares(profile: &CausalProfile) -> BTreeMap<Location, f64> {
    let mut counts: BTreeMap<Location, u64> = BTreeMap::new();
    let mut all = 0;
    for run in &profile.runs {
        all += run.samples_out_of_scope.unwrap_or(0) + run.samples_without_line.unwrap_or(0);
        for place in &run.samples {
            all += place.count;
            *counts.entry(place.location.clone()).or_default() += place.count;
        }
    }
    let share = |(location, count): (Location, u64)| (location, count as f64 / all as f64);
    counts.into_iter().filter(|_| all > 0).map(share).collect()
}

#[cfg(test)]
pub(super) mod tests;
