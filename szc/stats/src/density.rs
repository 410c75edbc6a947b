//! Kernel density estimate, for pictures: how densely values lie around each place.
//!
//! Gaussian kernel with the rule-of-thumb bandwidth of Silverman (1986, "Density estimation for
//! statistics and data analysis", equation 3.31), R's `bw.nrd0`. It smooths too much where there
//! are several peaks; the dots beside it show the values themselves.

use super::data::{DataError, check, is_constant};
use super::describe::{sorted, standard_deviation};
use super::quantile::type_7_of_sorted;

/// Beyond so many bandwidths a value adds less than 10⁻¹⁴ of its weight.
const REACH: f64 = 8.0;

/// Silverman's bandwidth: 0.9·min(s, interquartile range / 1.34)·n^(−1/5), in the unit of `values`.
///
/// # Errors
/// [`DataError`] below 2 values, for values that are not finite or do not vary.
pub fn bandwidth(values: &[f64]) -> Result<f64, DataError> {
    check(values, 2)?;
    if is_constant(values) {
        return Err(DataError::NoSpread);
    }
    let deviation = standard_deviation(values).unwrap_or_default();
    let ascending = sorted(values);
    let [lower, upper] = [0.25, 0.75].map(|share| type_7_of_sorted(&ascending, share));
    let quarters = (upper - lower) / 1.34;
    // More than half of the values may be equal.
    let spread = if quarters > 0.0 { deviation.min(quarters) } else { deviation };
    let width = 0.9 * spread * (values.len() as f64).powf(-0.2);
    if width.is_finite() && width > 0.0 { Ok(width) } else { Err(DataError::OutOfRange) }
}

/// The density at `places` ≥ 2 equally spaced places from the least to the greatest value,
/// ascending: place and density.
///
/// # Errors
/// As [`bandwidth`], and [`DataError::Parameter`] for fewer than 2 places.
pub fn density(values: &[f64], places: usize) -> Result<Vec<(f64, f64)>, DataError> {
    if places < 2 {
        return Err(DataError::Parameter("places"));
    }
    let width = bandwidth(values)?;
    let ascending = sorted(values);
    let (first, last) = (ascending[0], ascending[ascending.len() - 1]);
    let step = (last - first) / (places - 1) as f64;
    let factor = ((2.0 * std::f64::consts::PI).sqrt() * width * values.len() as f64).recip();
    Ok((0..places)
        .map(|index| {
            let place = if index + 1 == places { last } else { first + step * index as f64 };
            let start = ascending.partition_point(|value| *value < place - REACH * width);
            let near =
                ascending[start..].iter().take_while(|value| **value <= place + REACH * width);
            let weight: f64 =
                near.map(|value| (-0.5 * ((place - value) / width).powi(2)).exp()).sum();
            (place, factor * weight)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, close, number, numbers};
    use proptest::prelude::*;

    #[test]
    fn bandwidth_and_density_agree_with_scipy() {
        for case in cases("shape", "density") {
            let values = numbers(&case["data"]);
            assert!(close(bandwidth(&values).unwrap(), number(&case["bandwidth"])));
            let expected = numbers(&case["places"]).into_iter().zip(numbers(&case["density"]));
            let found = density(&values, 5).unwrap();
            for ((place, density), (expected_place, expected_density)) in found.iter().zip(expected)
            {
                assert!(
                    close(*place, expected_place) && close(*density, expected_density),
                    "{case}"
                );
            }
        }
    }

    #[test]
    fn values_without_spread_have_no_density() {
        assert_eq!(density(&[2.0; 9], 10), Err(DataError::NoSpread));
        assert_eq!(density(&[1.0], 10), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(density(&[1.0, 2.0], 1), Err(DataError::Parameter("places")));
    }

    #[test]
    fn half_equal_values_have_a_density() {
        let mut values = vec![1.0; 30];
        values.extend([2.0, 3.0]);
        assert!(density(&values, 20).unwrap().iter().all(|(_, density)| density.is_finite()));
    }

    proptest! {
        #[test]
        fn the_density_is_nowhere_negative_and_integrates_to_at_most_one(
            values in prop::collection::vec(-1e3_f64..1e3, 3..60)
        ) {
            prop_assume!(values.windows(2).any(|pair| pair[0] != pair[1]));
            let curve = density(&values, 2000).unwrap();
            let step = curve[1].0 - curve[0].0;
            let area: f64 = curve.iter().map(|(_, density)| density * step).sum();
            prop_assert!(curve.iter().all(|(_, density)| *density >= 0.0));
            // The ends are cut at the least and the greatest value.
            prop_assert!(area > 0.2 && area < 1.2, "{}", area);
        }
    }
}
