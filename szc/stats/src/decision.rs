//! From an interval to a verdict: the decision table of `compare` and `gate`, and of equivalence.
//!
//! The interval decides, never the ratio. Equivalence is shown by an interval that lies within the
//! tolerated bounds (Schuirmann 1987, "two one-sided tests"); an interval that holds 0 shows
//! nothing, and is called unresolved, with the number of blocks that would settle it.

use super::data::DataError;
use super::fixed::{FixedAnalysis, Interval, ROUNDING};
use super::planning::{Rule, blocks_needed};
use super::sequential::MeanSequence;

/// A tolerated change of a ratio: δ of "no more than 1 % slower".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    log_bound: f64,
}

impl Tolerance {
    /// `share` is δ as a share: 0.01 for 1 %.
    ///
    /// # Errors
    /// [`DataError::Parameter`] unless it is positive and finite.
    pub fn new(share: f64) -> Result<Self, DataError> {
        if share.is_finite() && share.ln_1p() > 0.0 {
            Ok(Self { log_bound: share.ln_1p() })
        } else {
            Err(DataError::Parameter("tolerance"))
        }
    }

    /// ln(1+δ), the bound of log ratios.
    #[must_use]
    pub fn log_bound(self) -> f64 {
        self.log_bound
    }
}

/// What both rules know when a verdict is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Rule that made the interval.
    pub rule: Rule,
    /// Mean log ratio of B to A.
    pub mean: f64,
    /// Standard deviation of the log ratios over blocks.
    pub standard_deviation: f64,
    /// Number of blocks.
    pub blocks: usize,
    /// 95 % interval of the mean.
    pub interval: Interval,
}

impl From<&FixedAnalysis> for Estimate {
    fn from(analysis: &FixedAnalysis) -> Self {
        Self {
            rule: Rule::Fixed,
            mean: analysis.mean,
            standard_deviation: analysis.standard_deviation,
            blocks: analysis.blocks,
            interval: analysis.interval,
        }
    }
}

impl From<&MeanSequence> for Estimate {
    fn from(sequence: &MeanSequence) -> Self {
        Self {
            rule: Rule::Sequential,
            mean: sequence.mean,
            standard_deviation: sequence.standard_deviation,
            blocks: sequence.blocks,
            interval: sequence.interval,
        }
    }
}

/// Verdict of `compare` on B against A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All of the interval is below 0: B needs less than A.
    Faster,
    /// All of the interval is above 0: B needs more than A.
    Slower,
    /// The interval holds 0 and lies within the tolerance on both sides.
    Equivalent,
    /// Neither. This is not "the same".
    Unresolved {
        /// Blocks after which an answer can be expected, the ones measured included.
        blocks_needed: u64,
    },
}

impl Comparison {
    /// Whether the question is answered.
    #[must_use]
    pub fn is_decided(self) -> bool {
        self.blocks_needed().is_none()
    }

    /// Blocks after which an answer can be expected, where there is none.
    #[must_use]
    pub fn blocks_needed(self) -> Option<u64> {
        match self {
            Self::Unresolved { blocks_needed } => Some(blocks_needed),
            Self::Faster | Self::Slower | Self::Equivalent => None,
        }
    }
}

/// Verdict of `gate` on a candidate B against a baseline A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The slowdown is below the tolerance.
    Pass {
        /// The candidate is slower all the same: 0 lies below the interval.
        slower: bool,
    },
    /// The slowdown is above the tolerance.
    Fail,
    /// The tolerance lies in the interval.
    Inconclusive {
        /// Blocks after which an answer can be expected, the ones measured included.
        blocks_needed: u64,
    },
}

impl Gate {
    /// Whether the question is answered.
    #[must_use]
    pub fn is_decided(self) -> bool {
        self.blocks_needed().is_none()
    }

    /// Blocks after which an answer can be expected, where there is none.
    #[must_use]
    pub fn blocks_needed(self) -> Option<u64> {
        match self {
            Self::Inconclusive { blocks_needed } => Some(blocks_needed),
            Self::Pass { .. } | Self::Fail => None,
        }
    }
}

/// The rule of `compare`: a difference if 0 is outside the interval, equivalence if the interval
/// lies within ± ln(1+δ), else unresolved. Ends within [`ROUNDING`] of 0 are 0.
#[must_use]
pub fn compare(estimate: &Estimate, tolerance: Tolerance) -> Comparison {
    let Interval { lower, upper } = estimate.interval;
    let bound = tolerance.log_bound;
    if lower > ROUNDING {
        Comparison::Slower
    } else if upper < -ROUNDING {
        Comparison::Faster
    } else if -bound < lower && upper < bound {
        Comparison::Equivalent
    } else {
        // Whichever is easier to show: that there is a difference, or that it is tolerable.
        let easier = estimate.mean.abs().max(bound - estimate.mean.abs());
        Comparison::Unresolved { blocks_needed: still_needed(estimate, bound, easier) }
    }
}

/// The rule of `gate`: pass if all of the interval is below ln(1+δ), fail if all of it is above.
#[must_use]
pub fn gate(estimate: &Estimate, tolerance: Tolerance) -> Gate {
    let Interval { lower, upper } = estimate.interval;
    let bound = tolerance.log_bound;
    if upper < bound {
        Gate::Pass { slower: lower > ROUNDING }
    } else if lower > bound {
        Gate::Fail
    } else {
        let distance = (bound - estimate.mean).abs();
        Gate::Inconclusive { blocks_needed: still_needed(estimate, bound, distance) }
    }
}

/// Blocks for a difference of the size of `bound`. Where there are as many already and no verdict,
/// the truth is likely to be close to where verdicts change: then the blocks for the observed
/// `distance`.
fn still_needed(estimate: &Estimate, bound: f64, distance: f64) -> u64 {
    let planned = blocks_needed(estimate.rule, estimate.standard_deviation, bound);
    if planned > estimate.blocks as u64 {
        return planned;
    }
    blocks_needed(estimate.rule, estimate.standard_deviation, distance)
        .max(estimate.blocks as u64 + 1)
}

#[cfg(test)]
mod tests;
