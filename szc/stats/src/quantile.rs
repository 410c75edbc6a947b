//! Quantiles of a sample, by definition 7 of Hyndman and Fan (1996), which R and numpy use.

use super::data::{DataError, check};
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
    fn unfit_data_and_probabilities_are_refused() {
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
