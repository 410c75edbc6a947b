//! Quantiles of a sample, by definition 7 of Hyndman and Fan (1996), which R and numpy use, and
//! intervals of those of the population.
//!
//! The intervals are between order statistics and assume nothing but independent values. For one
//! look they are exact (Conover, "Practical nonparametric statistics", section 3.2). For every look
//! they are those quantiles that a mixture of likelihood ratios does not reject: the number of
//! values up to the p-quantile is binomial, and k of n have the e-value
//! B(k+1, n−k+1) / (pᵏ·(1−p)ⁿ⁻ᵏ), with a uniform prior over the probability (Robbins 1970,
//! "Statistical methods related to the law of the iterated logarithm"; Howard and Ramdas 2022,
//! "Sequential estimation of quantiles").

use statrs::function::factorial::ln_binomial;

use super::data::{DataError, check};
use super::describe::sorted;
use super::planning::Rule;

/// The quantile at `probability` in [0, 1], linear between order statistics (definition 7).
///
/// # Errors
/// [`DataError`] for an empty list, values that are not finite, or a probability out of range.
pub fn type_7(values: &[f64], probability: f64) -> Result<f64, DataError> {
    check(values, 1)?;
    if !(0.0..=1.0).contains(&probability) {
        return Err(DataError::Parameter("probability"));
    }
    Ok(type_7_of_sorted(&sorted(values), probability))
}

/// The same, of values in ascending order: at least one, and `probability` in [0, 1].
pub(super) fn type_7_of_sorted(ascending: &[f64], probability: f64) -> f64 {
    let place = probability * (ascending.len() - 1) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "a place in the list")]
    let below = place.floor() as usize;
    let share = place - place.floor();
    let above = (below + 1).min(ascending.len() - 1);
    // Not as a sum and a difference, which could overflow or miss an end by rounding.
    if share == 0.0 {
        ascending[below]
    } else {
        ascending[below] * (1.0 - share) + ascending[above] * share
    }
}

/// An interval of a quantile. An end is open while there are too few values for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileInterval {
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// Interval of the quantile at `probability` in (0, 1) that misses with at most `alpha` in (0, 1):
/// for one look, or at all looks together, as the rule says.
///
/// # Errors
/// [`DataError`] for an empty list, values that are not finite, or a parameter out of range.
pub fn interval(
    rule: Rule,
    values: &[f64],
    probability: f64,
    alpha: f64,
) -> Result<QuantileInterval, DataError> {
    check(values, 1)?;
    let inside = |share: f64| share > 0.0 && share < 1.0;
    if !(inside(probability) && inside(alpha)) {
        return Err(DataError::Parameter("probability"));
    }
    let (lower, upper) = ranks(rule, values.len(), probability, alpha);
    let ascending = sorted(values);
    Ok(QuantileInterval {
        lower: lower.map(|rank| ascending[rank - 1]),
        upper: upper.map(|rank| ascending[rank - 1]),
    })
}

/// Fewest values for which the interval at those parameters has an upper end.
#[must_use]
pub fn values_for_upper_end(rule: Rule, probability: f64, alpha: f64) -> usize {
    let has_end = |count: &usize| ranks(rule, *count, probability, alpha).1.is_some();
    (1..).find(has_end).unwrap_or(usize::MAX)
}

