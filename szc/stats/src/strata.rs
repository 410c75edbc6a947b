//! The same question asked in several strata, such as on several machines: one answer in which
//! every stratum counts the same, and whether the strata agree.
//!
//! The mean of the strata's means has the variance Σ s²/n / b²; its degrees of freedom are
//! Satterthwaite's (1946). Agreement is tested by Welch's analysis of variance for unequal
//! variances (Welch 1951, "On the comparison of several mean values: an alternative approach").

use super::data::{DataError, check, finite, is_constant, scale_of, times};
use super::describe::{mean, standard_deviation};
use super::fixed::{Interval, student_t_quantile};
use super::tail::{f_upper, student_t_two_sided};

/// Result of [`stratified`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stratified {
    /// Mean of the strata's means, in the unit of the data.
    pub mean: f64,
    /// Its interval.
    pub interval: Interval,
    /// The mean in standard errors.
    pub t: f64,
    /// Degrees of freedom, seldom whole.
    pub degrees_of_freedom: f64,
    /// Two-sided p of "the mean is 0".
    pub p: f64,
    /// Whether the strata agree.
    pub agreement: Agreement,
}

/// Welch's analysis of variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// F.
    pub f: f64,
    /// b − 1, and those of the error, seldom whole.
    pub degrees_of_freedom: [f64; 2],
    /// p of "all strata have the same mean".
    pub p: f64,
}

