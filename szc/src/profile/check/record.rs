//! What a check measured, as JSON, and what follows from it.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use szc_stats::instrumented::{Observation, Slope, slope};

/// Version of the form.
pub const VERSION: u32 = 1;

/// What is computed at each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Computation {
    /// Fibonacci numbers, in registers
    Fibonacci,
    /// The sum of an array of 1,024 integers, again and again
    Array,
}

impl Computation {
    /// Its name in `SZC_INJECT`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fibonacci => "fibonacci",
            Self::Array => "array",
        }
    }

    /// Bytes that a function must have for it.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Self::Fibonacci => 48,
            Self::Array => 71,
        }
    }
}

/// A check of a profiler on a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the form.
    pub szc_check: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The profiler and its options.
    pub profiler: String,
    /// What functions, layout and order of runs were drawn by.
    pub seed: u64,
    /// Difference of a slope from 1 that does not matter.
    pub delta: f64,
    /// The hottest functions of which none was drawn, and why.
    pub left_out: Vec<LeftOut>,
    /// What was made longer.
    pub subjects: Vec<Subject>,
}

/// A function whose calls cannot be made longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub function: String,
    /// Why not.
    pub why: String,
}

/// A function and a computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The function's name.
    pub function: String,
    /// Its symbol.
    pub symbol: String,
    /// Its share of the time of the program as it is, by szc.
    pub share: f64,
    /// What its calls compute.
    pub computation: Computation,
    /// The runs, in the order in which they were made.
    pub runs: Vec<Run>,
    /// The slope with its 95 % interval, once there are runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<[f64; 3]>,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Length of the computation.
    pub rounds: u32,
    /// CPU time of the program, by its own clock.
    pub program_s: f64,
    /// Time of the function, by the profiler.
    pub function_s: f64,
}

/// What a slope says of the profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval lies within the tolerance.
    Actionable,
    /// It lies outside.
    NotActionable,
    /// Neither: more or longer runs would say.
    Unresolved,
}

impl Subject {
    /// The slope of the profiler's seconds on the program's, once it can be told.
    #[must_use]
    pub fn fit(&self) -> Option<Slope> {
        let observation = |run: &Run| Observation {
            amount: f64::from(run.rounds),
            x: run.program_s,
            y: run.function_s,
        };
        slope(&self.runs.iter().map(observation).collect::<Vec<_>>()).ok()
    }

    /// What that says.
    #[must_use]
    pub fn verdict(&self, delta: f64) -> Verdict {
        let Some(slope) = self.fit() else { return Verdict::Unresolved };
        let (low, high) = (1.0 - delta, 1.0 + delta);
        if slope.interval.lower >= low && slope.interval.upper <= high {
            Verdict::Actionable
        } else if slope.interval.upper < low || slope.interval.lower > high {
            Verdict::NotActionable
        } else {
            Verdict::Unresolved
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn subject(slope: f64, noise: f64) -> Subject {
        let run = |index: u32| {
            let rounds = 100 * (1 + index % 8);
            let program_s = 1.0 + f64::from(rounds) / 800.0;
            let off = if index.is_multiple_of(3) { noise } else { -noise / 2.0 };
            Run { rounds, program_s, function_s: 0.5 + slope * (program_s - 1.0) + off }
        };
        Subject {
            function: "f".into(),
            symbol: "f".into(),
            share: 0.5,
            computation: Computation::Fibonacci,
            runs: (0..24).map(run).collect(),
            slope: None,
        }
    }

    #[test]
    fn a_profiler_is_actionable_if_the_interval_of_its_slope_is_about_one() {
        assert_eq!(subject(1.0, 0.001).verdict(0.03), Verdict::Actionable);
        assert_eq!(subject(0.3, 0.001).verdict(0.03), Verdict::NotActionable);
        assert_eq!(subject(1.0, 0.2).verdict(0.03), Verdict::Unresolved);
        let none = Subject { runs: Vec::new(), ..subject(1.0, 0.0) };
        assert_eq!((none.verdict(0.03), none.fit()), (Verdict::Unresolved, None));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            szc_check: VERSION,
            command: vec!["./a".into()],
            profiler: "gprof".into(),
            seed: 7,
            delta: 0.03,
            left_out: vec![LeftOut { function: "g".into(), why: "pinned".into() }],
            subjects: vec![Subject { slope: Some([1.0, 0.9, 1.1]), ..subject(1.0, 0.1) }],
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }
}
