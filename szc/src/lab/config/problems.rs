//! What is wrong with a file, and where in it.
#![forbid(unsafe_code)]

use std::fmt;
use std::ops::Range;

/// Something wrong in a file, and where: line and column from 1, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
    /// What was found and what is needed.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message } = self;
        write!(formatter, "{file}:{line}:{column}: {message}")
    }
}

/// Everything that is wrong with the text of a file.
pub struct Problems<'a> {
    file: &'a str,
    text: &'a str,
    /// By the byte they stand at.
    found: Vec<(usize, String)>,
}

impl<'a> Problems<'a> {
    /// None yet with `text`, of a file that is called `file` in messages.
    #[must_use]
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, found: Vec::new() }
    }

    /// One more, at these bytes of the text.
    pub fn add(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.found.push((span.start, message.into()));
    }

    /// All of them in the order of the file.
    #[must_use]
    pub fn in_order(mut self) -> Vec<Problem> {
        self.found.sort();
        let located = |(offset, message)| {
            let (line, column) = place_of(self.text, offset);
            Problem { file: self.file.to_owned(), line, column, message }
        };
        self.found.into_iter().map(located).collect()
    }
}

/// The known name that `name` is most probably a misspelling of.
#[must_use]
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = name.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&plain, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Line and column, from 1, of a byte.
pub(super) fn place_of(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    // Bytes that continue a character do not count.
    let column = 1 + before[line_start..].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    (line, column)
}
