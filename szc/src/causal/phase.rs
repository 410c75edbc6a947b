//! Correction for phases: a place is selected only while it runs, so that experiments see the
//! program at such times alone. A change there counts for the share of the run that these times
//! are: its samples per time over the whole run, divided by those in its experiments.
//!
//! Samples are compared in time in which nothing is sped up, if the profile tells them apart:
//! delays change how often a place is sampled. Else those of all experiments are compared with
//! those of the whole run, both without the delays.
//!
//! Source: Curtsinger and Berger 2015, section 3.4, "adjusting for phases".
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::Serialize;
use szc_stats::fixed::{CONFIDENCE, Interval, normal_quantile};

use super::file::{CausalProfile, Experiment, Location};

/// In which share of the run a place runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// The share, at most 1.
    pub share: f64,
    /// Its standard error as a share of it.
    pub relative_error: f64,
}

impl Phase {
    /// A change in the phase and its interval, as those of the whole run. The interval is widened
    /// by the error of the share, by the root of squares of distances (Zou and Donner 2008,
    /// "Construction of confidence limits about effect measures"): of logarithms where 0 is
    /// outside, so that it stays there.
    #[must_use]
    pub fn applied(&self, value: f64, interval: Interval) -> (f64, Interval) {
        let error = normal_quantile(f64::midpoint(1.0, CONFIDENCE)) * self.relative_error;
        let end = |end: f64| {
            if value * interval.lower > 0.0 && value * interval.upper > 0.0 && end.is_finite() {
                let distance = (end / value).ln();
                let wider = distance.hypot(error).copysign(distance);
                self.share * value * wider.exp()
            } else {
                let distance = end - value;
                self.share * (value + distance.hypot(value * error).copysign(distance))
            }
        };
        let ends = Interval { lower: end(interval.lower), upper: end(interval.upper) };
        (self.share * value, ends)
    }
}

/// The phases of all places whose samples were counted.
#[must_use]
pub fn phases(profile: &CausalProfile) -> BTreeMap<Location, Phase> {
    if profile.header.end_to_end {
        // An experiment is a whole run.
        return BTreeMap::new();
    }
    let mut experiments: BTreeMap<&Location, Vec<&Experiment>> = BTreeMap::new();
    for experiment in &profile.experiments {
        experiments.entry(&experiment.selected).or_default().push(experiment);
    }
    let tells = |run: &super::file::Run| {
        run.unaltered_ns.is_some() && run.samples.iter().all(|place| place.unaltered.is_some())
    };
    let unaltered = !profile.runs.is_empty() && profile.runs.iter().all(tells);
    let time = whole_time(profile, unaltered);
    experiments
        .into_iter()
        .filter_map(|(location, experiments)| {
            let samples = whole_samples(profile, location, unaltered);
            let within: Vec<(f64, f64)> = experiments
                .iter()
                .filter(|one| !unaltered || one.speedup == 0.0)
                .map(|one| (one.selected_samples as f64, one.effective_ns() as f64))
                .collect();
            Some((location.clone(), phase(samples, time, &within)?))
        })
        .collect()
}

/// `samples` in the `time` of the whole run, and in each of the experiments.
fn phase(samples: f64, time: f64, within: &[(f64, f64)]) -> Option<Phase> {
    let seen: f64 = within.iter().map(|one| one.0).sum();
    let observed: f64 = within.iter().map(|one| one.1).sum();
    if !(samples > 0.0 && time > 0.0 && seen > 0.0 && observed > 0.0) {
        return None;
    }
    let rate = seen / observed;
    // Of counts at random, and of what experiments differ by beyond that (Cochran 1977, 6.3).
    let by_chance = 1.0 / seen;
    let number = within.len() as f64;
    let squares: f64 = within.iter().map(|one| (one.0 - rate * one.1).powi(2)).sum();
    let by_experiments =
        if within.len() < 2 { 0.0 } else { number / (number - 1.0) * squares / seen.powi(2) };
    let variance = by_chance.max(by_experiments) + 1.0 / samples;
    let share = samples / time / rate;
    Some(Phase { share: share.min(1.0), relative_error: variance.sqrt() })
}

