//! Equivalence by two one-sided tests (Schuirmann 1987), for paired differences and one look.
//!
//! Equivalent at level α means that the interval with confidence 1 − 2α lies within the bounds; the
//! p-value is the larger one of the two one-sided tests.

use super::data::{DataError, check, finite, is_constant, scale_of, times};
use super::describe::{mean, standard_deviation};
use super::fixed::{Interval, t_interval};
use super::tail::student_t_upper;

/// Result of [`two_one_sided_tests`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// p of "the mean is at or below −bound".
    pub p_above_lower: f64,
    /// p of "the mean is at or above +bound".
    pub p_below_upper: f64,
    /// The larger of both: small when the mean lies within ± bound.
    pub p: f64,
    /// Interval of the mean with confidence 1 − 2α, in the unit of the data.
    pub interval: Interval,
    /// Whether that interval lies within ± bound; the same as p < α.
    pub equivalent: bool,
}

/// Tests whether the mean of `differences` lies within ± `bound` (in their unit), at
/// level 0 < `alpha` < ½.
///
/// # Errors
/// [`DataError`] below two values, for values that are not finite or do not vary, or for parameters
/// out of range.
pub fn two_one_sided_tests(
    differences: &[f64],
    bound: f64,
    alpha: f64,
) -> Result<Equivalence, DataError> {
    check(differences, 2)?;
    if !(bound > 0.0 && bound.is_finite()) {
        return Err(DataError::Parameter("bound"));
    }
    if !(alpha > 0.0 && alpha < 0.5) {
        return Err(DataError::Parameter("alpha"));
    }
    if is_constant(differences) {
        return Err(DataError::NoSpread);
    }
    let scale = scale_of(&[differences, &[bound]]);
    let values = times(differences, scale);
    let count = values.len() as f64;
    let (Some(center), Some(spread)) = (mean(&values), standard_deviation(&values)) else {
        return Err(DataError::TooFew { needed: 2, found: differences.len() });
    };
    let error = spread / count.sqrt();
    if error == 0.0 {
        return Err(DataError::NoSpread);
    }
    let p_above_lower = student_t_upper((center + bound * scale) / error, count - 1.0);
    let p_below_upper = student_t_upper((bound * scale - center) / error, count - 1.0);
    let p = p_above_lower.max(p_below_upper);
    let scaled = t_interval(&values, 1.0 - 2.0 * alpha).ok_or(DataError::NoSpread)?;
    let interval =
        Interval { lower: finite(scaled.lower / scale)?, upper: finite(scaled.upper / scale)? };
    Ok(Equivalence { p_above_lower, p_below_upper, p, interval, equivalent: p < alpha })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{SLEEP, cases, close, number, numbers, same_digits};
    use proptest::prelude::*;

    #[test]
    fn both_tests_agree_with_statsmodels() {
        for case in cases("parametric", "equivalence") {
            let bound = number(&case["bound"]);
            let found = two_one_sided_tests(&numbers(&case["data"]), bound, 0.05).unwrap();
            assert!(same_digits(found.p_above_lower, number(&case["p_above_lower"])), "{case}");
            assert!(same_digits(found.p_below_upper, number(&case["p_below_upper"])), "{case}");
            assert!(same_digits(found.p, number(&case["p"])), "{case}: {found:?}");
            assert!(close(found.interval.lower, number(&case["lower"])), "{case}: {found:?}");
            assert!(close(found.interval.upper, number(&case["upper"])), "{case}: {found:?}");
        }
    }

    #[test]
    fn unfit_data_and_parameters_are_refused() {
        let test = two_one_sided_tests;
        assert_eq!(test(&[1.0], 1.0, 0.05), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(test(&[1.0, 1.0, 1.0], 2.0, 0.05), Err(DataError::NoSpread));
        assert_eq!(test(&[1.0, f64::NAN], 2.0, 0.05), Err(DataError::NotFinite { index: 1 }));
        assert_eq!(test(&SLEEP, 0.0, 0.05), Err(DataError::Parameter("bound")));
        assert_eq!(test(&SLEEP, 1.0, 0.5), Err(DataError::Parameter("alpha")));
    }

    #[test]
    fn scale_does_not_matter_down_to_the_smallest_and_up_to_the_largest_numbers() {
        let plain = two_one_sided_tests(&SLEEP, 2.5, 0.05).unwrap();
        for scale in [1e-300, 1e300] {
            let scaled = times(&SLEEP, scale);
            let found = two_one_sided_tests(&scaled, 2.5 * scale, 0.05).unwrap();
            assert!(same_digits(found.p, plain.p) && found.equivalent == plain.equivalent);
        }
    }

    proptest! {
        #[test]
        fn the_p_value_and_the_interval_say_the_same(
            values in prop::collection::vec(-1.0..1.0_f64, 3..40),
            bound in 0.01..1.5_f64,
        ) {
            let found = two_one_sided_tests(&values, bound, 0.05).unwrap();
            let inside = -bound < found.interval.lower && found.interval.upper < bound;
            prop_assert_eq!(found.equivalent, inside);
            prop_assert!((0.0..=1.0).contains(&found.p));
        }
    }
}
