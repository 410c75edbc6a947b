//! The few statistics that tests of randomness and of verdicts need.

use statrs::function::beta::beta_reg;

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

/// The exact 95 % interval of a share of which `count` of `n` were seen (Clopper and Pearson 1934).
///
/// # Panics
/// If `count` is above `n`.
#[must_use]
pub fn clopper_pearson(count: usize, n: usize) -> (f64, f64) {
    assert!(count <= n, "{count} of {n}");
    let (k, rest) = (count as f64, (n - count) as f64);
    let lower = if count == 0 { 0.0 } else { beta_quantile(k, rest + 1.0, 0.025) };
    let upper = if count == n { 1.0 } else { beta_quantile(k + 1.0, rest, 0.975) };
    (lower, upper)
}

/// By bisection: the distribution function rises.
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beta_reg(a, b, middle) < probability { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
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

    #[test]
    fn the_interval_of_a_share_agrees_with_r() {
        // binom.test(k, n)$conf.int, R 4.2
        for (count, n, lower, upper) in [
            (0, 20, 0.0, 0.168433470983),
            (3, 100, 0.006229971538, 0.085176052974),
            (17, 20, 0.621073173455, 0.967929062815),
            (20, 20, 0.831566529017, 1.0),
        ] {
            let interval = clopper_pearson(count, n);
            assert!((interval.0 - lower).abs() < 1e-9, "{count} of {n}: {interval:?}");
            assert!((interval.1 - upper).abs() < 1e-9, "{count} of {n}: {interval:?}");
        }
    }
}
