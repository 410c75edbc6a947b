//! What a sample looks like: values far from the rest, and its line against the normal
//! distribution.
//!
//! Both are for the eye. Outliers are counted and reported, never dropped: a layout that is ten
//! times slower than the others is a finding.

use statrs::distribution::{Beta, ContinuousCDF};

use super::data::{DataError, check};
use super::describe::sorted;
use super::fixed::normal_quantile;
use super::quantile::type_7_of_sorted;

/// Values outside the fences of Tukey (1977, "Exploratory data analysis", section 2D): quartiles ∓
/// 1.5 and 3 times the distance between them. Nearly 0.7 % of normal values are outside the inner
/// ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outliers {
    /// Below the lower outer fence.
    pub far_low: usize,
    /// Between the lower fences.
    pub low: usize,
    /// Between the upper fences.
    pub high: usize,
    /// Above the upper outer fence.
    pub far_high: usize,
}

impl Outliers {
    /// All values outside the inner fences.
    #[must_use]
    pub fn count(&self) -> usize {
        self.far_low + self.low + self.high + self.far_high
    }
}

/// Counts the outliers among `values`; quartiles by definition 7.
///
/// # Errors
/// [`DataError`] for an empty list or values that are not finite.
pub fn outliers(values: &[f64]) -> Result<Outliers, DataError> {
    check(values, 1)?;
    let ascending = sorted(values);
    let [lower, upper] = [0.25, 0.75].map(|share| type_7_of_sorted(&ascending, share));
    let spread = upper - lower;
    let mut found = Outliers::default();
    for value in ascending {
        if value < lower - 3.0 * spread {
            found.far_low += 1;
        } else if value < lower - 1.5 * spread {
            found.low += 1;
        } else if value > upper + 3.0 * spread {
            found.far_high += 1;
        } else if value > upper + 1.5 * spread {
            found.high += 1;
        }
    }
    Ok(found)
}

/// The points of a normal QQ plot, ascending: the normal quantile that a value of this rank is
/// expected at, and the value. Plotting positions of Blom (1958) up to ten values and of Hazen
/// (1914) above, as in R's `qqnorm`.
///
/// # Errors
/// [`DataError`] for an empty list or values that are not finite.
pub fn qq_points(values: &[f64]) -> Result<Vec<(f64, f64)>, DataError> {
    check(values, 1)?;
    let n = values.len() as f64;
    let offset = if values.len() <= 10 { 0.375 } else { 0.5 };
    let position = |rank: usize| (rank as f64 - offset) / (n + 1.0 - 2.0 * offset);
    let ranked = (1..).zip(sorted(values));
    Ok(ranked.map(|(rank, value)| (normal_quantile(position(rank)), value)).collect())
}

/// The line of a QQ plot through the quartiles of the points, as R's `qqline`: intercept and slope.
///
/// # Errors
/// [`DataError`] below 2 values or for values that are not finite.
pub fn qq_line(values: &[f64]) -> Result<[f64; 2], DataError> {
    check(values, 2)?;
    let ascending = sorted(values);
    let [lower, upper] = [0.25, 0.75].map(|share| type_7_of_sorted(&ascending, share));
    let quartile = normal_quantile(0.75);
    let slope = (upper - lower) / (2.0 * quartile);
    Ok([lower + slope * quartile, slope])
}

