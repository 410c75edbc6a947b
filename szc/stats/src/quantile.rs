//! Quantiles of a sample.
//!
//! [`type_7`] is the one of Hyndman and Fan (1996) that R and numpy use; [`harrell_davis`] (1982)
//! averages all order statistics, which varies less from sample to sample and does not jump.

use statrs::function::beta::beta_reg;

use super::data::{DataError, check, finite};
use super::describe::sorted;

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

/// Harrell and Davis' estimator of one quantile for samples of one size.
///
/// Each order statistic is weighted with the probability that it is the quantile, by the
/// distribution Beta((n+1)p, (n+1)(1−p)). The weights depend on size and probability alone: a
/// bootstrap makes them once.
#[derive(Clone, Debug, PartialEq)]
pub struct HarrellDavis {
    weights: Vec<f64>,
}

impl HarrellDavis {
    /// For samples of `count` values and the quantile at `probability` in (0, 1).
    ///
    /// # Errors
    /// [`DataError`] for a count of 0 or a probability out of range.
    pub fn new(count: usize, probability: f64) -> Result<Self, DataError> {
        if count == 0 {
            return Err(DataError::TooFew { needed: 1, found: 0 });
        }
        if !(probability > 0.0 && probability < 1.0) {
            return Err(DataError::Parameter("probability"));
        }
        let n = count as f64;
        let (a, b) = ((n + 1.0) * probability, (n + 1.0) * (1.0 - probability));
        let mut below = 0.0;
        let weights = (1..=count).map(|rank| {
            let upto = beta_reg(a, b, rank as f64 / n);
            upto - std::mem::replace(&mut below, upto)
        });
        Ok(Self { weights: weights.collect() })
    }

    /// The estimate from a sample of that size.
    ///
    /// # Errors
    /// [`DataError`] for a sample of another size or values that are not finite.
    pub fn estimate(&self, values: &[f64]) -> Result<f64, DataError> {
        check(values, 0)?;
        if values.len() != self.weights.len() {
            return Err(DataError::UnequalLengths);
        }
        finite(self.weights.iter().zip(sorted(values)).map(|(weight, value)| weight * value).sum())
    }
}

/// Harrell and Davis' estimate of the quantile at `probability` in (0, 1).
///
/// # Errors
/// [`DataError`] for an empty list, values that are not finite, or a probability out of range.
pub fn harrell_davis(values: &[f64], probability: f64) -> Result<f64, DataError> {
    HarrellDavis::new(values.len(), probability)?.estimate(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{SLEEP, cases, close, number, numbers};
    use crate::describe::median;
    use proptest::prelude::*;

    #[test]
    fn both_agree_with_numpy_and_scipy() {
        for case in cases("ranks", "quantiles") {
            let (values, p) = (numbers(&case["data"]), number(&case["p"]));
            let found = type_7(&values, p).unwrap();
            assert!(close(found, number(&case["type_7"])), "{case}: {found}");
            if !case["harrell_davis"].is_null() {
                let found = harrell_davis(&values, p).unwrap();
                assert!(close(found, number(&case["harrell_davis"])), "{case}: {found}");
            }
        }
    }

    #[test]
    fn one_value_is_every_quantile() {
        assert_eq!(type_7(&[7.0], 0.3), Ok(7.0));
        assert!(close(harrell_davis(&[7.0], 0.3).unwrap(), 7.0));
        assert_eq!(type_7(&[f64::MIN, f64::MAX], 0.5), Ok(0.0));
    }

    #[test]
    fn unfit_data_and_probabilities_are_refused() {
        assert_eq!(type_7(&[], 0.5), Err(DataError::TooFew { needed: 1, found: 0 }));
        assert_eq!(type_7(&[f64::NAN], 0.5), Err(DataError::NotFinite { index: 0 }));
        assert_eq!(type_7(&SLEEP, 1.5), Err(DataError::Parameter("probability")));
        assert_eq!(harrell_davis(&SLEEP, 1.0), Err(DataError::Parameter("probability")));
        assert_eq!(
            HarrellDavis::new(3, 0.5).unwrap().estimate(&[1.0]),
            Err(DataError::UnequalLengths)
        );
        assert_eq!(harrell_davis(&[f64::NAN], 0.5), Err(DataError::NotFinite { index: 0 }));
        assert_eq!(harrell_davis(&SLEEP, f64::NAN), Err(DataError::Parameter("probability")));
    }

    proptest! {
        #[test]
        fn quantiles_rise_with_the_probability_and_stay_within_the_data(
            values in prop::collection::vec(-1.0..1.0_f64, 1..50),
            p in 0.01..0.99_f64,
            q in 0.01..0.99_f64,
        ) {
            let ascending = sorted(&values);
            for estimate in [type_7, harrell_davis] {
                let low = estimate(&values, p.min(q)).unwrap();
                let high = estimate(&values, p.max(q)).unwrap();
                prop_assert!(low <= high + 1e-12);
                prop_assert!(ascending[0] - 1e-12 <= low);
                prop_assert!(high <= ascending[values.len() - 1] + 1e-12);
            }
            prop_assert!(close(type_7(&values, 0.5).unwrap(), median(&values).unwrap()));
        }
    }
}
