//! callgrind: instructions of each function, and its calls.
//!
//! Source: valgrind's manual, "Callgrind Format Specification".
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::hotness::Hotness;
use crate::measure::names::readable;

/// Name of its file.
pub const FILE: &str = "callgrind.out";

/// Reads a profile.
pub fn read(path: &Path) -> Result<Hotness> {
    Ok(parse(&fs::read_to_string(path).context("it has left no profile")?))
}

fn parse(text: &str) -> Hotness {
    let mut hotness = Hotness::default();
    // Names are written once, with a number: "(7) main", later "(7)".
    let mut names: HashMap<String, String> = HashMap::new();
    let mut name_of = |text: &str| -> String {
        match text.split_once(' ') {
            Some((number, name)) if number.starts_with('(') => {
                names.insert(number.to_owned(), name.to_owned());
                name.to_owned()
            }
            _ => names.get(text).cloned().unwrap_or_else(|| text.to_owned()),
        }
    };
    let (mut positions, mut function, mut callee) = (1, String::new(), String::new());
    let mut is_call = false;
    for line in text.lines() {
        if let Some(list) = line.strip_prefix("positions:") {
            positions = list.split_whitespace().count();
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name_of(name);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            callee = name_of(name);
        } else if line.starts_with("calls=") {
            hotness.calls.insert((readable(&function), readable(&callee)));
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*')) {
            let cost = line.split_whitespace().nth(positions).and_then(|cost| cost.parse().ok());
            // Behind a call stands what it cost in the callee.
            if !is_call {
                hotness.add(&function, cost.unwrap_or_default());
            }
            is_call = false;
        }
    }
    hotness
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_costs_are_added_and_those_of_calls_are_not() {
        let text = "version: 1\ncreator: callgrind\npositions: line\nevents: Ir Dr\n\n\
            fl=(1) a.c\nfn=(1) main\n16 20 3\ncfn=(2) hot\ncalls=1 50\n16 400 9\n+1 5 1\n\n\
            fn=(2)\n50 100 2\n* 300 1\n\ntotals: 425 7\n";
        let hotness = parse(text);
        assert_eq!(hotness.functions, [("hot".into(), 400.0), ("main".into(), 25.0)].into());
        assert!((hotness.seconds("hot", 4.25) - 4.0).abs() < 1e-12);
        assert_eq!(hotness.calls, [("main".to_owned(), "hot".to_owned())].into());
    }
}
