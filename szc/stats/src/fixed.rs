//! The rule for a number of blocks that was fixed before the first run.
//!
//! A t interval of the mean log ratio decides; the sign interval of its median
//! stands beside it as a check that assumes nothing about the shape of the
//! distribution. The rule is valid for one look at the end: looking after every
//! block and stopping at will gives far more than 5 % false positives.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::factorial::ln_binomial;

use super::describe::{mean, sorted, standard_deviation};

/// Fewest blocks for which any 95 % sign interval of a median exists:
/// min..max covers with probability 1 − 2^(1−n), which reaches 0.95 at n = 6.
pub const MIN_BLOCKS: usize = 6;

/// Probability with which the intervals cover.
pub const CONFIDENCE: f64 = 0.95;

/// Probability with which a planned number of blocks is to show a difference.
pub const POWER: f64 = 0.80;

/// Log ratios closer than this are equal: no clock resolves one part in 10¹²,
/// while sums of logarithms differ by rounding when their order does.
pub const ROUNDING: f64 = 1e-12;

/// A closed interval, `lower <= upper`, in the unit of the data it came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Interval {
    /// Whether `value` lies between the ends, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// On which side of zero the whole interval lies.
    #[must_use]
    pub fn direction(&self) -> Direction {
        if self.upper < 0.0 {
            Direction::Lower
        } else if self.lower > 0.0 {
            Direction::Higher
        } else {
            Direction::Unresolved
        }
    }
}

/// What an interval of log ratios B/A says about B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// All of the interval is below zero: B needs less than A.
    Lower,
    /// All of the interval is above zero: B needs more than A.
    Higher,
    /// Zero is inside. This says nothing about the two being the same.
    Unresolved,
}

/// An interval made of two order statistics of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignInterval {
    /// The order statistics.
    pub interval: Interval,
    /// Rank of the lower end counted from the smallest value, from 1; the upper
    /// end has the same rank counted from the largest.
    pub rank: usize,
    /// Exact probability of covering the median, at least the one asked for.
    pub coverage: f64,
}

/// Quantile of Student's t distribution with `degrees_of_freedom` > 0 at 0 < `probability` < 1.
///
/// # Panics
/// When an argument is out of range.
#[must_use]
pub fn student_t_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .expect("degrees of freedom are positive")
        .inverse_cdf(probability)
}

/// Quantile of the standard normal distribution at 0 < `probability` < 1.
#[must_use]
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// t interval of a mean: x̄ ± t₍n−1, (1+c)/2₎ · s/√n (Student 1908).
///
/// Returns `None` below two values. With s = 0 both ends are the mean.
#[must_use]
pub fn t_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let center = mean(values)?;
    let spread = standard_deviation(values)?;
    let count = values.len() as f64;
    let quantile = student_t_quantile(f64::midpoint(1.0, confidence), count - 1.0);
    let half_width = quantile * spread / count.sqrt();
    Some(Interval { lower: center - half_width, upper: center + half_width })
}

/// Sign interval of a median: `[x₍k₎, x₍n+1−k₎]` with the largest k for which
/// 2·P(Bin(n, ½) ≤ k − 1) ≤ 1 − c (Thompson 1936; Conover, Practical
/// Nonparametric Statistics, section 3.2).
///
/// Returns `None` when even `[min, max]` covers with less than `confidence`.
#[must_use]
pub fn sign_interval(values: &[f64], confidence: f64) -> Option<SignInterval> {
    let (rank, coverage) = sign_rank(values.len(), confidence)?;
    let ascending = sorted(values);
    Some(SignInterval {
        interval: Interval { lower: ascending[rank - 1], upper: ascending[ascending.len() - rank] },
        rank,
        coverage,
    })
}

/// Rank k and exact coverage of the sign interval of `count` values.
fn sign_rank(count: usize, confidence: f64) -> Option<(usize, f64)> {
    let tail_allowed = (1.0 - confidence) / 2.0;
    let total = count as u64;
    let ln_half_to_the_count = -(count as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut best = None;
    for (rank, successes) in (1..=count / 2).zip(0_u64..) {
        tail += (ln_binomial(total, successes) + ln_half_to_the_count).exp();
        if tail > tail_allowed {
            break;
        }
        best = Some((rank, 1.0 - 2.0 * tail));
    }
    best
}

#[cfg(test)]
mod tests;
