//! How far profilers agree: hottest sets, and what each says of another's hottest function.
//!
//! Source: Mytkowicz, Diwan, Hauswirth and Sweeney, "Evaluating the accuracy of Java profilers"
//! (PLDI 2010), section 3; figures 3.2 to 3.5 of Mytkowicz's dissertation.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::profile::profilers::hottest;

/// A call, from whom and of whom.
pub type Call = (String, String);

/// What a profiler says on average: the share of each function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// The profiler and its options.
    pub profiler: String,
    /// Mean share of each function over the runs.
    pub shares: BTreeMap<String, f64>,
}

impl Profiled {
    /// The functions, the hottest first.
    #[must_use]
    pub fn hottest(&self) -> Vec<&str> {
        hottest(&self.shares)
    }

    /// The share of a function.
    #[must_use]
    pub fn share(&self, function: &str) -> f64 {
        self.shares.get(function).copied().unwrap_or_default()
    }
}

/// How a pair of profilers agrees on the hottest function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It is the same.
    Agree,
    /// One calls the other, directly or not.
    CallerCallee,
    /// Neither calls the other, as far as calls were seen.
    Disagree,
}

/// Two profilers, and their hottest functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Numbers of the profilers.
    pub profilers: [usize; 2],
    /// The hottest function of each.
    pub hottest: [String; 2],
    /// What the first says of both, and the second.
    pub shares: [[f64; 2]; 2],
    /// How they agree.
    pub agreement: Agreement,
}

/// `Union_n` for n from 1 on: how many functions the n hottest of all profilers are.
#[must_use]
pub fn unions(profiled: &[Profiled], most: usize) -> Vec<usize> {
    let hottest: Vec<Vec<&str>> = profiled.iter().map(Profiled::hottest).collect();
    let union = |n: usize| {
        let all = hottest.iter().flat_map(|names| names.iter().take(n));
        all.collect::<BTreeSet<_>>().len()
    };
    (1..=most).map(union).collect()
}

/// All pairs.
#[must_use]
pub fn pairs(profiled: &[Profiled], calls: &BTreeSet<Call>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (first, one) in profiled.iter().enumerate() {
        for (second, other) in profiled.iter().enumerate().skip(first + 1) {
            let (Some(&a), Some(&b)) = (one.hottest().first(), other.hottest().first()) else {
                continue;
            };
            let agreement = if a == b {
                Agreement::Agree
            } else if reaches(calls, a, b) || reaches(calls, b, a) {
                Agreement::CallerCallee
            } else {
                Agreement::Disagree
            };
            pairs.push(Pair {
                profilers: [first, second],
                hottest: [a.to_owned(), b.to_owned()],
                shares: [[one.share(a), one.share(b)], [other.share(a), other.share(b)]],
                agreement,
            });
        }
    }
    pairs
}

/// Whether a function calls another, directly or not.
fn reaches(calls: &BTreeSet<Call>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut waiting = vec![from];
    while let Some(caller) = waiting.pop() {
        for (_, callee) in calls.iter().filter(|call| call.0 == caller) {
            if callee == to {
                return true;
            }
            if seen.insert(callee) {
                waiting.push(callee);
            }
        }
    }
    false
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn profiled(profiler: &str, shares: &[(&str, f64)]) -> Profiled {
        let shares = shares.iter().map(|&(name, share)| (name.to_owned(), share)).collect();
        Profiled { profiler: profiler.to_owned(), shares }
    }

    pub fn three() -> Vec<Profiled> {
        vec![
            profiled("a", &[("f", 0.6), ("g", 0.3), ("h", 0.1)]),
            profiled("b", &[("f", 0.5), ("h", 0.4), ("g", 0.1)]),
            profiled("c", &[("i", 0.9), ("f", 0.1)]),
        ]
    }

    #[test]
    fn unions_count_the_functions_that_are_hot_for_any_profiler() {
        // Together: f and i; f, g, h and i; the same.
        assert_eq!(unions(&three(), 3), [2, 4, 4]);
        assert_eq!(unions(&three()[..1], 2), [1, 2]);
    }

    #[test]
    fn pairs_agree_or_one_hottest_function_calls_the_other_or_they_disagree() {
        let call = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let of = |calls: &[Call]| {
            let calls = calls.iter().cloned().collect();
            pairs(&three(), &calls).iter().map(|pair| pair.agreement).collect::<Vec<_>>()
        };
        use Agreement::{Agree, CallerCallee, Disagree};
        assert_eq!(of(&[]), [Agree, Disagree, Disagree]);
        // By way of another, and around a circle.
        let calls = [call("i", "j"), call("j", "f"), call("j", "i")];
        assert_eq!(of(&calls), [Agree, CallerCallee, CallerCallee]);
        let pair = &pairs(&three(), &BTreeSet::new())[1];
        assert_eq!((pair.profilers, &pair.hottest), ([0, 2], &["f".to_owned(), "i".to_owned()]));
        assert_eq!(pair.shares, [[0.6, 0.0], [0.1, 0.9]]);
    }
}
