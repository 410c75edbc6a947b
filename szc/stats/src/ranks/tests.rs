//! scipy's values, counts that can be checked by hand, symmetries.

use super::*;
use crate::calibration::data::{cases, close, number, numbers, same_digits};
use proptest::prelude::*;

#[test]
fn signed_rank_agrees_with_scipy() {
    for case in cases("ranks", "signed_rank") {
        let found = signed_rank(&numbers(&case["data"])).unwrap();
        assert_eq!(found.v, number(&case["v"]), "{case}: {found:?}");
        assert_eq!(found.exact, case["exact"].as_bool().unwrap(), "{case}: {found:?}");
        assert!(same_digits(found.p, number(&case["p"])), "{case}: {found:?}");
    }
}

#[test]
fn all_signs_are_counted() {
    assert_eq!(signed_rank_counts(3), [1, 1, 1, 2, 1, 1, 1]);
    assert_eq!(signed_rank_counts(50).iter().sum::<i128>(), 1 << 50);
}

#[test]
fn one_or_two_values_say_nothing() {
    assert_eq!(signed_rank(&[3.0]).unwrap().p, 1.0);
    assert_eq!(signed_rank(&[3.0, -2.0]).unwrap().p, 1.0);
}

#[test]
fn unfit_data_are_refused() {
    assert_eq!(signed_rank(&[0.0, -0.0]), Err(DataError::NoSpread));
    assert_eq!(signed_rank(&[f64::NEG_INFINITY]), Err(DataError::NotFinite { index: 0 }));
    assert_eq!(signed_rank(&[]), Err(DataError::TooFew { needed: 1, found: 0 }));
}

/// Values with ties as well as without.
fn list() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(-1.0..1.0_f64, 2..60),
        prop::collection::vec((-4..4_i32).prop_map(f64::from), 2..60),
    ]
}

proptest! {
    #[test]
    fn exchange_mirrors_the_signed_ranks(values in list(), turn in 0_usize..60) {
        prop_assume!(values.iter().any(|value| *value != 0.0));
        let found = signed_rank(&values).unwrap();
        let mut other: Vec<f64> = values.iter().map(|value| -value).collect();
        other.rotate_left(turn % values.len());
        let mirrored = signed_rank(&other).unwrap();
        let all = (found.count * (found.count + 1)) as f64 / 2.0;
        prop_assert!(close(found.v, all - mirrored.v));
        prop_assert!(close(found.p, mirrored.p) && (0.0..=1.0).contains(&found.p));
    }
}
