//! A program in a step, as the tables show it.
#![forbid(unsafe_code)]

use crate::evaluate::record::{Measured, State};

/// Probability below which a test is said to reject.
pub(super) const ALPHA: f64 = 0.05;

/// A program in a step.
pub(super) struct Row {
    pub(super) program: String,
    pub(super) state: State,
}

impl Row {
    /// Its samples, if it was measured.
    pub(super) fn measured(&self) -> Option<&Measured> {
        match &self.state {
            State::Measured(measured) => Some(measured),
            State::Missing | State::Failed(_) => None,
        }
    }
}
