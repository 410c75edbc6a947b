//! A figure that the measured program prints: the first group of the last match on stdout.
//!
//! Output is looked at line by line as it comes, so that a program may print as much as it likes.
#![forbid(unsafe_code)]

use regex::bytes::Regex;

/// Longer lines are cut: no program prints its result behind a mebibyte of something else.
const LONGEST_LINE_BYTES: usize = 1 << 20;

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
                "{text:?} has no group: put parentheses around the figure, as in 'time: ([0-9.]+) s'"
            ));
        }
        Ok(Self(regex))
    }

    /// The pattern as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Starts to search the output of one run.
    #[must_use]
    pub fn search(&self) -> Search<'_> {
        Search { pattern: self, line: Vec::new(), found: None }
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
                "no line of its stdout matches user:{text}\n  needed: a figure in every run\n  next: look at its output, and at the pattern (syntax: docs.rs/regex)"
            ),
            Self::NotPositive(found) => format!(
                "the last match of user:{text} on its stdout is {found:?}\n  needed: a positive number, such as 12.5 or 3e6\n  next: put the parentheses around the number alone"
            ),
        }
    }
}

/// The search through the output of one run.
#[derive(Debug)]
pub struct Search<'a> {
    pattern: &'a Pattern,
    line: Vec<u8>,
    found: Option<Vec<u8>>,
}

impl Search<'_> {
    /// Takes the next bytes of the output.
    pub fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE_BYTES - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.look();
            }
        }
    }

    /// The figure after all of the output.
    ///
    /// # Errors
    /// [`Missing`] if there is none.
    pub fn finish(mut self) -> Result<f64, Missing> {
        self.look();
        let found = self.found.ok_or(Missing::NoMatch)?;
        let text = String::from_utf8_lossy(&found).into_owned();
        let number: Option<f64> = text.trim().parse().ok();
        number.filter(|value| value.is_finite() && *value > 0.0).ok_or(Missing::NotPositive(text))
    }

    fn look(&mut self) {
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let last = self.pattern.0.captures_iter(line).filter_map(|found| found.get(1)).last();
        if let Some(group) = last {
            self.found = Some(group.as_bytes().to_vec());
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn figure(pattern: &str, output: &str) -> Result<f64, Missing> {
        let pattern = Pattern::new(pattern).unwrap();
        let mut search = pattern.search();
        search.push(output.as_bytes());
        search.finish()
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

    #[test]
    fn endless_lines_do_not_fill_memory() {
        let pattern = Pattern::new("([0-9])").unwrap();
        let mut search = pattern.search();
        for _ in 0..40 {
            search.push(&[b'x'; 100_000]);
        }
        assert!(search.line.len() <= LONGEST_LINE_BYTES);
        search.push(b"\n4\n");
        assert_eq!(search.finish(), Ok(4.0));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_output_is_cut(
            text in "([a-z]{0,4}=?[0-9]{0,3}\r?\n?){0,12}",
            cuts in prop::collection::vec(0_usize..200, 0..6),
        ) {
            let pattern = Pattern::new("=([0-9]+)").unwrap();
            let mut whole = pattern.search();
            whole.push(text.as_bytes());
            let mut cut = pattern.search();
            let mut places: Vec<usize> = cuts.iter().map(|place| place % (text.len() + 1)).collect();
            places.sort_unstable();
            let mut from = 0;
            for place in places.into_iter().chain([text.len()]) {
                cut.push(&text.as_bytes()[from..place]);
                from = place;
            }
            prop_assert_eq!(whole.finish(), cut.finish());
        }
    }
}
