//! How the runs of a program were scheduled, as samples files say it.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::design::Bases;

/// How the runs of a program were scheduled. Files from before have none: run after run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScheduleRecord {
    /// Whether the programs of a block were under way at once, on one processor by turns.
    pub by_turns: bool,
    /// The length of a turn that the scheduler was asked for.
    #[serde(default)]
    pub turn_ms: Option<f64>,
    /// The processor that the runs were pinned to.
    #[serde(default)]
    pub cpu: Option<usize>,
    /// Who chose where stack and mappings began.
    #[serde(default)]
    pub bases: Bases,
    /// Why they were scheduled so.
    pub reason: String,
}

impl ScheduleRecord {
    /// Run after run, for this reason.
    #[must_use]
    pub fn one_after_the_other(cpu: Option<usize>, reason: impl Into<String>) -> Self {
        Self { cpu, reason: reason.into(), ..Self::default() }
    }

    /// In a line: what, and why.
    #[must_use]
    pub fn line(&self) -> String {
        let cpu = self.cpu.map_or_else(String::new, |cpu| format!(" on CPU {cpu}"));
        match self.turn_ms {
            Some(turn) if self.by_turns => {
                format!("by turns of {turn} ms{cpu}: {}", self.reason)
            }
            _ if self.by_turns => format!("by turns{cpu}: {}", self.reason),
            _ => format!("one run after the other{cpu}: {}", self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_and_why() {
        let after = ScheduleRecord::one_after_the_other(None, "--turns off");
        assert_eq!(after.line(), "one run after the other: --turns off");
        let turns = ScheduleRecord { by_turns: true, turn_ms: Some(3.0), cpu: Some(1), ..after };
        assert_eq!(turns.line(), "by turns of 3 ms on CPU 1: --turns off");
    }

    #[test]
    fn fields_that_are_missing_are_unknown() {
        let read: ScheduleRecord =
            serde_json::from_str(r#"{"by_turns": true, "reason": "x"}"#).unwrap();
        assert_eq!((read.turn_ms, read.cpu, read.bases), (None, None, Bases::Kernel));
    }
}
