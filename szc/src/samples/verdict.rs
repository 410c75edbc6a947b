//! The words for verdicts, as tables, sentences and files have them, and how an experiment ended.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use szc_stats::decision::{Comparison, Gate};

use super::metric::{Kind, Metric};

/// What is said about a program against its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Takes less time.
    Faster,
    /// Takes more time.
    Slower,
    /// Takes less memory.
    Smaller,
    /// Takes more memory.
    Larger,
    /// A lower count.
    Lower,
    /// A higher count.
    Higher,
    /// No difference beyond the tolerance, and none was seen.
    Equivalent,
    /// Not known; never to be printed as "the same".
    Unresolved,
    /// Of a gate: not slower than tolerated.
    Pass,
    /// Of a gate: slower than tolerated.
    Fail,
    /// Of a gate: not known.
    Inconclusive,
}

impl Verdict {
    /// The verdict of `compare` in the words of a metric.
    #[must_use]
    pub fn of_comparison(metric: &Metric, comparison: Comparison) -> Self {
        match (comparison, metric.kind()) {
            (Comparison::Faster, Kind::Time) => Self::Faster,
            (Comparison::Slower, Kind::Time) => Self::Slower,
            (Comparison::Faster, Kind::Memory) => Self::Smaller,
            (Comparison::Slower, Kind::Memory) => Self::Larger,
            (Comparison::Faster, Kind::Count) => Self::Lower,
            (Comparison::Slower, Kind::Count) => Self::Higher,
            (Comparison::Equivalent, _) => Self::Equivalent,
            (Comparison::Unresolved { .. }, _) => Self::Unresolved,
        }
    }

    /// The verdict of `gate`.
    #[must_use]
    pub fn of_gate(gate: Gate) -> Self {
        match gate {
            Gate::Pass { .. } => Self::Pass,
            Gate::Fail => Self::Fail,
            Gate::Inconclusive { .. } => Self::Inconclusive,
        }
    }

    /// One word for a sentence or a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Smaller => "smaller",
            Self::Larger => "larger",
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::Equivalent => "equivalent",
            Self::Unresolved => "unresolved",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// What a table shows: the word, or `~` where nothing is known.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Unresolved | Self::Inconclusive => "~",
            known => known.word(),
        }
    }

    /// Whether the question is answered.
    #[must_use]
    pub fn is_decided(self) -> bool {
        !matches!(self, Self::Unresolved | Self::Inconclusive)
    }
}

/// How an experiment ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "how")]
pub enum EndedRecord {
    /// All blocks were measured, or the question was answered before.
    Complete,
    /// A signal asked to stop.
    Interrupted {
        /// Number of the signal.
        signal: i32,
    },
    /// It has not, or szc was killed: this is what was saved on the way.
    Unfinished,
    /// A program was unfit.
    Refused {
        /// The message that was printed.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_metric_has_words_of_its_own() {
        let word = |metric, comparison| Verdict::of_comparison(&metric, comparison).word();
        assert_eq!(word(Metric::Wall, Comparison::Faster), "faster");
        assert_eq!(word(Metric::Rss, Comparison::Slower), "larger");
        assert_eq!(word(Metric::Figure("user".to_owned()), Comparison::Slower), "higher");
        let unresolved = Comparison::Unresolved { blocks_needed: 3 };
        assert_eq!(Verdict::of_comparison(&Metric::Cpu, unresolved).mark(), "~");
        assert_eq!(Verdict::of_gate(Gate::Pass { slower: true }).mark(), "pass");
    }
}
