//! Findings by hand, and verdicts of simulated profiles.

use szc_stats::calibration::noise::Noise;
use szc_stats::calibration::rate_of;

use super::*;
use crate::causal::file::tests::{experiment, header, line};
use crate::causal::file::{LocationSamples, Point, Run};

const MS: u64 = 1_000_000;

pub fn profile(experiments: Vec<Experiment>) -> CausalProfile {
    CausalProfile { header: header(), experiments, ..CausalProfile::default() }
}

/// Experiments on a place: half without speedup, the others in steps of 10 %. The time per visit
/// falls by `gain` times the speedup, and varies by 3 %.
pub fn simulated(noise: &mut Noise, place: &Location, gain: f64, count: usize) -> Vec<Experiment> {
    let one = |index: usize| {
        let step = (noise.uniform() * 10.0).floor() + 1.0;
        let speedup = if index.is_multiple_of(2) { 0.0 } else { step / 10.0 };
        let period = (1.0 - gain * speedup) * (0.03 * noise.normal()).exp();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let visits = (100.0 / period) as u64;
        experiment(place.clone(), speedup, 500 * MS, visits)
    };
    (0..count).map(one).collect()
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

#[test]
fn steps_are_those_of_added_visits_and_durations() {
    // By hand, as coz's viewer does: at 0 % (400 + 200) ms over 12 visits, so 50 ms each; at 25 %
    // 450 ms over 10 visits, 1 − 45/50; at 50 % 100 ms over 4, 1 − 25/50; at 75 % 240 ms over 4,
    // 1 − 60/50; at 100 % 50 ms over 2.
    let place = line("a.c", 12);
    let one = |speedup, ms, visits| experiment(place.clone(), speedup, ms * MS, visits);
    let found = analyse(
        &profile(vec![
            one(0.25, 300, 7),
            one(0.0, 400, 9),
            one(0.5, 100, 4),
            one(0.25, 150, 3),
            one(0.0, 200, 3),
            one(0.75, 240, 4),
            one(1.0, 50, 2),
        ]),
        &Question::default(),
    );
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    let steps: Vec<(f64, f64)> =
        finding.steps.iter().map(|step| (step.speedup, step.change.value)).collect();
    for (step, expected) in steps.iter().zip([(0.25, 0.1), (0.5, 0.5), (0.75, -0.2), (1.0, 0.5)]) {
        assert!(near(step.0, expected.0) && near(step.1, expected.1), "{steps:?}");
    }
    assert_eq!((finding.experiments, finding.verdict), (7, Verdict::TooFew));
    assert_eq!(finding.steps.iter().map(|step| step.experiments).collect::<Vec<_>>(), [4, 3, 3, 3]);
}

#[test]
fn latency_is_length_over_rate_of_arrivals() {
    let place = line("a.c", 12);
    let one = |speedup, ms: u64, arrivals, mean_length| {
        let progress = Progress::Latency { arrivals, departures: arrivals, mean_length };
        let points = vec![Point { name: "q".into(), progress }];
        Experiment { points, ..experiment(place.clone(), speedup, ms * MS, 0) }
    };
    // By hand: 2 in 100 ms of 10 and 4 in 300 ms of 20 are (0.2 + 1.2)/30; at 50 % 1 in 100 ms of
    // 10. A half of an hour in which nothing was under way tells nothing of how long it takes.
    let found = analyse(
        &profile(vec![
            one(0.0, 100, 10, 2.0),
            one(0.0, 300, 20, 4.0),
            one(0.5, 100, 10, 1.0),
            one(0.5, 1_800_000, 0, 0.0),
        ]),
        &Question::default(),
    );
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, Kind::Latency);
    assert!(near(finding.steps[0].change.value, 1.0 - (0.1 / 10.0) / (1.4 / 30.0)));
}

