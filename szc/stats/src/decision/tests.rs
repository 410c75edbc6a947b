//! The decision table row by row, and symmetry of the verdicts.

use super::*;
use crate::family::{Question, family};
use proptest::prelude::*;

fn estimate(lower: f64, upper: f64) -> Estimate {
    Estimate {
        rule: Rule::Fixed,
        mean: f64::midpoint(lower, upper),
        standard_deviation: 0.02,
        blocks: 10,
        layouts: 1000,
        interval: Interval { lower, upper },
        alpha: 0.05,
    }
}

fn one_percent() -> Tolerance {
    Tolerance::new(0.01).unwrap()
}

#[test]
fn compare_names_a_difference_before_it_calls_it_tolerable() {
    assert_eq!(compare(&estimate(0.001, 0.002), one_percent()), Comparison::Slower);
    assert_eq!(compare(&estimate(-0.002, -0.001), one_percent()), Comparison::Faster);
}

#[test]
fn compare_calls_equivalent_only_what_lies_within_both_bounds() {
    assert_eq!(compare(&estimate(-0.009, 0.009), one_percent()), Comparison::Equivalent);
    for (lower, upper) in [(-0.011, 0.009), (-0.009, 0.011), (-0.5, 0.5)] {
        let verdict = compare(&estimate(lower, upper), one_percent());
        assert!(matches!(verdict, Comparison::Unresolved { .. }), "{verdict:?}");
    }
}

#[test]
fn few_layouts_show_a_difference_but_not_that_there_is_none() {
    // ln 0.05 / ln(1 − ln 1.01/ln 1.5) = 120.6.
    assert_eq!(one_percent().min_layouts(), 121);
    let of = |layouts, lower, upper| Estimate { layouts, ..estimate(lower, upper) };
    let few = Comparison::Unresolved { blocks_needed: 61 };
    assert_eq!(compare(&of(20, -0.009, 0.009), one_percent()), few);
    assert_eq!(compare(&of(121, -0.009, 0.009), one_percent()), Comparison::Equivalent);
    assert_eq!(compare(&of(20, 0.001, 0.009), one_percent()), Comparison::Slower);
    let open = Gate::Inconclusive { blocks_needed: 61 };
    assert_eq!(gate(&of(20, -0.01, 0.009), one_percent()), open);
    assert_eq!(gate(&of(121, -0.01, 0.009), one_percent()), Gate::Pass { slower: false });
    assert_eq!(gate(&of(20, 0.011, 0.02), one_percent()), Gate::Fail);
}

#[test]
fn who_knows_that_no_layout_is_slow_needs_fewer() {
    let mild = one_percent().with_slowest_layout(1.05).unwrap();
    assert!(mild.min_layouts() < 20, "{mild:?}");
    let passed = gate(&Estimate { layouts: 20, ..estimate(-0.01, 0.009) }, mild);
    assert_eq!(passed, Gate::Pass { slower: false });
    for wrong in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        let refused = one_percent().with_slowest_layout(wrong);
        assert_eq!(refused, Err(DataError::Parameter("slowest layout")));
    }
}

#[test]
fn rounding_is_no_difference() {
    assert_eq!(compare(&estimate(2e-17, 2e-17), one_percent()), Comparison::Equivalent);
    assert_eq!(compare(&estimate(-2e-17, -2e-17), one_percent()), Comparison::Equivalent);
}

#[test]
fn gate_decides_by_the_side_of_the_tolerance() {
    assert_eq!(gate(&estimate(-0.01, 0.009), one_percent()), Gate::Pass { slower: false });
    assert_eq!(gate(&estimate(0.001, 0.009), one_percent()), Gate::Pass { slower: true });
    assert_eq!(gate(&estimate(-0.5, -0.4), one_percent()), Gate::Pass { slower: false });
    assert_eq!(gate(&estimate(0.011, 0.02), one_percent()), Gate::Fail);
    assert!(matches!(gate(&estimate(0.009, 0.02), one_percent()), Gate::Inconclusive { .. }));
}

#[test]
fn an_interval_without_ends_decides_nothing() {
    let open = estimate(f64::NEG_INFINITY, f64::INFINITY);
    assert!(matches!(compare(&open, one_percent()), Comparison::Unresolved { .. }));
    assert!(matches!(gate(&open, one_percent()), Gate::Inconclusive { .. }));
    let nothing = estimate(f64::NAN, f64::NAN);
    assert!(matches!(compare(&nothing, one_percent()), Comparison::Unresolved { .. }));
    assert!(matches!(gate(&nothing, one_percent()), Gate::Inconclusive { .. }));
}

#[test]
fn blocks_needed_follow_the_formula_until_they_are_spent() {
    // ((z.975 + z.8)·0.02/ln 1.01)² = 31.7, as scipy says in the tests of the fixed rule.
    let few = compare(&estimate(-0.02, 0.02), one_percent());
    assert_eq!(few, Comparison::Unresolved { blocks_needed: 32 });
    let mut spent = estimate(-0.001, 0.011);
    spent.blocks = 50;
    // The larger distance is 0.005 from 0: ((z.975 + z.8)·0.02/0.005)² = 125.6.
    assert_eq!(compare(&spent, one_percent()), Comparison::Unresolved { blocks_needed: 126 });
}

#[test]
fn tolerances_are_positive_numbers() {
    for wrong in [0.0, -0.01, f64::NAN, f64::INFINITY, 1e-320_f64 * 1e-10] {
        assert_eq!(Tolerance::new(wrong), Err(DataError::Parameter("tolerance")));
    }
    assert_eq!(one_percent().log_bound(), 0.01_f64.ln_1p());
}

proptest! {
    #[test]
    fn swapping_the_programs_swaps_the_verdict(
        values in prop::collection::vec(-0.02..0.03_f64, 10..60),
    ) {
        let swapped: Vec<f64> = values.iter().map(|value| -value).collect();
        for rule in [Rule::Fixed, Rule::Sequential] {
            let question = Question { rule, layouts_per_block: 2 };
            let estimates = [&values, &swapped]
                .map(|list| family(&question, &[(list, 0.0)]).unwrap().unwrap()[0].estimate);
            let [one, other] = estimates;
            let mirrored = match compare(&other, one_percent()) {
                Comparison::Faster => Comparison::Slower,
                Comparison::Slower => Comparison::Faster,
                same => same,
            };
            let verdict = compare(&one, one_percent());
            match (verdict, mirrored) {
                (
                    Comparison::Unresolved { blocks_needed: a },
                    Comparison::Unresolved { blocks_needed: b },
                ) => {
                    prop_assert!(a.abs_diff(b) <= 1 && a > values.len() as u64);
                }
                _ => prop_assert_eq!(verdict, mirrored),
            }
        }
    }
}