/// The mean over two or more strata; interval with `confidence` in (0, 1).
///
/// # Errors
/// [`DataError`] below two strata or two values in one, for values that are not finite, or if a
/// stratum does not vary.
pub fn stratified(strata: &[&[f64]], confidence: f64) -> Result<Stratified, DataError> {
    if strata.len() < 2 {
        return Err(DataError::TooFew { needed: 2, found: strata.len() });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    strata.iter().try_for_each(|values| check(values, 2))?;
    if strata.iter().any(|values| is_constant(values)) {
        return Err(DataError::NoSpread);
    }
    let scale = scale_of(strata);
    let parts: Vec<Part> =
        strata.iter().map(|values| Part::of(&times(values, scale))).collect::<Result<_, _>>()?;
    let count = parts.len() as f64;
    let center = parts.iter().map(|part| part.mean).sum::<f64>() / count;
    let squared = parts.iter().map(|part| part.squared_error).sum::<f64>();
    let spread_of_squares =
        parts.iter().map(|part| part.squared_error.powi(2) / part.df).sum::<f64>();
    let degrees_of_freedom = squared.powi(2) / spread_of_squares;
    let error = squared.sqrt() / count;
    let t = center / error;
    let half = student_t_quantile(f64::midpoint(1.0, confidence), degrees_of_freedom) * error;
    Ok(Stratified {
        mean: finite(center / scale)?,
        interval: Interval {
            lower: finite((center - half) / scale)?,
            upper: finite((center + half) / scale)?,
        },
        t,
        degrees_of_freedom: finite(degrees_of_freedom)?,
        p: student_t_two_sided(t, degrees_of_freedom),
        agreement: agreement(&parts)?,
    })
}

struct Part {
    mean: f64,
    /// s²/n.
    squared_error: f64,
    /// n − 1.
    df: f64,
}

impl Part {
    fn of(values: &[f64]) -> Result<Self, DataError> {
        let (Some(mean), Some(spread)) = (mean(values), standard_deviation(values)) else {
            return Err(DataError::TooFew { needed: 2, found: values.len() });
        };
        let squared_error = spread * spread / values.len() as f64;
        // Its square is divided by.
        if squared_error.powi(2) < f64::MIN_POSITIVE {
            return Err(DataError::NoSpread);
        }
        Ok(Self { mean, squared_error, df: (values.len() - 1) as f64 })
    }
}

fn agreement(parts: &[Part]) -> Result<Agreement, DataError> {
    let count = parts.len() as f64;
    let weights: Vec<f64> = parts.iter().map(|part| 1.0 / part.squared_error).collect();
    let all: f64 = weights.iter().sum();
    let center =
        parts.iter().zip(&weights).map(|(part, weight)| part.mean * weight / all).sum::<f64>();
    let between = parts
        .iter()
        .zip(&weights)
        .map(|(part, weight)| weight * (part.mean - center).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    let correction = parts
        .iter()
        .zip(&weights)
        .map(|(part, weight)| (1.0 - weight / all).powi(2) / part.df)
        .sum::<f64>();
    let f = between / (1.0 + 2.0 * (count - 2.0) / (count * count - 1.0) * correction);
    let degrees_of_freedom = [count - 1.0, (count * count - 1.0) / (3.0 * correction)];
    let [of_strata, of_error] = degrees_of_freedom;
    Ok(Agreement { f: finite(f)?, degrees_of_freedom, p: f_upper(f, of_strata, of_error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, close, number, numbers, same_digits};
    use crate::groups::welch;
    use proptest::prelude::*;

    fn strata_of(case: &serde_json::Value) -> Vec<Vec<f64>> {
        case["strata"].as_array().unwrap().iter().map(numbers).collect()
    }

    #[test]
    fn agreement_is_that_of_oneway_test_in_r() {
        for case in cases("blocks", "strata") {
            let strata = strata_of(&case);
            let slices: Vec<&[f64]> = strata.iter().map(Vec::as_slice).collect();
            let found = stratified(&slices, 0.95).unwrap();
            assert!(same_digits(found.agreement.f, number(&case["f"])), "{found:?}");
            assert!(same_digits(found.agreement.degrees_of_freedom[1], number(&case["df"])));
            assert!(same_digits(found.agreement.p, number(&case["p"])));
        }
    }

    #[test]
    fn two_strata_are_a_welch_test_against_the_negative_of_one() {
        for case in cases("blocks", "strata") {
            let strata = strata_of(&case);
            let found = stratified(&[&strata[0], &strata[1]], 0.95).unwrap();
            let negative: Vec<f64> = strata[0].iter().map(|value| -value).collect();
            let other = welch(&negative, &strata[1], 0.95).unwrap();
            assert!(close(found.mean, other.difference / 2.0) && close(found.p, other.p));
            assert!(close(found.interval.upper, other.interval.upper / 2.0));
            let plain = welch(&strata[0], &strata[1], 0.95).unwrap();
            assert!(close(found.agreement.f, plain.t * plain.t));
            assert!(close(found.agreement.p, plain.p));
        }
    }

    #[test]
    fn unfit_strata_are_refused() {
        let fit: &[f64] = &[1.0, 2.0];
        assert_eq!(
            stratified(&[fit], 0.95).unwrap_err(),
            DataError::TooFew { needed: 2, found: 1 }
        );
        assert!(stratified(&[fit, &[1.0]], 0.95).is_err());
        assert_eq!(stratified(&[fit, &[1.0, 1.0]], 0.95).unwrap_err(), DataError::NoSpread);
        assert!(stratified(&[fit, &[1.0, f64::NAN]], 0.95).is_err());
        assert!(stratified(&[fit, fit], 1.0).is_err());
    }

    proptest! {
        #[test]
        fn neither_unit_nor_order_of_the_strata_matters(
            lists in prop::collection::vec(prop::collection::vec(-10.0..10.0_f64, 3..9), 2..6),
            factor in 0.001..1000.0_f64,
        ) {
            let slices: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
            let Ok(one) = stratified(&slices, 0.95) else { return Ok(()); };
            let larger = lists.iter().rev().map(|list| times(list, factor));
            let scaled: Vec<Vec<f64>> = larger.collect();
            let slices: Vec<&[f64]> = scaled.iter().map(Vec::as_slice).collect();
            let other = stratified(&slices, 0.95).unwrap();
            prop_assert!((one.p - other.p).abs() < 1e-9 && (0.0..=1.0).contains(&one.p));
            prop_assert!((one.agreement.p - other.agreement.p).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&one.agreement.p));
        }
    }
}
