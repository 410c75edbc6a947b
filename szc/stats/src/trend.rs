//! Whether a series drifts, and how fast: Mann's test (1945) and the slope of Theil (1950) and Sen
//! (1968).
//!
//! Both use only pairs of values, so that single outliers do not matter. Time is the place in the
//! list, from 0.

use super::data::{DataError, check, finite, is_constant, ranks};
use super::fixed::{Interval, normal_quantile};
use super::tail::normal_two_sided;

/// Most values for which the distribution of the statistic is counted, if there are no ties.
pub const MAX_EXACT: usize = 50;

/// Most values: the pairs are kept in memory.
pub const MAX_VALUES: usize = 10_000;

/// Result of [`trend`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Pairs that rise less pairs that fall, Kendall's S.
    pub s: f64,
    /// Kendall's τ_b of the values with time, −1 to 1.
    pub tau: f64,
    /// Two-sided p of "the order of the values is random".
    pub p: f64,
    /// Whether the distribution was counted rather than approximated.
    pub exact: bool,
    /// Median slope over all pairs, in units a step.
    pub slope: f64,
    /// Sen's interval of the slope.
    pub interval: Interval,
}

/// Tests `values` for a monotone trend; interval with `confidence` in (0, 1).
///
/// # Errors
/// [`DataError`] below 3 or above [`MAX_VALUES`] values, for values that are not finite or do not
/// vary.
pub fn trend(values: &[f64], confidence: f64) -> Result<Trend, DataError> {
    check(values, 3)?;
    if values.len() > MAX_VALUES {
        return Err(DataError::TooMany { most: MAX_VALUES, found: values.len() });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    if is_constant(values) {
        return Err(DataError::NoSpread);
    }
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    let mut s = 0.0;
    for (place, value) in values.iter().enumerate() {
        for (steps, later) in (1_u32..).map(f64::from).zip(&values[place + 1..]) {
            // Divided first: the difference of the largest numbers overflows.
            slopes.push(later / steps - value / steps);
            s += f64::from(i8::from(later > value) - i8::from(later < value));
        }
    }
    let (_, ties) = ranks(values);
    let n = values.len() as f64;
    let weight = |size: f64| size * (size - 1.0) * (2.0 * size + 5.0);
    let tied: f64 = ties.iter().map(|size| weight(*size as f64)).sum();
    let variance = (weight(n) - tied) / 18.0;
    let exact = ties.len() == values.len() && values.len() <= MAX_EXACT;
    let p = if exact {
        counted_p(values.len(), s)
    } else {
        // Kendall (1975): S moves in steps of 2, hence a correction of 1.
        normal_two_sided((s.abs() - 1.0).max(0.0) / variance.sqrt())
    };
    let pairs = slopes.len() as f64;
    let tied_pairs: f64 = ties.iter().map(|size| (size * (size - 1)) as f64 / 2.0).sum();
    let reach = normal_quantile(f64::midpoint(1.0, confidence)) * variance.sqrt();
    Ok(Trend {
        s,
        tau: s / (pairs * (pairs - tied_pairs)).sqrt(),
        p,
        exact,
        slope: middle(&mut slopes)?,
        interval: slope_interval(&mut slopes, reach)?,
    })
}

fn middle(slopes: &mut [f64]) -> Result<f64, DataError> {
    let count = slopes.len();
    let upper = order_statistic(slopes, count / 2);
    let lower = order_statistic(slopes, (count - 1) / 2);
    finite(f64::midpoint(lower, upper))
}

/// Sen (1968), equation 2.6: the slopes at ranks (N ∓ reach)/2, rounded to the nearest even as
/// scipy does.
fn slope_interval(slopes: &mut [f64], reach: f64) -> Result<Interval, DataError> {
    let count = slopes.len() as f64;
    #[expect(clippy::cast_possible_truncation, reason = "a place in the list, clamped to it")]
    let place = |rank: f64| rank.clamp(0.0, count - 1.0) as usize;
    let low = place(((count - reach) / 2.0).round_ties_even() - 1.0);
    let high = place(((count + reach) / 2.0).round_ties_even());
    Ok(Interval {
        lower: finite(order_statistic(slopes, low))?,
        upper: finite(order_statistic(slopes, high))?,
    })
}

fn order_statistic(values: &mut [f64], place: usize) -> f64 {
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Two-sided p of S over all n! orders: the probabilities of each number of falling pairs (Kendall
/// 1938).
fn counted_p(count: usize, s: f64) -> f64 {
    let pairs = count * (count - 1) / 2;
    let mut probabilities = vec![0.0; pairs + 1];
    probabilities[0] = 1.0;
    let mut reached = 0;
    for size in 2..=count {
        let mut next = vec![0.0; pairs + 1];
        for (falls, probability) in probabilities[..=reached].iter().enumerate() {
            for more in 0..size {
                next[falls + more] += probability / size as f64;
            }
        }
        reached += size - 1;
        probabilities = next;
    }
    // S = pairs − 2·falls; the distribution is symmetric.
    let extreme: f64 = (0_u32..)
        .map(f64::from)
        .zip(&probabilities)
        .filter(|(falls, _)| pairs as f64 - 2.0 * falls >= s.abs())
        .map(|(_, probability)| probability)
        .sum();
    (2.0 * extreme).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{MAIZE, cases, close, number, numbers, same_digits};
    use proptest::prelude::*;

    #[test]
    fn statistic_and_slope_agree_with_scipy() {
        for case in cases("series", "trend") {
            let found = trend(&numbers(&case["data"]), 0.95).unwrap();
            assert_eq!(found.s, number(&case["s"]), "{case}: {found:?}");
            assert_eq!(found.exact, case["exact"].as_bool().unwrap(), "{case}: {found:?}");
            assert!(same_digits(found.p, number(&case["p"])), "{case}: {found:?}");
            assert!(close(found.tau, number(&case["tau"])), "{case}: {found:?}");
            assert!(close(found.slope, number(&case["slope"])), "{case}: {found:?}");
            assert!(close(found.interval.lower, number(&case["lower"])), "{case}: {found:?}");
            assert!(close(found.interval.upper, number(&case["upper"])), "{case}: {found:?}");
        }
    }

    #[test]
    fn four_rising_values_are_one_order_of_twenty_four() {
        assert!(close(counted_p(4, 6.0), 2.0 / 24.0));
        assert_eq!(counted_p(4, 0.0), 1.0);
    }

    #[test]
    fn unfit_series_are_refused() {
        assert_eq!(trend(&[1.0, 2.0], 0.95), Err(DataError::TooFew { needed: 3, found: 2 }));
        assert_eq!(trend(&[1.0; 5], 0.95), Err(DataError::NoSpread));
        assert_eq!(trend(&[1.0, 2.0, f64::INFINITY], 0.95), Err(DataError::NotFinite { index: 2 }));
        assert_eq!(trend(&MAIZE, 1.0), Err(DataError::Parameter("confidence")));
        let found = trend(&vec![0.0; MAX_VALUES + 1], 0.95);
        assert_eq!(found, Err(DataError::TooMany { most: MAX_VALUES, found: MAX_VALUES + 1 }));
        assert_eq!(trend(&[f64::MIN, f64::MAX, f64::MIN], 0.95), Err(DataError::OutOfRange));
    }

    proptest! {
        #[test]
        fn reversing_time_or_sign_mirrors_the_trend(
            values in prop_oneof![
                prop::collection::vec(-1.0..1.0_f64, 3..70),
                prop::collection::vec((-3..3_i32).prop_map(f64::from), 3..70),
            ],
            factor in 1e-3..1e3_f64,
        ) {
            prop_assume!(!is_constant(&values));
            let found = trend(&values, 0.95).unwrap();
            prop_assert!((0.0..=1.0).contains(&found.p) && found.tau.abs() <= 1.0 + 1e-12);
            let mut reversed = values.clone();
            reversed.reverse();
            let negated: Vec<f64> = values.iter().map(|value| -factor * value).collect();
            for (other, scale) in [(reversed, 1.0), (negated, factor)] {
                let mirrored = trend(&other, 0.95).unwrap();
                prop_assert_eq!(mirrored.s, -found.s);
                prop_assert_eq!(mirrored.p, found.p);
                prop_assert!((mirrored.slope + found.slope * scale).abs() < 1e-9 * scale);
            }
            prop_assert!(found.interval.contains(found.slope));
        }
    }
}
