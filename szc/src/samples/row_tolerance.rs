//! Tolerances of single rows of a harness, by patterns of their names.
//!
//! A pattern is a name in which `*` stands for any text and `?` for one character, as in the names
//! of files; everything else is itself, since names of rows are full of what regular expressions
//! take for their own: `BM_Sort<int>/8`, `test_add[3]`.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// What rows of some names are tolerated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowTolerance {
    /// The pattern of the names.
    pub name: String,
    /// Tolerated change as a share, 0.01 for 1 %.
    pub tolerance: f64,
}

impl RowTolerance {
    /// Whether a row of this name is meant.
    #[must_use]
    pub fn is_of(&self, row: &str) -> bool {
        matches(&self.name, row)
    }
}

/// Whether a name fits a pattern. After a failure it goes on behind the last `*`, which takes one
/// character more: no earlier one needs another try.
fn matches(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[place] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                place = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text_and_all_else_for_itself() {
        let fits = |name: &str, row: &str| {
            RowTolerance { name: name.to_owned(), tolerance: 0.02 }.is_of(row)
        };
        for (name, row) in [
            ("parse/*", "parse/big"),
            ("parse/*", "parse/"),
            ("*", ""),
            ("*<int>/?", "BM_Sort<int>/8"),
            ("test_add[3]", "test_add[3]"),
            ("*ab*b", "aab abb"),
            ("größe ?", "größe ä"),
        ] {
            assert!(fits(name, row), "{name} {row}");
        }
        for (name, row) in [
            ("parse/*", "reparse/big"),
            ("parse", "parse/big"),
            ("*<int>/?", "BM_Sort<int>/16"),
            ("test_add[3]", "test_add3"),
            ("a.c", "abc"),
            ("?", ""),
            ("*ab", "aba"),
        ] {
            assert!(!fits(name, row), "{name} {row}");
        }
    }
}
