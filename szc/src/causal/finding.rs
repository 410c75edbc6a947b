//! What a causal profile says of a place: the records that are computed, shown and written as JSON.
#![forbid(unsafe_code)]

use serde::Serialize;

use super::file::Location;
use super::phase::Phase;

/// All findings of a profile, those that are worth most first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Analysis {
    /// One for each place and progress point.
    pub findings: Vec<Finding>,
    /// Places and progress points that nothing can be said of.
    pub left_out: Vec<LeftOut>,
}

impl Analysis {
    /// Progress points of findings, with what they tell, in the order of their first finding.
    #[must_use]
    pub fn points(&self) -> Vec<(&str, Kind)> {
        let mut points = Vec::new();
        for finding in &self.findings {
            let point = (finding.point.as_str(), finding.kind);
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points
    }

    /// Findings of a progress point, in order.
    pub fn of_point<'a>(
        &'a self,
        (name, kind): (&'a str, Kind),
    ) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(move |one| one.point == name && one.kind == kind)
    }
}

/// What a progress point tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Time per visit.
    Throughput,
    /// Time from arrival to departure.
    Latency,
}

/// What speeding up a place does to a progress point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The place.
    pub location: Location,
    /// The progress point.
    pub point: String,
    /// What it tells.
    pub kind: Kind,
    /// Number of experiments.
    pub experiments: usize,
    /// Share of all samples, if they were counted.
    pub sample_share: Option<f64>,
    /// Share of the run in which the place runs at all, with its relative error. All changes are
    /// multiplied by it.
    pub phase: Option<Phase>,
    /// Changes at each speedup, ascending.
    pub steps: Vec<Step>,
    /// Change for each unit of speedup, by a straight line; none below ten experiments, or if
    /// they do not vary.
    pub slope: Option<Slope>,
    /// What the slope says.
    pub verdict: Verdict,
}

/// A change with its interval: a share, positive if the program gets faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Estimate.
    pub value: f64,
    /// Lower end of the interval; none if it is open.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// The change at one speedup, with a 95 % confidence sequence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The speedup of the place.
    pub speedup: f64,
    /// The change of the program.
    pub change: Change,
    /// Experiments at this speedup and without one.
    pub experiments: usize,
}

/// The change for each unit of speedup.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// The slope with its confidence sequence.
    pub change: Change,
    /// Level of the interval: that at which Holm's procedure looked.
    pub confidence: f64,
    /// p of "no effect at all", valid at any look.
    pub p: f64,
    /// Holm's adjustment over all findings.
    pub p_adjusted: f64,
}

/// What a slope says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "word", rename_all = "kebab-case")]
pub enum Verdict {
    /// The program gets faster.
    Gain,
    /// The program gets slower: the place is in the way of others.
    Contention,
    /// The interval holds 0. This is not "no effect".
    Unresolved {
        /// Experiments with which an answer can be expected.
        experiments_needed: u64,
    },
    /// The interval lies within the tolerance.
    NoEffect,
    /// Fewer than ten experiments, or equal ones.
    TooFew,
}

impl Verdict {
    /// The verdict in a word or two.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Gain => "gain",
            Self::Contention => "contention",
            Self::Unresolved { .. } => "unresolved",
            Self::NoEffect => "no effect",
            Self::TooFew => "too few",
        }
    }
}

/// Why nothing is said of a place and a progress point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// No experiment without a speedup, in which the point was visited.
    Baseline,
    /// Too few different speedups.
    Speedups,
    /// The point was never visited.
    Visits,
}

/// A place and a progress point that nothing is said of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The place.
    pub location: Location,
    /// The progress point.
    pub point: String,
    /// Why.
    pub lack: Lack,
    /// Number of experiments.
    pub experiments: usize,
}

impl Change {
    /// Both ends of the interval, open ones as infinities.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        [self.lower.unwrap_or(f64::NEG_INFINITY), self.upper.unwrap_or(f64::INFINITY)]
    }
}
