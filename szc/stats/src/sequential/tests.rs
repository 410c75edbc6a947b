//! The formulas against integrals by scipy, against each other, and symmetries.

use super::*;
use crate::calibration::data::{MAIZE, SLEEP, cases, close, number};
use crate::fixed::Direction;
use proptest::prelude::*;

fn count(value: &serde_json::Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn the_t_e_value_is_the_bayes_factor_that_scipy_integrates() {
    for case in cases("series", "e_value") {
        let found = ln_t_e_value(count(&case["n"]), number(&case["t"])).exp();
        assert!((found / number(&case["e"]) - 1.0).abs() < 1e-9, "{case}: {found}");
    }
}

#[test]
fn the_interval_ends_where_the_e_value_reaches_its_bound() {
    for (n, spread) in [(10, 1.0), (37, 0.02), (100, 3.0), (5000, 1e-3)] {
        let half = half_width(n, spread, 0.05);
        let t = (n as f64).sqrt() * half / spread;
        assert!(close(ln_t_e_value(n, t), 20.0_f64.ln()), "n = {n}");
    }
}

#[test]
fn the_first_blocks_exclude_nothing() {
    assert_eq!(half_width(1, 1.0, 0.05), f64::INFINITY);
    assert_eq!(half_width(2, 1.0, 0.05), f64::INFINITY);
    assert!(half_width(MIN_BLOCKS, 1.0, 0.05).is_finite());
}

#[test]
fn students_patients_slept_longer() {
    let sleep = mean_sequence(&SLEEP).unwrap();
    assert_eq!(sleep.interval.direction(), Direction::Higher);
    assert!(sleep.e_value > 20.0 && close(sleep.p, 1.0 / sleep.e_value), "{sleep:?}");
    // Darwin's plants, p = 0.0497 for one look, do not decide when peeking was allowed.
    assert_eq!(mean_sequence(&MAIZE).unwrap().interval.direction(), Direction::Unresolved);
}

#[test]
fn blocks_without_variance_give_their_own_value_as_interval() {
    let none = mean_sequence(&[0.0; 12]).unwrap();
    assert_eq!((none.interval.lower, none.interval.upper), (0.0, 0.0));
    assert_eq!((none.interval.direction(), none.p), (Direction::Unresolved, 1.0));
    let shift = mean_sequence(&[0.25; 12]).unwrap();
    assert_eq!(shift.interval.direction(), Direction::Higher);
    assert!(close(shift.e_value, 13.0_f64.powf(5.5)));
}

#[test]
fn unfit_blocks_are_refused() {
    assert_eq!(mean_sequence(&[0.1; 9]), Err(DataError::TooFew { needed: 10, found: 9 }));
    let mut broken = [0.1; 10];
    broken[3] = f64::NAN;
    assert_eq!(mean_sequence(&broken), Err(DataError::NotFinite { index: 3 }));
    assert_eq!(mean_sequence(&[1e300, -1e300].repeat(5)), Err(DataError::OutOfRange));
}

fn blocks() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0_f64, 10..80)
}

proptest! {
    #[test]
    fn interval_and_e_value_say_the_same(values in blocks(), shift in -1.0..1.0_f64) {
        let shifted: Vec<f64> = values.iter().map(|value| value + shift).collect();
        let result = mean_sequence(&shifted).unwrap();
        prop_assert!(result.interval.contains(result.mean));
        prop_assert!((0.0..=1.0).contains(&result.p));
        let decided = result.interval.direction() != Direction::Unresolved;
        prop_assert_eq!(decided, result.e_value > 20.0);
    }

    #[test]
    fn swapping_the_programs_mirrors_the_interval(values in blocks()) {
        let swapped: Vec<f64> = values.iter().map(|value| -value).collect();
        let (before, after) = (mean_sequence(&values).unwrap(), mean_sequence(&swapped).unwrap());
        prop_assert!(close(before.interval.lower, -after.interval.upper));
        prop_assert!(close(before.e_value, after.e_value));
    }

    #[test]
    fn neither_scale_nor_order_matters(
        values in blocks(),
        factor in 1e-6..1e6_f64,
        turn in 0_usize..80,
    ) {
        let mut other: Vec<f64> = values.iter().map(|value| value * factor).collect();
        other.rotate_left(turn % values.len());
        let (before, after) = (mean_sequence(&values).unwrap(), mean_sequence(&other).unwrap());
        prop_assert!((before.e_value / after.e_value - 1.0).abs() < 1e-9);
        prop_assert!((before.interval.upper * factor - after.interval.upper).abs() < 1e-9 * factor);
    }

    #[test]
    fn a_sequence_is_wider_than_an_interval_for_one_look(values in blocks()) {
        let sequence = mean_sequence(&values).unwrap().interval;
        let once = crate::fixed::t_interval(&values, CONFIDENCE).unwrap();
        prop_assert!(sequence.lower <= once.lower && once.upper <= sequence.upper);
    }
}
