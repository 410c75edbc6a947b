//! Location and spread of a list of numbers.
//!
//! Nothing here panics on an empty list: an empty or too short list gives `None`,
//! because "no data" is a state of an interrupted experiment, not a bug.

/// Arithmetic mean x̄ = Σxᵢ/n, or `None` for an empty list.
///
/// A second pass adds the mean of the residuals, which removes the rounding
/// error of the first (Chan, Golub and LeVeque 1983, "Algorithms for computing
/// the sample variance").
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let first_pass = values.iter().sum::<f64>() / count;
    let correction = values.iter().map(|value| value - first_pass).sum::<f64>() / count;
    Some(first_pass + correction)
}

/// Sample standard deviation s = √(Σ(xᵢ − x̄)²/(n − 1)), or `None` below two values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// A copy in ascending order.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_by(f64::total_cmp);
    copy
}

/// Median: the middle value, or the mean of the two middle ones; `None` for an empty list.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let ascending = sorted(values);
    let upper_middle = ascending.len() / 2;
    let upper = *ascending.get(upper_middle)?;
    if ascending.len() % 2 == 1 {
        Some(upper)
    } else {
        Some(f64::midpoint(ascending[upper_middle - 1], upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{LARGE_COUNT, MAIZE, SLEEP, close, large_sample};

    #[test]
    fn mean_and_spread_agree_with_scipy() {
        assert!(close(mean(&SLEEP).unwrap(), 1.58));
        assert!(close(standard_deviation(&SLEEP).unwrap(), 1.229_995_483_279_873));
        assert!(close(mean(&MAIZE).unwrap(), 20.933_333_333_333_334));
        assert!(close(standard_deviation(&MAIZE).unwrap(), 37.744_378_326_289_8));
        let large = large_sample();
        assert_eq!(large.len(), LARGE_COUNT);
        assert!(close(mean(&large).unwrap(), 2.499_483_352_705_779_4));
        assert!(close(standard_deviation(&large).unwrap(), 1.606_545_958_482_482));
    }

    #[test]
    fn median_agrees_with_numpy_for_even_and_odd_counts() {
        assert!(close(median(&SLEEP).unwrap(), 1.3));
        assert!(close(median(&MAIZE).unwrap(), 24.0));
        assert!(close(median(&large_sample()).unwrap(), 2.508_181_281_102_166_4));
    }

    #[test]
    fn a_large_offset_does_not_drown_the_spread() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert!(close(standard_deviation(&values).unwrap(), 30.0_f64.sqrt()));
    }

    #[test]
    fn too_little_data_is_none_and_not_a_panic() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
    }
}