/// For each rank of `count` normal values, the normal quantiles between which the value of that
/// rank lies with probability `confidence` in (0, 1): those of the beta distribution of an order
/// statistic (David and Nagaraja 2003, "Order statistics", section 2.1). Each rank by itself, not
/// all at once.
///
/// # Errors
/// [`DataError::Parameter`] for a confidence outside (0, 1).
pub fn qq_band(count: usize, confidence: f64) -> Result<Vec<(f64, f64)>, DataError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    let tail = (1.0 - confidence) / 2.0;
    (1..=count)
        .map(|rank| {
            let order = Beta::new(rank as f64, (count - rank + 1) as f64)
                .map_err(|_| DataError::OutOfRange)?;
            let [lower, upper] =
                [tail, 1.0 - tail].map(|share| normal_quantile(order.inverse_cdf(share)));
            Ok((lower, upper))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{MAIZE, SLEEP, cases, close, numbers};
    use proptest::prelude::*;

    #[test]
    fn the_two_sickly_plants_of_darwin_are_outliers() {
        // Quartiles 11 and 45: fences at -40, 96 and -91, 147.
        let maize = Outliers { low: 2, ..Outliers::default() };
        assert_eq!(outliers(&MAIZE), Ok(maize));
        // Quartiles 1.05 and 1.7: 4.6 is more than three times 0.65 above, 0 is 1.6 times below.
        let sleep = outliers(&SLEEP).unwrap();
        assert_eq!(sleep, Outliers { low: 1, far_high: 1, ..Outliers::default() });
        assert_eq!(sleep.count(), 2);
    }

    #[test]
    fn points_agree_with_scipy() {
        for case in cases("ranks", "normal_scores") {
            let count = usize::try_from(case["n"].as_u64().unwrap()).unwrap();
            let points = qq_points(&vec![2.5; count]).unwrap();
            let expected = numbers(&case["scores"]);
            assert_eq!(points.len(), expected.len());
            for ((score, value), expected) in points.iter().zip(expected) {
                assert!(close(*score, expected) && *value == 2.5, "{case}: {score}");
            }
        }
    }

    #[test]
    fn the_line_goes_through_the_quartiles() {
        // Quartiles 1.05 and 1.7 of the hours of sleep, 1.375 apart in the middle.
        let [intercept, slope] = qq_line(&SLEEP).unwrap();
        assert!(close(intercept, 1.375) && close(slope, 0.65 / 1.348_979_500_392_163_4));
    }

    #[test]
    fn bands_agree_with_scipy() {
        for case in cases("shape", "band") {
            let count = usize::try_from(case["n"].as_u64().unwrap()).unwrap();
            let band = qq_band(count, 0.95).unwrap();
            let ends = [numbers(&case["lower"]), numbers(&case["upper"])];
            assert_eq!(band.len(), ends[0].len());
            for (index, (lower, upper)) in band.into_iter().enumerate() {
                assert!(close(lower, ends[0][index]), "{count} {index}: {lower}");
                assert!(close(upper, ends[1][index]), "{count} {index}: {upper}");
            }
        }
        assert!(qq_band(5, 1.0).is_err());
    }

    #[test]
    fn equal_values_have_no_outliers_and_unfit_ones_are_refused() {
        assert_eq!(outliers(&[3.0; 9]).unwrap().count(), 0);
        assert_eq!(outliers(&[]), Err(DataError::TooFew { needed: 1, found: 0 }));
        assert_eq!(outliers(&[f64::NAN]), Err(DataError::NotFinite { index: 0 }));
        assert_eq!(qq_points(&[]), Err(DataError::TooFew { needed: 1, found: 0 }));
    }

    proptest! {
        #[test]
        fn mirrored_values_have_mirrored_outliers_and_points(
            roots in prop::collection::vec(-40..40_i32, 1..60),
        ) {
            let values: Vec<f64> = roots.iter().map(|root| f64::from(*root).powi(3)).collect();
            let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
            let (one, other) = (outliers(&values).unwrap(), outliers(&mirrored).unwrap());
            let swapped = Outliers {
                far_low: other.far_high,
                low: other.high,
                high: other.low,
                far_high: other.far_low,
            };
            prop_assert_eq!(one, swapped);
            let (points, mut turned) = (qq_points(&values).unwrap(), qq_points(&mirrored).unwrap());
            turned.reverse();
            prop_assert!(points.iter().zip(&turned).all(|(a, b)| close(a.0, -b.0) && a.1 == -b.1));
        }
    }
}