/// Ranks of the ends, from 1.
fn ranks(rule: Rule, count: usize, p: f64, alpha: f64) -> (Option<usize>, Option<usize>) {
    let ln_likelihood = |k: usize| k as f64 * p.ln() + (count - k) as f64 * (-p).ln_1p();
    let ln_ways = |k: usize| ln_binomial(count as u64, k as u64);
    match rule {
        Rule::Fixed => {
            let chance = |k: usize| (ln_ways(k) + ln_likelihood(k)).exp();
            let within = |sum: &mut f64, k: usize| {
                *sum += chance(k);
                Some(*sum).filter(|sum| *sum <= alpha / 2.0)
            };
            // At most k − 1 values below, at least k values above.
            let below = (0..=count).scan(0.0, within).count();
            let above = (0..=count).rev().scan(0.0, within).count();
            let rank = |number: usize| Some(number).filter(|rank| (1..=count).contains(rank));
            (rank(below), rank(count + 1 - above))
        }
        Rule::Sequential => {
            let ln_e = |k: usize| -((count + 1) as f64).ln() - ln_ways(k) - ln_likelihood(k);
            let kept = |k: &usize| ln_e(*k) < -alpha.ln();
            let least = (0..=count).find(kept).filter(|rank| *rank > 0);
            let most = (0..=count).rev().find(kept).filter(|rank| *rank < count);
            (least, most.map(|rank| rank + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{SLEEP, cases, close, number, numbers};
    use crate::describe::median;
    use proptest::prelude::*;

    #[test]
    fn quantiles_agree_with_numpy() {
        for case in cases("ranks", "quantiles") {
            let (values, p) = (numbers(&case["data"]), number(&case["p"]));
            let found = type_7(&values, p).unwrap();
            assert!(close(found, number(&case["type_7"])), "{case}: {found}");
        }
    }

    #[test]
    fn one_value_is_every_quantile() {
        assert_eq!(type_7(&[7.0], 0.3), Ok(7.0));
        assert_eq!(type_7(&[f64::MIN, f64::MAX], 0.5), Ok(0.0));
    }

    #[test]
    fn intervals_of_the_median_for_one_look_are_sign_intervals() {
        for count in 6..60 {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let found = interval(Rule::Fixed, &values, 0.5, 0.05).unwrap();
            let expected = crate::fixed::sign_interval(&values, 0.95).unwrap().interval;
            assert_eq!((found.lower, found.upper), (Some(expected.lower), Some(expected.upper)));
        }
    }

    #[test]
    fn ranks_of_other_quantiles_agree_with_scipy() {
        // scipy.stats.binom.cdf: the largest l with cdf(l − 1) ≤ 0.025, the least u with
        // sf(u − 1) ≤ 0.025.
        assert_eq!(ranks(Rule::Fixed, 40, 0.9, 0.05), (Some(32), Some(40)));
        assert_eq!(ranks(Rule::Fixed, 100, 0.9, 0.05), (Some(84), Some(96)));
        assert_eq!(ranks(Rule::Fixed, 20, 0.9, 0.05), (Some(15), None));
        assert_eq!(ranks(Rule::Fixed, 30, 0.25, 0.05), (Some(3), Some(13)));
    }

    #[test]
    fn an_open_end_closes_with_more_values() {
        // 1 − 0.9ⁿ reaches 0.975 at n = 36; 0.9⁻ⁿ/(n + 1) reaches 20 at n = 69.
        assert_eq!(values_for_upper_end(Rule::Fixed, 0.9, 0.05), 36);
        assert_eq!(values_for_upper_end(Rule::Sequential, 0.9, 0.05), 69);
        let values: Vec<f64> = (0..69).map(f64::from).collect();
        let found = interval(Rule::Sequential, &values, 0.9, 0.05).unwrap();
        assert_eq!(found.upper, Some(68.0));
        assert!(found.lower.unwrap() < 62.0);
        assert_eq!(interval(Rule::Sequential, &values[..68], 0.9, 0.05).unwrap().upper, None);
    }

    #[test]
    fn unfit_data_and_probabilities_are_refused() {
        assert_eq!(
            interval(Rule::Fixed, &SLEEP, 1.0, 0.05),
            Err(DataError::Parameter("probability"))
        );
        assert_eq!(type_7(&[], 0.5), Err(DataError::TooFew { needed: 1, found: 0 }));
        assert_eq!(type_7(&[f64::NAN], 0.5), Err(DataError::NotFinite { index: 0 }));
        assert_eq!(type_7(&SLEEP, 1.5), Err(DataError::Parameter("probability")));
    }

    proptest! {
        #[test]
        fn quantiles_rise_with_the_probability_and_stay_within_the_data(
            values in prop::collection::vec(-1.0..1.0_f64, 1..50),
            p in 0.01..0.99_f64,
            q in 0.01..0.99_f64,
        ) {
            let ascending = sorted(&values);
            let low = type_7(&values, p.min(q)).unwrap();
            let high = type_7(&values, p.max(q)).unwrap();
            prop_assert!(low <= high + 1e-12);
            prop_assert!(ascending[0] - 1e-12 <= low);
            prop_assert!(high <= ascending[values.len() - 1] + 1e-12);
            prop_assert!(close(type_7(&values, 0.5).unwrap(), median(&values).unwrap()));
        }
    }
}
