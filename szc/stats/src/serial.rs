//! Whether neighbouring blocks resemble each other: lag-1 autocorrelation.
//!
//! Every interval of this folder takes blocks for independent. The order of A and B within a block
//! is drawn at random so that they are, even on a machine that drifts; this diagnostic says so
//! after the fact.

use super::data::{DataError, check, is_constant, scale_of, times};
use super::describe::mean;
use super::tail::normal_two_sided;

/// Result of [`lag_1_autocorrelation`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autocorrelation {
    /// Σ(xᵢ − x̄)(xᵢ₊₁ − x̄) / Σ(xᵢ − x̄)², about −1/n for independent values.
    pub coefficient: f64,
    /// Two-sided p of "the values are independent", by the normal approximation.
    pub p: f64,
}

/// Correlation of each value with the next one, in the order of `values`.
///
/// The moments under independence are those of Moran (1948, "Some theorems on time series II"),
/// exact for normal values: mean −1/n, variance (n−2)²/(n²(n−1)).
///
/// # Errors
/// [`DataError`] below 3 values, for values that are not finite or do not vary.
pub fn lag_1_autocorrelation(values: &[f64]) -> Result<Autocorrelation, DataError> {
    check(values, 3)?;
    if is_constant(values) {
        return Err(DataError::NoSpread);
    }
    let scaled = times(values, scale_of(&[values]));
    let center = mean(&scaled).unwrap_or_default();
    let centered: Vec<f64> = scaled.iter().map(|value| value - center).collect();
    let distances = times(&centered, scale_of(&[&centered]));
    let squares: f64 = distances.iter().map(|value| value * value).sum();
    let products: f64 = distances.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares == 0.0 {
        return Err(DataError::NoSpread);
    }
    let coefficient = products / squares;
    let n = values.len() as f64;
    let deviation = (n - 2.0) / (n * (n - 1.0).sqrt());
    Ok(Autocorrelation { coefficient, p: normal_two_sided((coefficient + 1.0 / n) / deviation) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{SLEEP, cases, close, number, numbers};
    use crate::random::Draws;
    use proptest::prelude::*;

    #[test]
    fn the_coefficient_agrees_with_statsmodels() {
        for case in cases("series", "autocorrelation") {
            let found = lag_1_autocorrelation(&numbers(&case["data"])).unwrap();
            assert!(close(found.coefficient, number(&case["r1"])), "{case}: {found:?}");
        }
    }

    #[test]
    fn the_floods_of_the_nile_depend_on_the_year_before() {
        let nile = lag_1_autocorrelation(&numbers(&cases("series", "autocorrelation")[0]["data"]))
            .unwrap();
        assert!(nile.p < 1e-5, "{nile:?}");
        assert!(lag_1_autocorrelation(&SLEEP).unwrap().p > 0.5);
    }

    #[test]
    fn the_moments_are_those_of_shuffled_values() {
        // Any order of the same values is independent; the mean −1/n holds exactly.
        let mut values: Vec<f64> = (0..20).map(|i| (f64::from(i) + 0.5) / 20.0).collect();
        let mut draws = Draws::new(11);
        let (mut sum, mut rejected) = (0.0, 0);
        for _ in 0..20_000 {
            draws.shuffle(&mut values);
            let found = lag_1_autocorrelation(&values).unwrap();
            sum += found.coefficient;
            rejected += i32::from(found.p < 0.05);
        }
        // Standard error of the mean: 0.21/√20000 = 0.0015.
        assert!((sum / 20_000.0 + 0.05).abs() < 0.0045, "{}", sum / 20_000.0);
        assert!((800..1200).contains(&rejected), "{rejected} of 20000");
    }

    #[test]
    fn unfit_series_are_refused() {
        let test = lag_1_autocorrelation;
        assert_eq!(test(&[1.0, 2.0]), Err(DataError::TooFew { needed: 3, found: 2 }));
        assert_eq!(test(&[1.0; 5]), Err(DataError::NoSpread));
        assert_eq!(test(&[1.0, f64::NAN, 2.0]), Err(DataError::NotFinite { index: 1 }));
    }

    proptest! {
        #[test]
        fn neither_scale_nor_direction_of_time_matters(
            values in prop::collection::vec(-1.0..1.0_f64, 3..50),
            power in -290_i32..290,
        ) {
            let found = lag_1_autocorrelation(&values).unwrap();
            prop_assert!((0.0..=1.0).contains(&found.p) && found.coefficient.abs() <= 1.0);
            let mut other = times(&values, -(10.0_f64.powi(power)));
            other.reverse();
            let other = lag_1_autocorrelation(&other).unwrap();
            prop_assert!(close(other.coefficient, found.coefficient));
        }
    }
}