#[test]
fn what_nothing_can_be_said_of_is_left_out_with_the_reason() {
    let one = |number, speedup, visits| experiment(line("a.c", number), speedup, 100 * MS, visits);
    let mut experiments: Vec<Experiment> =
        [0.0, 0.2, 0.4, 0.6, 0.8].map(|speedup| one(1, speedup, 5)).into();
    experiments.extend([0.2, 0.4, 0.6, 0.8, 1.0].map(|speedup| one(2, speedup, 5)));
    experiments.extend([0.0, 0.2, 0.4, 0.6].map(|speedup| one(3, speedup, 5)));
    experiments.extend([0.0, 0.2, 0.4, 0.6, 0.8].map(|speedup| one(4, speedup, 0)));
    let found = analyse(&profile(experiments.clone()), &Question::default());
    let lacks: Vec<(String, Lack)> =
        found.left_out.iter().map(|one| (one.location.to_string(), one.lack)).collect();
    let expected = [("a.c:2", Lack::Baseline), ("a.c:3", Lack::Speedups), ("a.c:4", Lack::Visits)];
    assert_eq!(lacks, expected.map(|(place, lack)| (place.to_owned(), lack)));
    // A profile that was asked for fewer speedups is shown.
    let few: Vec<Experiment> =
        experiments.into_iter().filter(|one| [0.0, 0.2].contains(&one.speedup)).collect();
    let found = analyse(&profile(few), &Question::default());
    assert_eq!(found.findings.len(), 2, "{found:?}");
}

#[test]
fn verdicts_are_those_of_the_intervals_and_gains_come_first() {
    let mut noise = Noise::new(1);
    let mut experiments = Vec::new();
    for (number, gain, count) in [(1, 0.0, 400), (2, 0.3, 60), (3, -0.4, 60), (4, 0.7, 60)] {
        experiments.extend(simulated(&mut noise, &line("a.c", number), gain, count));
    }
    experiments.extend(simulated(&mut noise, &line("a.c", 5), 0.01, 20));
    let found = analyse(&profile(experiments), &Question::default());
    let verdicts: Vec<(String, &str)> =
        found.findings.iter().map(|one| (one.location.to_string(), one.verdict.word())).collect();
    let expected = [
        ("a.c:4", "gain"),
        ("a.c:2", "gain"),
        ("a.c:3", "contention"),
        ("a.c:5", "unresolved"),
        ("a.c:1", "no effect"),
    ];
    assert_eq!(verdicts, expected.map(|(place, word)| (place.to_owned(), word)));
    for finding in &found.findings {
        let slope = finding.slope.unwrap();
        let [lower, upper] = slope.change.bounds();
        assert!(lower <= slope.change.value && slope.change.value <= upper, "{finding:?}");
        assert_eq!(slope.p_adjusted <= ERROR_RATE, lower > 0.0 || upper < 0.0, "{finding:?}");
    }
    let Verdict::Unresolved { experiments_needed } = found.findings[3].verdict else { panic!() };
    assert!((30..2_000).contains(&experiments_needed), "{experiments_needed}");
}

#[test]
fn a_line_that_runs_in_a_part_of_the_run_counts_for_that_part() {
    let place = line("a.c", 1);
    let mut experiments = simulated(&mut Noise::new(2), &place, 0.8, 200);
    for one in &mut experiments {
        one.selected_samples = 250;
    }
    // 200 experiments of 0.5 s with 500 samples a second; the whole run has 125 a second.
    let samples = vec![LocationSamples { location: place, count: 50_000, unaltered: None }];
    let run = Run { elapsed_ns: 400_000 * MS, samples, ..Run::default() };
    let found =
        analyse(&CausalProfile { runs: vec![run], ..profile(experiments) }, &Question::default());
    let slope = found.findings[0].slope.unwrap().change;
    assert!((slope.value - 0.2).abs() < 0.01, "{slope:?}");
    assert!(slope.lower.unwrap() < 0.2 && 0.2 < slope.upper.unwrap(), "{slope:?}");
    assert_eq!(found.findings[0].sample_share, Some(1.0));
}

#[test]
fn profiles_without_any_effect_seldom_have_a_verdict_other_than_none() {
    rate_of(20, "any of 200 lines without effect has a gain or contention", 21, |noise| {
        let experiments =
            (0..200).flat_map(|at| simulated(noise, &line("a.c", at), 0.0, 20)).collect();
        let found = analyse(&profile(experiments), &Question::default());
        let effect = |one: &Finding| matches!(one.verdict, Verdict::Gain | Verdict::Contention);
        found.findings.iter().any(effect)
    })
    .at_most(ERROR_RATE);
}
