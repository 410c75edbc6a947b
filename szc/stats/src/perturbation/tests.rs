//! Tests of perturbation: known changes, and how often nothing is taken for something.

use super::*;
use crate::calibration::noise::Noise;
use crate::calibration::rate_of;

const METRICS: usize = 8;

/// A run of a program with phases. Metrics follow a common signal more or less, one is flat but for
/// noise and one is constant; runs differ in speed. `mixing` replaces what is common in metric 0.
fn run(noise: &mut Noise, records: usize, mixing: f64) -> Signals {
    let speed = 1.0 + 0.05 * noise.normal();
    let phase = |i: usize| (i as f64 * speed * 0.31).sin() + (i as f64 * speed * 0.07).cos();
    let mut signals: Signals = Vec::new();
    for metric in 0..METRICS {
        let mixing = if metric == 0 { mixing } else { 0.0 };
        let signal = (0..records).map(|i| match metric {
            6 => 1000.0 + noise.normal(),
            7 => 3.0,
            _ => {
                (1.0 - mixing) * phase(i)
                    + 0.3 * metric as f64 * noise.heavy_tailed()
                    + mixing * noise.normal()
            }
        });
        signals.push(signal.collect());
    }
    signals
}

fn runs(noise: &mut Noise, count: usize, records: usize, mixing: f64) -> Vec<Signals> {
    (0..count).map(|_| run(noise, records, mixing)).collect()
}

fn judged(noise: &mut Noise, records: usize, mixing: f64) -> Vec<Change> {
    let baselines = runs(noise, 26, records, 0.0);
    let tested = runs(noise, 5, records, mixing);
    changes(&baselines, &tested, Alignment::default()).unwrap()
}

#[test]
fn calibration_of_false_alarms_of_perturbation_with_26_baselines_and_8_metrics() {
    let alarm =
        |noise: &mut Noise| judged(noise, 40, 0.0).iter().any(|change| change.adjusted_p <= 0.05);
    rate_of(200, "perturb A/A: any of 28 pairs and 8 metrics perturbed", 41, alarm).at_most(0.05);
}

#[test]
fn calibration_of_perturbation_that_is_there() {
    let found = |noise: &mut Noise| {
        let all = judged(noise, 60, 0.9);
        all.iter().any(|change| change.score == Score::Inner(0, 1) && change.is_shown(0.05))
            && all.iter().any(|change| change.score == Score::Outer(0) && change.is_shown(0.05))
    };
    rate_of(40, "perturb: a metric that follows others no more, both scores", 42, found)
        .at_least(0.95);
}

#[test]
fn a_change_has_its_direction_and_what_is_untouched_has_none() {
    let mut noise = Noise::new(5);
    let all = judged(&mut noise, 60, 0.9);
    assert_eq!(all.len(), 28 + 8);
    let change = all.iter().find(|change| change.score == Score::Inner(0, 1)).unwrap();
    assert!(change.before > 0.6 && change.after.abs() < change.before, "{change:?}");
    assert!(change.range[0] <= change.before && change.before <= change.range[1]);
    let untouched = all.iter().find(|change| change.score == Score::Inner(1, 2)).unwrap();
    assert!(!untouched.is_shown(0.05), "{untouched:?}");
    // A constant has nothing to follow.
    let constant = all.iter().find(|change| change.score == Score::Outer(7)).unwrap();
    assert_eq!((constant.before, constant.after, constant.p), (0.0, 0.0, 1.0));
    assert!(!constant.is_relevant());
}

#[test]
fn weak_correlations_and_small_changes_are_no_perturbation_however_sure_they_differ() {
    let change = Change {
        score: Score::Inner(0, 1),
        before: 0.1,
        range: [0.05, 0.15],
        after: -0.29,
        p: 1e-9,
        adjusted_p: 1e-7,
    };
    assert!(!change.is_shown(0.05));
    assert!(Change { after: -0.31, ..change.clone() }.is_shown(0.05));
    assert!(!Change { before: 0.9, after: 0.86, ..change.clone() }.is_shown(0.05));
    assert!(!Change { after: 0.9, adjusted_p: 0.06, ..change }.is_shown(0.05));
}

#[test]
fn how_many_runs_could_show_anything_is_known_before() {
    assert!(smallest_adjusted_p(26, 5, 8) < 0.001);
    assert!(smallest_adjusted_p(26, 1, 2) > 0.05);
    assert_eq!(smallest_adjusted_p(3, 1, 8), 1.0);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let mut noise = Noise::new(1);
    let traces = runs(&mut noise, 3, 20, 0.0);
    let judge = |one: &[Signals], other: &[Signals]| changes(one, other, Alignment::default());
    assert_eq!(judge(&traces[..2], &traces), Err(DataError::TooFew { needed: 3, found: 2 }));
    assert_eq!(judge(&traces, &[]).err(), Some(DataError::TooFew { needed: 1, found: 0 }));
    let other = vec![vec![vec![1.0, 2.0, 3.0]]];
    assert_eq!(judge(&traces, &other).err(), Some(DataError::UnequalLengths));
}
