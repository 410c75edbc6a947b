//! Reductions by hand, and what simulated profiles say of their intervals.

use super::*;
use crate::calibration::noise::Noise;
use crate::calibration::{rate, rate_of};
use crate::multiplicity::holm;
use crate::sequential::ERROR_RATE;

fn one(dose: f64, amount: f64, count: f64) -> Observation {
    Observation { dose, amount, count }
}

#[test]
fn reductions_are_those_of_sums() {
    // By hand: 30/10 at dose 0, (8 + 4)/6 at 0.5, so 1 − 2/3.
    let data = [one(0.0, 10.0, 4.0), one(0.0, 20.0, 6.0), one(0.5, 8.0, 3.0), one(0.5, 4.0, 3.0)];
    let [level] = levels(&data).unwrap()[..] else { panic!() };
    assert!((level.reduction.value() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((level.dose, level.reduction.observations), (0.5, 4));
    // The line through two doses goes through both ratios: (3 − 2)/0.5/3.
    assert!((slope(&data).unwrap().value() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn a_dose_that_leaves_nothing_of_the_amount_is_a_reduction_of_all() {
    let data = [one(0.0, 10.0, 4.0), one(0.0, 20.0, 6.0), one(1.0, 0.0, 3.0), one(1.0, 0.0, 0.0)];
    let [level] = levels(&data).unwrap()[..] else { panic!() };
    assert_eq!(level.reduction.value(), 1.0);
    assert!(slope(&data).unwrap().interval(0.05).contains(1.0));
    let without_time = [one(0.0, 0.0, 4.0), one(0.5, 20.0, 6.0), one(0.5, 10.0, 3.0)];
    assert_eq!(levels(&without_time), Err(DataError::OutOfRange));
}

#[test]
fn doses_that_were_given_once_have_open_intervals() {
    let data = [one(0.0, 10.0, 4.0), one(0.5, 20.0, 10.0), one(1.0, 4.0, 4.0)];
    let found = levels(&data).unwrap();
    assert_eq!(found.len(), 2);
    let reduction = found[0].reduction;
    assert!((reduction.value() - 0.2).abs() < 1e-12 && reduction.p() == 1.0);
    let Interval { lower, upper } = reduction.interval(0.05);
    assert!(lower == f64::NEG_INFINITY && upper == f64::INFINITY);
}

#[test]
fn neither_units_nor_order_change_a_reduction() {
    let data: Vec<Observation> = profile(&mut Noise::new(3), &Truth { gain: 0.3, ..NOTHING });
    let scaled: Vec<Observation> =
        data.iter().rev().map(|o| one(o.dose, o.amount * 1e9, o.count * 40.0)).collect();
    let (found, other) = (slope(&data).unwrap(), slope(&scaled).unwrap());
    assert!((found.value() - other.value()).abs() < 1e-9 && (found.p() - other.p()).abs() < 1e-9);
    let [found, other] = [found, other].map(|reduction| reduction.interval(0.05));
    assert!((found.lower - other.lower).abs() < 1e-6, "{found:?} {other:?}");
    assert!((found.upper - other.upper).abs() < 1e-6, "{found:?} {other:?}");
}

#[test]
fn an_interval_ends_where_the_e_value_refuses() {
    let data = profile(&mut Noise::new(4), &Truth { gain: 0.2, ..NOTHING });
    let found = slope(&data).unwrap();
    // The level at which 0 is refused is p: there the interval ends at 0.
    assert!(found.interval(found.p()).lower.abs() < 1e-6);
    let interval = found.interval(0.05);
    assert!(interval.contains(found.value()) && interval.contains(0.2), "{interval:?}");
}

#[test]
fn what_no_line_fits_is_refused() {
    let same = [one(0.0, 1.0, 1.0); 3];
    assert_eq!(slope(&same), Err(DataError::NoSpread));
    assert_eq!(levels(&same), Err(DataError::NoSpread));
    assert_eq!(slope(&same[..2]), Err(DataError::TooFew { needed: 3, found: 2 }));
    let exact = [one(0.0, 2.0, 1.0), one(0.0, 2.0, 1.0), one(0.5, 2.0, 1.0)];
    assert_eq!(slope(&exact), Err(DataError::NoSpread));
    let nothing = [one(0.0, 2.0, 0.0), one(0.0, 2.0, 0.0), one(0.5, 2.0, 0.0)];
    assert_eq!(slope(&nothing), Err(DataError::OutOfRange));
    for wrong in [one(f64::NAN, 1.0, 1.0), one(-0.5, 1.0, 1.0), one(0.5, -1.0, 1.0)] {
        assert_eq!(slope(&[wrong; 4]), Err(DataError::Parameter("observation")));
    }
    let without_base = [one(0.2, 2.0, 1.0), one(0.5, 2.0, 1.0), one(0.5, 2.1, 1.0)];
    assert_eq!(levels(&without_base), Err(DataError::NoSpread));
}

/// A program whose period falls by `gain` times the dose.
#[derive(Clone, Copy)]
struct Truth {
    gain: f64,
    /// Standard deviation of the log rate between experiments.
    spread: f64,
    /// How much of it is carried on to the next experiment.
    memory: f64,
    /// Visits in an experiment.
    visits: f64,
    experiments: usize,
}

const NOTHING: Truth =
    Truth { gain: 0.0, spread: 0.05, memory: 0.0, visits: 100.0, experiments: 20 };

/// Experiments as they are drawn: half of them without a speedup, the others in steps of 5 %. The
/// effective duration of an experiment is shorter by its delays, and visits are whole numbers.
fn profile(noise: &mut Noise, truth: &Truth) -> Vec<Observation> {
    let mut state = noise.normal();
    (0..truth.experiments)
        .map(|_| {
            let steps = (noise.uniform() * 20.0).floor() + 1.0;
            let dose = if noise.uniform() < 0.5 { 0.0 } else { steps / 20.0 };
            let fresh = (1.0 - truth.memory * truth.memory).sqrt() * noise.normal();
            state = truth.memory * state + fresh;
            let amount = 1.0 - 0.3 * dose * noise.uniform();
            let rate = truth.visits * (truth.spread * state).exp() / (1.0 - truth.gain * dose);
            one(dose, amount, (amount * rate + noise.uniform()).floor())
        })
        .collect()
}

/// Programs that are quiet, noisy, seldom counted, drifting, and long measured.
const PROGRAMS: [(&str, Truth); 5] = [
    ("quiet", NOTHING),
    ("noisy", Truth { spread: 0.3, ..NOTHING }),
    ("few visits", Truth { visits: 6.0, ..NOTHING }),
    ("drifting", Truth { memory: 0.9, ..NOTHING }),
    ("many experiments", Truth { experiments: 100, ..NOTHING }),
];

#[test]
fn intervals_of_slopes_and_steps_hold_the_truth() {
    for (name, program) in PROGRAMS {
        for gain in [-0.3, 0.0, 0.1, 0.95] {
            let truth = Truth { gain, ..program };
            let holds = |found: Reduction, value: f64| found.interval(ERROR_RATE).contains(value);
            rate(&format!("slope of {gain}, {name}"), 11, |noise| {
                slope(&profile(noise, &truth)).is_ok_and(|found| holds(found, gain))
            })
            .at_least(0.95);
            rate(&format!("steps of {gain}, {name}"), 12, |noise| {
                let found = levels(&profile(noise, &truth));
                let Ok(found) = found else { return true };
                let which = noise.uniform() * found.len() as f64;
                let chosen = found.iter().enumerate().find(|(at, _)| *at as f64 + 1.0 >= which);
                chosen.is_none_or(|(_, level)| holds(level.reduction, gain * level.dose))
            })
            .at_least(0.95);
        }
    }
}

#[test]
fn of_lines_without_effect_few_are_found_at_any_look() {
    for (name, program) in PROGRAMS {
        rate(&format!("false slope at any of the looks, {name}"), 13, |noise| {
            let all = profile(noise, &program);
            (MIN_OBSERVATIONS..=all.len())
                .any(|count| slope(&all[..count]).is_ok_and(|found| found.p() <= ERROR_RATE))
        })
        .at_most(ERROR_RATE);
    }
}

#[test]
fn profiles_of_200_lines_without_effect_seldom_have_a_finding() {
    for (name, program) in PROGRAMS {
        rate_of(60, &format!("any of 200 lines, {name}"), 14, |noise| {
            let p =
                |noise: &mut Noise| slope(&profile(noise, &program)).map_or(1.0, |found| found.p());
            let all: Vec<f64> = (0..200).map(|_| p(noise)).collect();
            holm(&all).unwrap().iter().any(|&p| p <= ERROR_RATE)
        })
        .at_most(ERROR_RATE);
    }
}

#[test]
fn real_effects_are_found() {
    rate("slope of 0.2, quiet", 15, |noise| {
        slope(&profile(noise, &Truth { gain: 0.2, ..NOTHING })).is_ok_and(|found| found.p() < 0.05)
    })
    .at_least(0.7);
}
