//! Where variance comes from in nested measurements: Kalibera and Jones (2013, "Rigorous
//! benchmarking in reasonable time", sections 6 and 7).
//!
//! Level 1 is the innermost: runs within a layout, layouts within a build, and so on outwards.

use super::data::{DataError, check, finite, scale_of, times};
use super::describe::mean;
use super::fixed::{Interval, student_t_quantile};

/// Result of [`components`].
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// Mean of all values, in their unit.
    pub mean: f64,
    /// S₁², S₂², …: mean variance of the means at each level, the innermost first. Each still holds
    /// a part of the levels inside it.
    pub biased: Vec<f64>,
    /// T₁², T₂², …: variance that each level adds. Negative when chance made a level vary less than
    /// the levels inside it predict: then nothing was found to come from that level.
    pub unbiased: Vec<f64>,
    /// Interval of the mean from the outermost level: t·√(S_n²/r_n), r_n − 1 degrees of freedom.
    pub interval: Interval,
}

impl Components {
    /// The share of each level in the total variance, the innermost first; negative components
    /// count as 0. `None` without any variance.
    #[must_use]
    pub fn shares(&self) -> Option<Vec<f64>> {
        let total: f64 = self.unbiased.iter().map(|variance| variance.max(0.0)).sum();
        (total > 0.0)
            .then(|| self.unbiased.iter().map(|variance| variance.max(0.0) / total).collect())
    }
}

/// Splits the variance of `values`, given in the order of the innermost level first, over levels of
/// which each repeats `sizes` times: the outermost first, so that their product is the number of
/// values. Interval with `confidence` in (0, 1).
///
/// # Errors
/// [`DataError`] without levels or for a level with fewer than 2 repetitions, for a number of
/// values that is not the product, or values that are not finite.
pub fn components(
    values: &[f64],
    sizes: &[usize],
    confidence: f64,
) -> Result<Components, DataError> {
    if sizes.is_empty() {
        return Err(DataError::Parameter("levels"));
    }
    if let Some(&found) = sizes.iter().find(|size| **size < 2) {
        return Err(DataError::TooFew { needed: 2, found });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    check(values, 2)?;
    let product = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    if product != Some(values.len()) {
        return Err(DataError::UnequalLengths);
    }
    let scale = scale_of(&[values]);
    let mut means = times(values, scale);
    let mut biased: Vec<f64> = Vec::new();
    for &size in sizes.iter().rev() {
        let (mut squares, mut outer) = (0.0, Vec::new());
        for group in means.chunks_exact(size) {
            let center = mean(group).unwrap_or_default();
            squares += group.iter().map(|value| (value - center).powi(2)).sum::<f64>();
            outer.push(center);
        }
        biased.push(squares / (outer.len() * (size - 1)) as f64);
        means = outer;
    }
    let inner =
        biased.iter().zip(sizes.iter().rev()).map(|(variance, size)| variance / *size as f64);
    let unbiased: Vec<f64> = biased
        .iter()
        .zip(std::iter::once(0.0).chain(inner))
        .map(|(variance, inside)| variance - inside)
        .collect();
    let outermost = sizes[0] as f64;
    let quantile = student_t_quantile(f64::midpoint(1.0, confidence), outermost - 1.0);
    let half = quantile * (biased[sizes.len() - 1] / outermost).sqrt();
    let unscaled = |list: &[f64]| -> Result<Vec<f64>, DataError> {
        list.iter().map(|variance| finite(variance / scale / scale)).collect()
    };
    Ok(Components {
        mean: finite(means[0] / scale)?,
        biased: unscaled(&biased)?,
        unbiased: unscaled(&unbiased)?,
        interval: Interval {
            lower: finite((means[0] - half) / scale)?,
            upper: finite((means[0] + half) / scale)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, close, number, numbers, same_digits};
    use proptest::prelude::*;

    fn sizes_of(case: &serde_json::Value) -> Vec<usize> {
        let sizes = case["shape"].as_array().unwrap();
        sizes.iter().map(|size| usize::try_from(size.as_u64().unwrap()).unwrap()).collect()
    }

    #[test]
    fn components_agree_with_nested_means_of_numpy() {
        for case in cases("parametric", "kalibera_jones") {
            let found = components(&numbers(&case["data"]), &sizes_of(&case), 0.95).unwrap();
            for (name, list) in [("biased", &found.biased), ("unbiased", &found.unbiased)] {
                let expected = numbers(&case[name]);
                assert_eq!(list.len(), expected.len());
                assert!(list.iter().zip(&expected).all(|(a, b)| same_digits(*a, *b)), "{found:?}");
            }
            assert!(close(found.mean, number(&case["mean"])), "{found:?}");
            assert!(close(found.interval.lower, number(&case["lower"])), "{found:?}");
            assert!(close(found.interval.upper, number(&case["upper"])), "{found:?}");
        }
    }

    #[test]
    fn montgomerys_looms_differ_by_what_the_book_says() {
        // Error 1.90, looms 6.96.
        let case = &cases("parametric", "kalibera_jones")[0];
        let found = components(&numbers(&case["data"]), &sizes_of(case), 0.95).unwrap();
        assert_eq!(format!("{:.2} {:.2}", found.unbiased[0], found.unbiased[1]), "1.90 6.96");
        let shares = found.shares().unwrap();
        assert!(close(shares[0] + shares[1], 1.0) && shares[1] > 0.78);
    }

    #[test]
    fn unfit_tables_are_refused_and_equal_values_have_no_shares() {
        assert_eq!(components(&[1.0, 2.0], &[], 0.95), Err(DataError::Parameter("levels")));
        assert_eq!(
            components(&[1.0, 2.0], &[2, 1], 0.95),
            Err(DataError::TooFew { needed: 2, found: 1 })
        );
        assert_eq!(components(&[1.0; 5], &[2, 2], 0.95), Err(DataError::UnequalLengths));
        assert_eq!(
            components(&[1.0, f64::NAN], &[2], 0.95),
            Err(DataError::NotFinite { index: 1 })
        );
        let none = components(&[0.5; 6], &[3, 2], 0.95).unwrap();
        assert_eq!((none.shares(), none.interval.lower, none.interval.upper), (None, 0.5, 0.5));
        let huge: Vec<f64> = [1e200, 2e200, 4e200, 3e200].to_vec();
        assert_eq!(components(&huge, &[2, 2], 0.95), Err(DataError::OutOfRange));
    }

    proptest! {
        #[test]
        fn scaling_scales_variances_by_its_square(
            values in prop::collection::vec(-1.0..1.0_f64, 12),
            factor in 1e-3..1e3_f64,
        ) {
            let before = components(&values, &[2, 3, 2], 0.95).unwrap();
            let after = components(&times(&values, factor), &[2, 3, 2], 0.95).unwrap();
            for (one, other) in before.unbiased.iter().zip(&after.unbiased) {
                prop_assert!((one * factor * factor - other).abs() < 1e-12 * factor * factor);
            }
            prop_assert!(before.interval.contains(before.mean));
        }
    }
}
