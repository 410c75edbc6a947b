//! A rank test of pairs: Wilcoxon's signed ranks (1945).
//!
//! Without ties and up to [`MAX_EXACT`] values the null distribution is counted exactly;
//! else it is approximated by the normal one, with the variance corrected for ties and a continuity
//! correction of ½, as R's `wilcox.test` does it.

use super::data::{DataError, check, ranks};
use super::tail::normal_two_sided;

/// Most values for which the distribution is counted.
pub const MAX_EXACT: usize = 50;

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
    let exact = ties.len() == differences.len() && kept.len() <= MAX_EXACT;
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
