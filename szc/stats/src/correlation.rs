//! Whether two signals of one trace follow the same trend: Spearman's rank correlation (1904), with
//! ties sharing the mean of their ranks.

use super::data::{DataError, check, is_constant, ranks};

/// Fewest pairs of which a correlation is computed.
pub const MIN_PAIRS: usize = 3;

/// Spearman's ρ: Pearson's correlation of the ranks, from −1 to 1.
///
/// # Errors
/// [`DataError`] for unequal or short lists, values that are not finite, or a constant list.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<f64, DataError> {
    if x.len() != y.len() {
        return Err(DataError::UnequalLengths);
    }
    check(x, MIN_PAIRS)?;
    check(y, MIN_PAIRS)?;
    if is_constant(x) || is_constant(y) {
        return Err(DataError::NoSpread);
    }
    let (x, y) = (ranks(x).0, ranks(y).0);
    // Ranks, ties or not, have this mean.
    let mean = (x.len() as f64 + 1.0) / 2.0;
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    Ok((product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, close, number, numbers};
    use proptest::prelude::*;

    #[test]
    fn rho_agrees_with_scipy_and_with_the_textbook() {
        for case in cases("ranks", "spearman") {
            let found = spearman(&numbers(&case["x"]), &numbers(&case["y"])).unwrap();
            assert!(close(found, number(&case["rho"])), "{found}: {case}");
        }
        // IQ and hours of television, a common example: 1 − 6·194/990.
        let iq = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        assert!(close(spearman(&iq, &hours).unwrap(), 1.0 - 6.0 * 194.0 / 990.0));
    }

    #[test]
    fn a_flat_signal_has_no_correlation_and_lists_must_fit() {
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), Err(DataError::NoSpread));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[1.0, 2.0]), Err(DataError::UnequalLengths));
        let few = Err(DataError::TooFew { needed: 3, found: 2 });
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), few);
        let nan = Err(DataError::NotFinite { index: 2 });
        assert_eq!(spearman(&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 3.0]), nan);
    }

    proptest! {
        #[test]
        fn only_the_order_of_values_matters(
            pairs in prop::collection::vec((-50_i32..50, -50_i32..50), 3..60),
        ) {
            let of = |f: fn(&(i32, i32)) -> f64| pairs.iter().map(f).collect::<Vec<_>>();
            let (x, y) = (of(|pair| f64::from(pair.0)), of(|pair| f64::from(pair.1)));
            let cubes = of(|pair| f64::from(pair.0).powi(3));
            let negated = of(|pair| -f64::from(pair.1));
            if let Ok(rho) = spearman(&x, &y) {
                prop_assert!((-1.0..=1.0).contains(&rho));
                prop_assert!(close(spearman(&cubes, &y).unwrap(), rho));
                prop_assert!(close(spearman(&x, &negated).unwrap(), -rho));
                prop_assert!(close(spearman(&y, &x).unwrap(), rho));
            }
        }
    }
}
