//! The conditions of a session.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::measure::turns::Turns;
use crate::samples::Metric;

/// Under what conditions programs run, and what they must fulfil.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Refuse programs whose stdout differs.
    pub check_output: bool,
    /// Refuse programs on which this metric is zero.
    pub metric: Metric,
    /// Kill and refuse a run that takes longer.
    pub timeout: Option<Duration>,
    /// Run on this CPU only.
    pub cpu: Option<usize>,
    /// Whether programs take turns, where that is not decided yet.
    pub turns: Turns,
    /// How long the scheduler lets a run have its CPU while others wait for it.
    pub turn: Option<Duration>,
    /// Shell command in front of each run, not measured.
    pub prepare: Option<String>,
    /// Shell command behind each run, not measured.
    pub cleanup: Option<String>,
}

impl Conditions {
    /// What is usual, with this metric.
    #[must_use]
    pub fn new(metric: Metric) -> Self {
        Self {
            check_output: true,
            metric,
            timeout: None,
            cpu: None,
            turns: Turns::Off,
            turn: None,
            prepare: None,
            cleanup: None,
        }
    }
}
