//! The few statistics that tests of randomness need.

/// Pearson's chi-square of counts against equal expectations.
#[must_use]
pub fn chi_square(counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let expected = total as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

/// Pearson's correlation of pairs.
#[must_use]
pub fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (mean_x, mean_y) =
        pairs.iter().fold((0.0, 0.0), |(x, y), pair| (x + pair.0 / n, y + pair.1 / n));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    xy / (xx * yy).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_square_and_correlation_agree_with_r() {
        // chisq.test(c(10, 20, 30))$statistic; cor(c(1, 2, 3, 4), c(2, 1, 4, 3))
        assert!((chi_square(&[10, 20, 30]) - 10.0).abs() < 1e-12);
        let pairs = [(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)];
        assert!((correlation(&pairs) - 0.6).abs() < 1e-12);
    }
}
