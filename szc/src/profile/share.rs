//! Intervals of shares: of the samples that fall on a function.
#![forbid(unsafe_code)]

use szc_stats::fixed::{normal_quantile, student_t_quantile};

/// A share with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Estimate.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Two-sided 95 %.
const UPPER: f64 = 0.975;

/// The share of `hits` in `count` samples that are independent, by Wilson's score interval.
///
/// Source: Wilson, "Probable inference, the law of succession, and statistical inference" (1927);
/// Newcombe (1998), method 3.
#[must_use]
pub fn of_independent(hits: u64, count: u64) -> Share {
    if count == 0 {
        return Share { value: 0.0, low: 0.0, high: 1.0 };
    }
    let (n, z) = (count as f64, normal_quantile(UPPER));
    let value = hits as f64 / n;
    let centre = (value + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let spread = value * (1.0 - value) / n + z * z / (4.0 * n * n);
    let half = z * spread.sqrt() / (1.0 + z * z / n);
    Share { value, low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
}

/// The share of hits over blocks of a run: hits and samples of each. What differs between blocks,
/// as layouts and phases of a program do, widens the interval; it is never narrower than that of
/// independent samples.
///
/// Source: Cochran, "Sampling Techniques" (1977), section 3.12: a proportion in cluster sampling.
#[must_use]
pub fn over_blocks(blocks: &[(u64, u64)]) -> Share {
    let blocks: Vec<(f64, f64)> = blocks
        .iter()
        .filter(|(_, count)| *count != 0)
        .map(|&(hits, count)| (hits as f64, count as f64))
        .collect();
    let hits: f64 = blocks.iter().map(|block| block.0).sum();
    let count: f64 = blocks.iter().map(|block| block.1).sum();
    // Counts are whole numbers far below 2^53.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let independent = of_independent(hits as u64, count as u64);
    if blocks.len() < 2 {
        return independent;
    }
    let number = blocks.len() as f64;
    let value = independent.value;
    let squares: f64 = blocks.iter().map(|(hits, count)| (hits - value * count).powi(2)).sum();
    let error = (number / (number - 1.0) * squares).sqrt() / count;
    let half = student_t_quantile(UPPER, number - 1.0) * error;
    Share {
        value,
        low: independent.low.min((value - half).max(0.0)),
        high: independent.high.max((value + half).min(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(share: Share, low: f64, high: f64) {
        assert!((share.low - low).abs() < 6e-5 && (share.high - high).abs() < 6e-5, "{share:?}");
    }

    #[test]
    fn the_score_interval_is_that_of_newcombe() {
        // Newcombe (1998), table I, method 3.
        assert_close(of_independent(81, 263), 0.2553, 0.3662);
        assert_close(of_independent(15, 148), 0.0624, 0.1605);
        assert_close(of_independent(0, 20), 0.0, 0.1611);
        assert_close(of_independent(1, 29), 0.0061, 0.1718);
    }

    #[test]
    fn blocks_that_differ_widen_the_interval_and_equal_ones_do_not() {
        let equal = over_blocks(&[(10, 100); 8]);
        assert_eq!(equal, of_independent(80, 800));
        // By hand: residuals of -10, 10, -5 and 5, so 4/3 of 250, its root over 400 samples; the
        // quantile of t with 3 degrees of freedom is tabulated.
        let half = 3.182_446 * 0.045_643_55;
        assert_close(over_blocks(&[(0, 100), (20, 100), (5, 100), (15, 100)]), 0.0, 0.1 + half);
    }

    #[test]
    fn one_block_and_blocks_without_samples_say_nothing_of_differences() {
        assert_eq!(over_blocks(&[(10, 100), (0, 0)]), of_independent(10, 100));
        assert_eq!(over_blocks(&[]), of_independent(0, 0));
    }
}
