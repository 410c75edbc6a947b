//! What a profiler says of the functions of a program, whatever its form.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use crate::measure::names::readable;

/// What a profiler says of the functions of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hotness {
    /// What each function has of it by itself, by readable name.
    pub functions: BTreeMap<String, f64>,
    /// All there is, of functions without names too.
    pub total: f64,
    /// Whether that is seconds.
    pub in_seconds: bool,
    /// Who called whom, where it says so.
    pub calls: BTreeSet<(String, String)>,
}

impl Hotness {
    /// Adds what a function has; without a name to the sum alone.
    pub fn add(&mut self, function: &str, amount: f64) {
        if !function.is_empty() {
            *self.functions.entry(readable(function)).or_default() += amount;
        }
        self.total += amount;
    }

    /// The share of a function.
    #[must_use]
    pub fn share(&self, function: &str) -> f64 {
        let own = self.functions.get(function).copied().unwrap_or_default();
        if self.total > 0.0 { own / self.total } else { 0.0 }
    }

    /// The seconds of a function in a run that took so many.
    #[must_use]
    pub fn seconds(&self, function: &str, of_program: f64) -> f64 {
        if self.in_seconds {
            return self.functions.get(function).copied().unwrap_or_default();
        }
        self.share(function) * of_program
    }

    /// The functions, the hottest first.
    #[must_use]
    pub fn hottest(&self) -> Vec<&str> {
        hottest(&self.functions)
    }
}

/// The functions with the largest numbers first.
#[must_use]
pub fn hottest(functions: &BTreeMap<String, f64>) -> Vec<&str> {
    let mut all: Vec<(&str, f64)> =
        functions.iter().map(|(name, &own)| (name.as_str(), own)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.into_iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_become_seconds_by_the_time_of_the_program() {
        let mut hotness = Hotness::default();
        hotness.add("a", 3.0);
        hotness.add("_ZN1b1cEv", 1.0);
        assert_eq!(hotness.hottest(), ["a", "b::c()"]);
        assert!((hotness.seconds("b::c()", 2.0) - 0.5).abs() < 1e-12);
        hotness.in_seconds = true;
        assert!((hotness.seconds("b::c()", 2.0) - 1.0).abs() < 1e-12);
        assert!(hotness.seconds("none", 2.0) == 0.0);
    }
}
