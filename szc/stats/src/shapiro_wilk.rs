//! Shapiro and Wilk's test of normality (1965) for 3 to 5000 values, by Royston's approximations
//! (1995, "Remark AS R94", Applied Statistics 44, 547–551).
//!
//! A diagnostic for reports. It never chooses the test: with few values it sees little, with many
//! it objects to what does no harm.

use super::data::{DataError, check, is_constant, scale_of, times};
use super::describe::{mean, median, sorted};
use super::fixed::normal_quantile;
use super::tail::normal_upper;

/// Most values for which the approximation was fitted.
pub const MAX_VALUES: usize = 5000;

/// Result of [`shapiro_wilk`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapiroWilk {
    /// Squared correlation of the ordered values with the normal scores, 1 for a straight line.
    pub w: f64,
    /// p of "the values come from a normal distribution".
    pub p: f64,
}

/// Tests whether `values` look normal.
///
/// # Errors
/// [`DataError`] below 3 or above [`MAX_VALUES`] values, for values that are not finite or do not
/// vary.
pub fn shapiro_wilk(values: &[f64]) -> Result<ShapiroWilk, DataError> {
    check(values, 3)?;
    if values.len() > MAX_VALUES {
        return Err(DataError::TooMany { most: MAX_VALUES, found: values.len() });
    }
    if is_constant(values) {
        return Err(DataError::NoSpread);
    }
    let distance = one_minus_w(values)?;
    Ok(ShapiroWilk { w: 1.0 - distance, p: p_value(distance, values.len()) })
}

/// 1 − W, which keeps its digits where W is near 1.
fn one_minus_w(values: &[f64]) -> Result<f64, DataError> {
    // Moved to the median first, so that an offset does not use up the digits.
    let scaled = times(values, scale_of(&[values]));
    let middle = median(&scaled).unwrap_or_default();
    let moved: Vec<f64> = scaled.iter().map(|value| value - middle).collect();
    let ascending = sorted(&times(&moved, scale_of(&[&moved])));
    let center = mean(&ascending).unwrap_or_default();
    let weights = weights(ascending.len());
    let (mut product, mut weight_square, mut square) = (0.0, 0.0, 0.0);
    for (weight, value) in weights.iter().zip(&ascending) {
        product += weight * (value - center);
        weight_square += weight * weight;
        square += (value - center) * (value - center);
    }
    if square == 0.0 {
        return Err(DataError::NoSpread);
    }
    let root = (weight_square * square).sqrt();
    Ok(((root - product) * (root + product) / (weight_square * square)).clamp(0.0, 1.0))
}

/// The weights a of the ordered values, ascending and antisymmetric (AS R94, equations 1 and 2):
/// normal scores, the one or two outermost corrected by polynomials in 1/√n.
fn weights(count: usize) -> Vec<f64> {
    const OUTERMOST: [f64; 6] = [0.0, 0.221_157, -0.147_981, -2.071_190, 4.434_685, -2.706_056];
    const SECOND: [f64; 6] = [0.0, 0.042_981, -0.293_762, -1.752_461, 5.682_633, -3.582_633];
    let half = count / 2;
    let n = count as f64;
    let mut upper: Vec<f64> = if count == 3 {
        vec![std::f64::consts::FRAC_1_SQRT_2]
    } else {
        // The scores of the upper half, the largest first.
        let scores: Vec<f64> =
            (1..=half).map(|i| -normal_quantile((i as f64 - 0.375) / (n + 0.25))).collect();
        let squares = 2.0 * scores.iter().map(|score| score * score).sum::<f64>();
        let inverse_root = n.sqrt().recip();
        let outermost = polynomial(&OUTERMOST, inverse_root) + scores[0] / squares.sqrt();
        let mut replaced = vec![outermost];
        if count > 5 {
            replaced.push(polynomial(&SECOND, inverse_root) + scores[1] / squares.sqrt());
        }
        let rest = squares - 2.0 * scores[..replaced.len()].iter().map(|m| m * m).sum::<f64>();
        let left = 1.0 - 2.0 * replaced.iter().map(|a| a * a).sum::<f64>();
        let factor = (rest / left).sqrt();
        replaced.extend(scores[replaced.len()..].iter().map(|score| score / factor));
        replaced
    };
    let lower: Vec<f64> = upper.iter().map(|weight| -weight).collect();
    if count % 2 == 1 {
        upper.push(0.0);
    }
    lower.into_iter().chain(upper.into_iter().rev()).collect()
}

