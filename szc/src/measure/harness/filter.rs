//! Which rows of a harness count: regular expressions for their names, with `!` in front for all
//! others, and ` && ` between several that all must hold.
#![forbid(unsafe_code)]

use regex::Regex;

/// Between two conditions.
const AND: &str = " && ";

/// What must hold of a row's name.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Each with whether a name has to match it.
    conditions: Vec<(Regex, bool)>,
}

impl Filter {
    /// Reads the value of `--rows`; an empty one lets all pass.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let condition = |part: &str| {
            let (pattern, wanted) =
                part.strip_prefix('!').map_or((part, true), |rest| (rest, false));
            Regex::new(pattern)
                .map(|pattern| (pattern, wanted))
                .map_err(|error| format!("no regular expression for rows: {error}"))
        };
        let parts = text.split(AND).filter(|part| !part.is_empty());
        Ok(Self { conditions: parts.map(condition).collect::<Result<_, _>>()? })
    }

    /// Whether a row of this name counts.
    #[must_use]
    pub fn is_for(&self, name: &str) -> bool {
        self.conditions.iter().all(|(pattern, wanted)| pattern.is_match(name) == *wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_left_out_or_both() {
        let kept = |filter: &str| -> Vec<&str> {
            let filter = Filter::new(filter).expect("a filter");
            ["sort/1", "sort/2", "sum/1"].into_iter().filter(|name| filter.is_for(name)).collect()
        };
        assert_eq!(kept("^sort/"), ["sort/1", "sort/2"]);
        assert_eq!(kept("!^sort/"), ["sum/1"]);
        assert_eq!(kept("^sort/ && !2$"), ["sort/1"]);
        assert_eq!(kept(r"^s \&\& x"), [] as [&str; 0]);
        assert_eq!(kept("").len(), 3);
        assert!(Filter::new("a && !(").unwrap_err().contains("regular expression"));
    }
}
