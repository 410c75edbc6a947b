//! A figure that the measured program prints: the first group of the last match on stdout.
//!
//! Matches do not cross lines. Only the end of stdout is looked at, which is where results are.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;

use regex::bytes::Regex;

use super::child::Outcome;
use super::instrument::Instrument;

/// The name of the figure.
pub const NAME: &str = "user";

/// A pattern for the figure.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Reads a regular expression in the syntax of the crate `regex`; it must have a group.
    ///
    /// # Errors
    /// What is wrong with it and what is needed.
    pub fn new(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text)
            .map_err(|error| format!("{text:?} is no regular expression: {error}"))?;
        if regex.captures_len() < 2 {
            return Err(format!(
                "{text:?} has no group: put parentheses around the figure, as in 'time: ([0-9.]+) \
                 s'"
            ));
        }
        Ok(Self(regex))
    }

    /// The pattern as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The figure in `output`.
    ///
    /// # Errors
    /// [`Missing`] if there is none.
    pub fn figure(&self, output: &[u8]) -> Result<f64, Missing> {
        let lines = output.split(|byte| *byte == b'\n');
        let last = lines
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .flat_map(|line| self.0.captures_iter(line))
            .filter_map(|found| found.get(1))
            .last()
            .ok_or(Missing::NoMatch)?;
        let text = String::from_utf8_lossy(last.as_bytes()).into_owned();
        let number: Option<f64> = text.trim().parse().ok();
        number.filter(|value| value.is_finite() && *value > 0.0).ok_or(Missing::NotPositive(text))
    }
}

impl Instrument for Pattern {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(self.clone())
    }

    fn figures(
        &mut self,
        _scratch: &Path,
        outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        let found = self.figure(&outcome.stdout_tail);
        let value = found.map_err(|missing| missing.message(self.as_str()))?;
        Ok(BTreeMap::from([(NAME.to_owned(), value)]))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

/// Why a run has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No line matched.
    NoMatch,
    /// The last match was this, which is no positive number.
    NotPositive(String),
}

impl Missing {
    /// What was found, what is needed and what to do, for the pattern given as `text`.
    #[must_use]
    pub fn message(&self, text: &str) -> String {
        match self {
            Self::NoMatch => format!(
                "no line of its stdout matches user:{text}\n  needed: a figure at the end of the \
                 output (64 KiB) of every run\n  next: look at its output, and at the pattern \
                 (syntax: docs.rs/regex)"
            ),
            Self::NotPositive(found) => format!(
                "the last match of user:{text} on its stdout is {found:?}\n  needed: a positive \
                 number, such as 12.5 or 3e6\n  next: put the parentheses around the number alone"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn figure(pattern: &str, output: &str) -> Result<f64, Missing> {
        Pattern::new(pattern).unwrap().figure(output.as_bytes())
    }

    #[test]
    fn the_last_match_counts() {
        let output = "pass 1: 20 ops\npass 2: 30.5 ops\ndone\n";
        assert_eq!(figure(r"([0-9.]+) ops", output), Ok(30.5));
        assert_eq!(figure(r"([0-9.]+) ops", "1 ops, 2 ops"), Ok(2.0));
        assert_eq!(figure(r"^t=(\S+)$", "t=1e-3\r\n"), Ok(0.001));
    }

    #[test]
    fn output_without_a_positive_number_is_refused() {
        assert_eq!(figure("x=([0-9]+)", "y=3\n"), Err(Missing::NoMatch));
        for printed in ["0", "-3", "NaN", "inf", "1,5", ""] {
            let found = figure("^x=(.*)$", &format!("x={printed}\n"));
            assert_eq!(found, Err(Missing::NotPositive(printed.to_owned())));
        }
    }

    #[test]
    fn a_group_that_took_no_part_is_no_match() {
        assert_eq!(figure("a|b([0-9])", "b7\na\n"), Ok(7.0));
    }

    #[test]
    fn a_pattern_needs_a_group_and_to_be_one() {
        assert!(Pattern::new("[0-9]+").unwrap_err().contains("put parentheses"));
        assert!(Pattern::new("([0-9]+").unwrap_err().contains("is no regular expression"));
    }

    proptest! {
        #[test]
        fn what_stands_in_front_of_the_last_match_does_not_matter(
            before in prop::collection::vec(any::<u8>(), 0..200),
            value in 1_u32..,
        ) {
            let pattern = Pattern::new("^figure=([0-9]+)$").unwrap();
            let mut output = before;
            output.extend_from_slice(format!("\nfigure={value}\n").as_bytes());
            prop_assert_eq!(pattern.figure(&output), Ok(f64::from(value)));
        }
    }
}
