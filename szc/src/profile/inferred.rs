//! What two registers said of the callers of samples: how many are precise, ambiguous, missing,
//! and, where stacks were recorded as well, wrong.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use szc_sampler::heights;

/// What two registers say of a sample's callers.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Inferred {
    /// How many paths have the height of its stack.
    pub paths: u32,
    /// Behind how many of the callers lies what the paths do not have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u32>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Whether the path by unwind tables is among them, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<bool>,
}

/// Why no path was found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// No known path into the function has this height.
    Path,
    /// The function was not seen in the training.
    Function,
    /// The depth of the stack pointer at the instruction is not known.
    Depth,
    /// It is not known where the thread's stack begins.
    Base,
    /// Too many layouts, or frames of too many sizes.
    Layouts,
}

impl From<heights::Inferred> for Inferred {
    fn from(inferred: heights::Inferred) -> Self {
        let missing = |missing| match missing {
            heights::Missing::Path => Missing::Path,
            heights::Missing::Function => Missing::Function,
            heights::Missing::Depth => Missing::Depth,
            heights::Missing::Base => Missing::Base,
            heights::Missing::Layouts => Missing::Layouts,
        };
        Self {
            paths: inferred.paths,
            gap: inferred.gap,
            missing: inferred.missing.map(missing),
            right: inferred.is_right,
        }
    }
}

impl Inferred {
    /// What stands for the callers that are not known.
    #[must_use]
    pub fn marker(self) -> &'static str {
        if self.missing.is_some() { "[missing]" } else { "[ambiguous]" }
    }
}

/// How many samples of a degree of ambiguity there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    samples: u64,
    right: u64,
    wrong: u64,
}

/// Counts over samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_degree: BTreeMap<u32, Count>,
    missing: BTreeMap<Missing, u64>,
}

impl Counts {
    /// Counts a sample.
    pub fn note(&mut self, inferred: Inferred) {
        if let Some(missing) = inferred.missing {
            *self.missing.entry(missing).or_default() += 1;
            return;
        }
        let count = self.by_degree.entry(inferred.paths).or_default();
        count.samples += 1;
        count.right += u64::from(inferred.right == Some(true));
        count.wrong += u64::from(inferred.right == Some(false));
    }

    /// Sentences about them; none without samples.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let missing: u64 = self.missing.values().sum();
        let all = missing + self.sum(0..=u32::MAX).samples;
        if all == 0 {
            return Vec::new();
        }
        let precise = self.sum(1..=1);
        let ambiguous = self.sum(2..=u32::MAX);
        let mut text = format!(
            "Call paths from two registers: {} of {all} samples precise, {} ambiguous",
            percent(precise.samples, all),
            percent(ambiguous.samples, all)
        );
        let degrees = [("2 paths", 2..=2), ("3 to 5", 3..=5), ("more", 6..=u32::MAX)];
        let degrees: Vec<String> = degrees
            .into_iter()
            .map(|(name, range)| (name, self.sum(range).samples))
            .filter(|(_, samples)| *samples != 0)
            .map(|(name, samples)| format!("{name} {samples}"))
            .collect();
        if !degrees.is_empty() {
            text += &format!(" ({})", degrees.join(", "));
        }
        text += &format!(", {} missing", percent(missing, all));
        let reasons: Vec<String> = self
            .missing
            .iter()
            .map(|(missing, samples)| format!("{} {samples}", reason(*missing)))
            .collect();
        if !reasons.is_empty() {
            text += &format!(" ({})", reasons.join(", "));
        }
        let mut remarks = vec![text + "."];
        remarks.extend(against_tables(precise, ambiguous));
        remarks
    }

    fn sum(&self, degrees: std::ops::RangeInclusive<u32>) -> Count {
        let mut sum = Count::default();
        for (_, count) in self.by_degree.range(degrees) {
            sum.samples += count.samples;
            sum.right += count.right;
            sum.wrong += count.wrong;
        }
        sum
    }
}

/// How many are right where stacks were recorded as well.
fn against_tables(precise: Count, ambiguous: Count) -> Option<String> {
    let held = precise.right + precise.wrong + ambiguous.right + ambiguous.wrong;
    (held != 0).then(|| {
        format!(
            "Of {held} of them whose stack was recorded whole, {} precise ones are right and {} \
             wrong; {} ambiguous ones have the true path among theirs, and {} have not.",
            precise.right, precise.wrong, ambiguous.right, ambiguous.wrong
        )
    })
}

fn reason(missing: Missing) -> &'static str {
    match missing {
        Missing::Path => "no known path of this height",
        Missing::Function => "function not seen in training",
        Missing::Depth => "unknown depth at the instruction",
        Missing::Base => "unknown beginning of the stack",
        Missing::Layouts => "too many layouts or sizes of a frame",
    }
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_by_how_many_paths_they_may_have() {
        let mut counts = Counts::default();
        assert_eq!(counts.remarks(), [""; 0]);
        let of = |paths, right| Inferred { paths, right, ..Inferred::default() };
        let right = Some(true);
        for inferred in [of(1, right), of(1, Some(false)), of(1, None), of(2, right), of(9, None)] {
            counts.note(inferred);
        }
        let missing = |missing| Inferred { missing: Some(missing), ..Inferred::default() };
        for reason in [Missing::Path, Missing::Path, Missing::Base] {
            counts.note(missing(reason));
        }
        let remarks = counts.remarks();
        assert_eq!(
            remarks[0],
            "Call paths from two registers: 37.5 % of 8 samples precise, 25.0 % ambiguous \
             (2 paths 1, more 1), 37.5 % missing (no known path of this height 2, unknown \
             beginning of the stack 1)."
        );
        assert!(remarks[1].starts_with("Of 3 of them"), "{remarks:?}");
        assert!(remarks[1].contains("1 precise ones are right and 1 wrong"), "{remarks:?}");
        assert_eq!(missing(Missing::Path).marker(), "[missing]");
    }
}