fn whole_time(profile: &CausalProfile, unaltered: bool) -> f64 {
    let of_runs = |time: fn(&super::file::Run) -> u64| profile.runs.iter().map(time).sum::<u64>();
    if unaltered {
        return of_runs(|run| run.unaltered_ns.unwrap_or(0)) as f64;
    }
    let delays: u64 = profile.experiments.iter().map(|one| one.delay_ns).sum();
    of_runs(|run| run.elapsed_ns).saturating_sub(delays) as f64
}

fn whole_samples(profile: &CausalProfile, location: &Location, unaltered: bool) -> f64 {
    let places = profile.runs.iter().flat_map(|run| &run.samples);
    let counted = places
        .filter(|place| place.location == *location)
        .map(|place| if unaltered { place.unaltered.unwrap_or(0) } else { place.count });
    counted.sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::file::tests::{experiment, header, line};
    use crate::causal::file::{LocationSamples, Run};

    /// A run of 10 s of which the line runs in half, and experiments of 0.5 s in that half.
    fn profile(unaltered: Option<u64>) -> CausalProfile {
        let place = line("a.c", 1);
        let one = |speedup: f64, selected_samples: u64, effective_ns: u64| Experiment {
            selected_samples,
            delay_ns: 500_000_000 - effective_ns,
            duration_ns: 500_000_000,
            ..experiment(place.clone(), speedup, 0, 10)
        };
        CausalProfile {
            loads: Vec::new(),
            header: header(),
            // Delays make samples of the line more frequent in the time that is left.
            experiments: vec![
                one(0.0, 98, 500_000_000),
                one(0.0, 102, 500_000_000),
                one(1.0, 100, 250_000_000),
            ],
            runs: vec![Run {
                elapsed_ns: 10_000_000_000,
                samples: vec![LocationSamples {
                    location: place,
                    count: 1_000,
                    unaltered: unaltered.map(|_| 950),
                }],
                unaltered_ns: unaltered,
                ..Run::default()
            }],
            ends: Vec::new(),
        }
    }

    #[test]
    fn a_line_that_runs_in_half_of_the_run_counts_half() {
        let phase = phases(&profile(Some(9_500_000_000)))[&line("a.c", 1)];
        // 950 samples in 9.5 s, where experiments without speedup have 200 in 1 s.
        assert!((phase.share - 0.5).abs() < 1e-12, "{phase:?}");
        // Chance leaves more than the experiments differ by.
        assert!((phase.relative_error - (1.0 / 200.0 + 1.0 / 950.0_f64).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn without_samples_of_unaltered_time_all_are_compared_without_the_delays() {
        let phase = phases(&profile(None))[&line("a.c", 1)];
        assert!((phase.share - (1_000.0 / 9.75) / (300.0 / 1.25)).abs() < 1e-12, "{phase:?}");
    }

    #[test]
    fn no_line_runs_in_more_than_the_run_and_whole_runs_have_no_phases() {
        let mut whole = profile(None);
        whole.runs[0].elapsed_ns = 1_000_000_000;
        assert_eq!(phases(&whole)[&line("a.c", 1)].share, 1.0);
        whole.header.end_to_end = true;
        assert!(phases(&whole).is_empty());
        assert!(phases(&CausalProfile { runs: Vec::new(), ..profile(None) }).is_empty());
    }

    #[test]
    fn the_error_of_the_share_widens_an_interval_and_never_moves_it_over_0() {
        let interval = Interval { lower: 0.1, upper: 0.4 };
        let exact = Phase { share: 0.5, relative_error: 0.0 };
        let (value, ends) = exact.applied(0.2, interval);
        assert!((value - 0.1).abs() < 1e-12 && (ends.lower - 0.05).abs() < 1e-12);
        assert!((ends.upper - 0.2).abs() < 1e-12);
        let rough = Phase { share: 0.5, relative_error: 2.0 };
        let (_, wide) = rough.applied(0.2, interval);
        assert!(0.0 < wide.lower && wide.lower < 0.01 && wide.upper > 0.4, "{wide:?}");
        let (_, mirrored) = rough.applied(-0.2, Interval { lower: -0.4, upper: -0.1 });
        assert!((mirrored.upper + wide.lower).abs() < 1e-12, "{mirrored:?}");
        let (_, open) = rough.applied(0.2, Interval { lower: f64::NEG_INFINITY, upper: 0.4 });
        assert!(open.lower == f64::NEG_INFINITY && open.upper.is_finite());
    }
}
