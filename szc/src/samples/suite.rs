//! What the samples file says about a suite of programs: levels over all of them, and over
//! machines.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use szc_stats::fixed::CONFIDENCE;

use super::metric::Metric;

/// The levels over all programs, by one metric. Ratios are level/reference of values: below 1,
/// the level takes less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// The metric.
    pub metric: Metric,
    /// The programs that have values at all levels.
    pub workloads: Vec<String>,
    /// Each level, the reference first.
    pub levels: Vec<LevelRecord>,
    /// Mean square of the levels over that of the error.
    pub f: f64,
    /// k − 1 and (k − 1)(n − b), with b blocks of machines.
    pub degrees_of_freedom: [usize; 2],
    /// p of "all levels take the same".
    pub p: f64,
    /// Greenhouse and Geisser's ε, by which the degrees of freedom are multiplied for
    /// `p_corrected`.
    pub epsilon: f64,
    /// p without the assumption that all differences of levels vary equally.
    pub p_corrected: f64,
    /// Effect size: share of the levels in the variance of levels and error.
    pub partial_eta_squared: f64,
    /// Effect size: share of the levels in all variance.
    pub generalized_eta_squared: f64,
    /// Of several machines: the block of each program, from 0. Programs of the same machines are
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_of: Vec<usize>,
    /// Whether levels do different things in different blocks; absent with one block, and where
    /// each has only one program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_block: Option<ByBlockRecord>,
}

impl SuiteRecord {
    /// Number of blocks of machines.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.block_of.iter().max().map_or(0, |last| last + 1)
    }
}

/// The interaction of levels and blocks of machines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByBlockRecord {
    /// Mean square of the interaction over that of the error.
    pub f: f64,
    /// (k − 1)(b − 1) and (k − 1)(n − b).
    pub degrees_of_freedom: [usize; 2],
    /// p of "levels do the same in all blocks".
    pub p: f64,
}

/// One level over all programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelRecord {
    /// The level.
    pub level: String,
    /// Geometric mean ratio to the mean of all levels.
    pub ratio_to_mean: f64,
    /// Its interval (Loftus and Masson): for comparing the levels with one another.
    pub interval_to_mean: [f64; 2],
    /// Geometric mean ratio to the reference; 1 for the reference itself.
    pub ratio: f64,
    /// Interval of `ratio`; absent for the reference.
    pub interval: Option<[f64; 2]>,
    /// Its level by itself: the one at which Holm's procedure looked, at 5 % false differences for
    /// all levels together.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    /// p of "as the reference", adjusted by Holm for all levels; absent for the reference.
    pub p_holm: Option<f64>,
}

impl LevelRecord {
    /// Whether it takes more or less than the reference, at 5 % for all levels together.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.p_holm.is_some_and(|p| p <= 1.0 - CONFIDENCE)
    }
}

/// A level of one program against the reference, over the machines that measured it, by the
/// deciding metric. Below 1, the level takes less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverMachinesRecord {
    /// The program.
    pub workload: String,
    /// The level.
    pub level: String,
    /// The level it is compared with.
    pub reference: String,
    /// Places in the list of machines.
    pub machines: Vec<usize>,
    /// Blocks on all of them.
    pub n: usize,
    /// Geometric mean of the machines' ratios.
    pub ratio: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// Its level by itself: the one at which Holm's procedure looked, at 5 % false differences for
    /// all levels of the program together.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    /// Degrees of freedom, after Satterthwaite.
    pub degrees_of_freedom: f64,
    /// p of "as the reference".
    pub p: f64,
    /// The same, adjusted by Holm for all levels of the program.
    pub p_holm: f64,
    /// Whether the machines agree.
    pub agreement: AgreementRecord,
}

/// Test of "the ratio is the same on all machines" (Welch's analysis of variance).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgreementRecord {
    /// F.
    pub f: f64,
    /// Machines − 1, and those of the error.
    pub degrees_of_freedom: [f64; 2],
    /// p.
    pub p: f64,
}

impl OverMachinesRecord {
    /// Whether the level takes more or less than the reference, at 5 % for all levels together.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.p_holm <= 1.0 - CONFIDENCE
    }
}

/// What files of older versions have.
fn usual_confidence() -> f64 {
    CONFIDENCE
}
