//! Rank tests: Mann and Whitney (1947) for two lists, Wilcoxon's signed ranks (1945) for pairs.
//!
//! Without ties and up to [`MOST_EXACT`] values a list the null distribution is counted exactly;
//! else it is approximated by the normal one, with the variance corrected for ties and a continuity
//! correction of ½, as R's `wilcox.test` does it.

use super::data::{DataError, check, ranks};
use super::tail::normal_two_sided;

/// Most values in a list for which the distribution is counted.
pub const MOST_EXACT: usize = 50;

/// Result of [`mann_whitney`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the value of the first list is larger; equal pairs count ½.
    pub u: f64,
    /// u as a share of all pairs: the chance that a value of the first list is the larger one.
    pub superiority: f64,
    /// Two-sided p of "neither list tends to be larger".
    pub p: f64,
    /// Whether the distribution was counted.
    pub exact: bool,
}

/// Compares the size of the values of two lists that are not paired.
///
/// # Errors
/// [`DataError`] for an empty list, values that are not finite, or if all values are equal.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Result<MannWhitney, DataError> {
    check(first, 1)?;
    check(second, 1)?;
    let (m, n) = (first.len() as f64, second.len() as f64);
    let both: Vec<f64> = first.iter().chain(second).copied().collect();
    let (ranks, ties) = ranks(&both);
    if ties.len() == 1 {
        return Err(DataError::NoSpread);
    }
    let u = ranks[..first.len()].iter().sum::<f64>() - m * (m + 1.0) / 2.0;
    let exact = ties.len() == both.len() && first.len().max(second.len()) <= MOST_EXACT;
    let p = if exact {
        two_sided(&rank_sum_counts(first.len(), second.len()), u)
    } else {
        let total = m + n;
        let variance = m * n / 12.0 * (total + 1.0 - tie_sum(&ties) / (total * (total - 1.0)));
        normal_with_continuity(u - m * n / 2.0, variance)
    };
    Ok(MannWhitney { u, superiority: u / (m * n), p, exact })
}

/// Result of [`signed_rank`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences.
    pub v: f64,
    /// Differences that are not zero.
    pub count: usize,
    /// Two-sided p of "the differences are symmetric about 0".
    pub p: f64,
    /// Whether the distribution was counted.
    pub exact: bool,
}

/// Tests whether paired differences are symmetric about 0. Zeros are dropped, as Wilcoxon did.
///
/// # Errors
/// [`DataError`] for an empty list, values that are not finite, or if all differences are 0.
pub fn signed_rank(differences: &[f64]) -> Result<SignedRank, DataError> {
    check(differences, 1)?;
    let kept: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    if kept.is_empty() {
        return Err(DataError::NoSpread);
    }
    let sizes: Vec<f64> = kept.iter().map(|value| value.abs()).collect();
    let (ranks, ties) = ranks(&sizes);
    let v = ranks.iter().zip(&kept).filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank).sum();
    let n = kept.len() as f64;
    let exact = ties.len() == differences.len() && kept.len() <= MOST_EXACT;
    let p = if exact {
        two_sided(&signed_rank_counts(kept.len()), v)
    } else {
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_sum(&ties) / 48.0;
        normal_with_continuity(v - n * (n + 1.0) / 4.0, variance)
    };
    Ok(SignedRank { v, count: kept.len(), p, exact })
}

/// Σ(t³ − t) over the sizes t of groups of ties.
fn tie_sum(ties: &[usize]) -> f64 {
    ties.iter().map(|&size| (size as f64).powi(3) - size as f64).sum()
}

fn normal_with_continuity(distance: f64, variance: f64) -> f64 {
    normal_two_sided((distance.abs() - 0.5).max(0.0) / variance.sqrt())
}

/// Two-sided p of a whole-numbered statistic from the counts of its values 0, 1, …
fn two_sided(counts: &[i128], statistic: f64) -> f64 {
    let total: i128 = counts.iter().sum();
    let sum = |values: &mut dyn Iterator<Item = (f64, i128)>| -> i128 {
        values.map(|(_, count)| count).sum()
    };
    let numbered = || (0_u32..).map(f64::from).zip(counts.iter().copied());
    let at_most = sum(&mut numbered().filter(|(value, _)| *value <= statistic));
    let at_least = sum(&mut numbered().filter(|(value, _)| *value >= statistic));
    (2.0 * (at_most.min(at_least) as f64 / total as f64)).min(1.0)
}

/// In how many orders of m and n values U takes each value: the coefficients of the Gaussian
/// binomial ∏ (1 − q^(m+i))/(1 − q^i), i = 1…n. Exact: the largest, C(100, 50), has 97 bits.
fn rank_sum_counts(m: usize, n: usize) -> Vec<i128> {
    let mut counts = vec![0_i128; m * n + 1];
    counts[0] = 1;
    for i in 1..=n {
        for place in (m + i..counts.len()).rev() {
            counts[place] -= counts[place - m - i];
        }
        for place in i..counts.len() {
            counts[place] += counts[place - i];
        }
    }
    counts
}

/// In how many of the 2ⁿ patterns of signs V takes each value: the coefficients of ∏ (1 + qⁱ), i =
/// 1…n.
fn signed_rank_counts(n: usize) -> Vec<i128> {
    let mut counts = vec![0_i128; n * (n + 1) / 2 + 1];
    counts[0] = 1;
    for i in 1..=n {
        for place in (i..counts.len()).rev() {
            counts[place] += counts[place - i];
        }
    }
    counts
}

#[cfg(test)]
mod tests;