/// P(W is smaller) under normality: exact for 3 values, else ln(1 − W) is made normal (AS R94,
/// table 1).
fn p_value(one_minus_w: f64, count: usize) -> f64 {
    let n = count as f64;
    if count == 3 {
        let least = 0.75_f64.sqrt().asin();
        let p = 6.0 / std::f64::consts::PI * ((1.0 - one_minus_w).sqrt().asin() - least);
        return p.clamp(0.0, 1.0);
    }
    if one_minus_w <= 0.0 {
        return 1.0;
    }
    let logarithm = one_minus_w.ln();
    let (value, center, ln_spread) = if count <= 11 {
        let limit = polynomial(&[-2.273, 0.459], n);
        if logarithm >= limit {
            return 0.0;
        }
        (
            -(limit - logarithm).ln(),
            polynomial(&[0.5440, -0.399_78, 0.025_054, -6.714e-4], n),
            polynomial(&[1.3822, -0.778_57, 0.062_767, -0.002_032_2], n),
        )
    } else {
        let ln_n = n.ln();
        (
            logarithm,
            polynomial(&[-1.5861, -0.310_82, -0.083_751, 0.003_891_5], ln_n),
            polynomial(&[-0.4803, -0.082_676, 0.003_030_2], ln_n),
        )
    };
    normal_upper((value - center) / ln_spread.exp())
}

/// Value at `x` of the polynomial with these coefficients, the constant one first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, close, large_sample, number, numbers};
    use proptest::prelude::*;

    #[test]
    fn w_and_p_agree_with_scipy_as_far_as_its_normal_scores_are_exact() {
        for case in cases("ranks", "shapiro_wilk") {
            let found = shapiro_wilk(&numbers(&case["data"])).unwrap();
            assert!((found.w - number(&case["w"])).abs() < 1e-7, "{case}: {found:?}");
            let p = number(&case["p"]);
            assert!((found.p - p).abs() < 2e-5 * p + 1e-14, "{case}: {found:?}");
        }
    }

    #[test]
    fn the_example_of_1965_is_not_normal() {
        // W = 0.79; R's shapiro.test prints p-value = 0.006704.
        let found = shapiro_wilk(&numbers(&cases("ranks", "shapiro_wilk")[0]["data"])).unwrap();
        assert_eq!(format!("{:.2} {:.6}", found.w, found.p), "0.79 0.006704");
    }

    #[test]
    fn three_values_are_exact() {
        // W is 1 for equal distances and ¾ when two coincide.
        assert!(close(shapiro_wilk(&[1.0, 2.0, 3.0]).unwrap().p, 1.0));
        let least = shapiro_wilk(&[0.0, 0.0, 1.0]).unwrap();
        assert!(close(least.w, 0.75) && close(least.p, 0.0));
    }

    #[test]
    fn weights_are_antisymmetric_and_have_length_one() {
        for count in [4, 5, 6, 7, 11, 12, 100, 4999, 5000] {
            let found = weights(count);
            assert_eq!(found.len(), count);
            assert!(close(found.iter().map(|a| a * a).sum(), 1.0), "{count}");
            assert!((0..count).all(|i| found[i] == -found[count - 1 - i]));
            assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }

    #[test]
    fn unfit_data_are_refused() {
        assert_eq!(shapiro_wilk(&[1.0, 2.0]), Err(DataError::TooFew { needed: 3, found: 2 }));
        assert_eq!(shapiro_wilk(&[2.0; 9]), Err(DataError::NoSpread));
        assert_eq!(shapiro_wilk(&[1.0, 2.0, f64::NAN]), Err(DataError::NotFinite { index: 2 }));
        let mut many = large_sample();
        assert!(shapiro_wilk(&many).is_ok());
        many.push(0.5);
        assert_eq!(shapiro_wilk(&many), Err(DataError::TooMany { most: 5000, found: 5001 }));
    }

    proptest! {
        #[test]
        fn neither_scale_nor_place_nor_order_matters(
            values in prop::collection::vec(-1.0..1.0_f64, 3..80),
            power in -290_i32..290,
            shift in -10.0..10.0_f64,
            turn in 0_usize..80,
        ) {
            let found = shapiro_wilk(&values).unwrap();
            prop_assert!((0.0..=1.0).contains(&found.p) && (0.0..=1.0).contains(&found.w));
            let scale = -(10.0_f64.powi(power));
            let mut other: Vec<f64> = values.iter().map(|value| (value + shift) * scale).collect();
            other.rotate_left(turn % values.len());
            prop_assert!((shapiro_wilk(&other).unwrap().w - found.w).abs() < 1e-8);
        }
    }
}
