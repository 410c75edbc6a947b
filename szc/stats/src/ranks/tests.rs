//! scipy's values, counts that can be checked by hand, symmetries.

use super::*;
use crate::calibration::data::{cases, close, number, numbers, same_digits};
use proptest::prelude::*;

#[test]
fn mann_whitney_agrees_with_scipy() {
    for case in cases("ranks", "mann_whitney") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        if case["a"] == case["b"] {
            assert_eq!(mann_whitney(&a, &b).unwrap().p, 1.0);
        }
        let found = mann_whitney(&a, &b).unwrap();
        assert_eq!(found.u, number(&case["u"]), "{case}: {found:?}");
        assert_eq!(found.exact, case["exact"].as_bool().unwrap(), "{case}: {found:?}");
        assert!(same_digits(found.p, number(&case["p"])), "{case}: {found:?}");
    }
}

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
fn r_prints_the_same_for_students_patients() {
    // wilcox.test(extra ~ group, data = sleep): W = 25.5, p-value = 0.06933.
    let case = &cases("ranks", "mann_whitney")[1];
    let found = mann_whitney(&numbers(&case["a"]), &numbers(&case["b"])).unwrap();
    assert_eq!(format!("{} {:.5}", found.u, found.p), "25.5 0.06933");
}

#[test]
fn all_orders_and_all_signs_are_counted() {
    assert_eq!(rank_sum_counts(2, 2), [1, 1, 2, 1, 1]);
    assert_eq!(signed_rank_counts(3), [1, 1, 1, 2, 1, 1, 1]);
    // C(100, 50) and 2⁵⁰.
    let largest: i128 = rank_sum_counts(50, 50).iter().sum();
    assert_eq!(largest, 100_891_344_545_564_193_334_812_497_256);
    assert_eq!(signed_rank_counts(50).iter().sum::<i128>(), 1 << 50);
    assert!(rank_sum_counts(50, 50).iter().all(|count| *count > 0));
}

#[test]
fn a_single_value_on_each_side_says_nothing() {
    let found = mann_whitney(&[1.0], &[2.0]).unwrap();
    assert_eq!((found.u, found.p, found.exact), (0.0, 1.0, true));
    assert_eq!(signed_rank(&[3.0]).unwrap().p, 1.0);
    assert_eq!(signed_rank(&[3.0, -2.0]).unwrap().p, 1.0);
}

#[test]
fn unfit_data_are_refused() {
    assert_eq!(mann_whitney(&[], &[1.0]), Err(DataError::TooFew { needed: 1, found: 0 }));
    assert_eq!(mann_whitney(&[1.0, 1.0], &[1.0]), Err(DataError::NoSpread));
    assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), Err(DataError::NotFinite { index: 0 }));
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
    fn exchange_mirrors_the_rank_sum(a in list(), b in list(), factor in 1e-300..1e300_f64) {
        prop_assume!(a.iter().chain(&b).any(|value| *value != a[0]));
        let (found, mirrored) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
        prop_assert!(close(found.superiority, 1.0 - mirrored.superiority));
        prop_assert!(close(found.p, mirrored.p) && (0.0..=1.0).contains(&found.p));
        let larger = |values: &[f64]| values.iter().map(|value| value * factor).collect::<Vec<_>>();
        prop_assert_eq!(mann_whitney(&larger(&a), &larger(&b)).unwrap().p, found.p);
    }

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
