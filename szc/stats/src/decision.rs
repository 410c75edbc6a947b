//! From an interval to a verdict: the decision table of `compare` and `gate`, and of equivalence.
//!
//! The interval decides, never the ratio. Equivalence is shown by an interval that lies within the
//! tolerated bounds (Schuirmann 1987, "two one-sided tests"); an interval that holds 0 shows
//! nothing, and is called unresolved, with the number of blocks that would settle it.
//!
//! An interval is made of the layouts that were met. That a program is *not* slower, or that two
//! are equivalent, is also a statement about the others, so both ask for as many layouts as would
//! have shown a slow one ([`Tolerance::min_layouts`]).

use super::data::DataError;
use super::fixed::{Interval, ROUNDING};
use super::planning::{Rule, blocks_needed, layouts_needed};

/// How many times slower than the others a rare layout is assumed to be at most, where nobody says
/// otherwise.
pub const SLOWEST_LAYOUT: f64 = 1.5;

/// A tolerated change of a ratio: δ of "no more than 1 % slower".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    log_bound: f64,
    min_layouts: u64,
}

impl Tolerance {
    /// `share` is δ as a share: 0.01 for 1 %.
    ///
    /// # Errors
    /// [`DataError::Parameter`] unless it is positive and finite.
    pub fn new(share: f64) -> Result<Self, DataError> {
        if share.is_finite() && share.ln_1p() > 0.0 {
            let log_bound = share.ln_1p();
            Ok(Self { log_bound, min_layouts: layouts_needed(log_bound, SLOWEST_LAYOUT) })
        } else {
            Err(DataError::Parameter("tolerance"))
        }
    }

    /// The same where no layout is assumed to be more than `slowest` times slower than the others.
    ///
    /// # Errors
    /// [`DataError::Parameter`] unless that is above 1 and finite.
    pub fn with_slowest_layout(self, slowest: f64) -> Result<Self, DataError> {
        if slowest.is_finite() && slowest.ln() > 0.0 {
            Ok(Self { min_layouts: layouts_needed(self.log_bound, slowest), ..self })
        } else {
            Err(DataError::Parameter("slowest layout"))
        }
    }

    /// Layouts of each program below which nothing is called equivalent and no gate passes: fewer
    /// would likely have missed a slow layout that is frequent enough to move the mean by δ.
    #[must_use]
    pub fn min_layouts(self) -> u64 {
        self.min_layouts
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
    /// Layouts of each program, of the one with fewer.
    pub layouts: usize,
    /// Interval of the mean at error rate `alpha`.
    pub interval: Interval,
    /// Probability with which the interval misses: 5 %, less where several comparisons share that.
    pub alpha: f64,
}

impl Estimate {
    /// What never varies does not depend on layouts.
    fn has_layouts_for(&self, tolerance: Tolerance) -> bool {
        self.standard_deviation == 0.0 || self.layouts as u64 >= tolerance.min_layouts
    }
}

/// Verdict of `compare` on B against A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All of the interval is below 0: B needs less than A.
    Faster,
    /// All of the interval is above 0: B needs more than A.
    Slower,
    /// The interval holds 0 and lies within the tolerance on both sides, and is of enough layouts.
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
    /// The slowdown is below the tolerance, over enough layouts.
    Pass {
        /// The candidate is slower all the same: 0 lies below the interval.
        slower: bool,
    },
    /// The slowdown is above the tolerance.
    Fail,
    /// The tolerance lies in the interval, or there are too few layouts to pass.
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
/// lies within ± ln(1+δ) and there are [`Tolerance::min_layouts`], else unresolved. Ends within
/// [`ROUNDING`] of 0 are 0.
#[must_use]
pub fn compare(estimate: &Estimate, tolerance: Tolerance) -> Comparison {
    let Interval { lower, upper } = estimate.interval;
    let bound = tolerance.log_bound;
    if lower > ROUNDING {
        Comparison::Slower
    } else if upper < -ROUNDING {
        Comparison::Faster
    } else if -bound < lower && upper < bound {
        if estimate.has_layouts_for(tolerance) {
            Comparison::Equivalent
        } else {
            Comparison::Unresolved { blocks_needed: blocks_for_layouts(estimate, tolerance) }
        }
    } else {
        // Whichever is easier to show: that there is a difference, or that it is tolerable.
        let easier = estimate.mean.abs().max(bound - estimate.mean.abs());
        Comparison::Unresolved { blocks_needed: still_needed(estimate, bound, easier) }
    }
}

/// The rule of `gate`: pass if all of the interval is below ln(1+δ) and there are
/// [`Tolerance::min_layouts`], fail if all of it is above.
#[must_use]
pub fn gate(estimate: &Estimate, tolerance: Tolerance) -> Gate {
    let Interval { lower, upper } = estimate.interval;
    let bound = tolerance.log_bound;
    if upper < bound && estimate.has_layouts_for(tolerance) {
        Gate::Pass { slower: lower > ROUNDING }
    } else if upper < bound {
        Gate::Inconclusive { blocks_needed: blocks_for_layouts(estimate, tolerance) }
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
    let needed = |distance| {
        blocks_needed(estimate.rule, estimate.standard_deviation, distance, estimate.alpha)
    };
    let planned = needed(bound);
    if planned > estimate.blocks as u64 {
        return planned;
    }
    needed(distance).max(estimate.blocks as u64 + 1)
}

/// Blocks that have the layouts which the tolerance asks for, at as many in each as until now.
fn blocks_for_layouts(estimate: &Estimate, tolerance: Tolerance) -> u64 {
    let per_block = (estimate.layouts / estimate.blocks.max(1)).max(1) as u64;
    tolerance.min_layouts.div_ceil(per_block)
}

#[cfg(test)]
mod tests;
