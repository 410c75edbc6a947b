//! coz: it counts samples of lines, and the lines of functions are in the program's debug
//! information.
//!
//! Lines that several functions have, inlined ones, count for each of them.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::hotness::Hotness;
use crate::profile::symbols::Symbols;

/// Name of its file.
pub const FILE: &str = "profile.coz";

/// coz takes a sample each millisecond of a thread (its `SamplePeriod`).
const SECONDS: f64 = 0.001;

/// Reads a profile of a program.
pub fn read(path: &Path, program: &Path) -> Result<Hotness> {
    let text = fs::read_to_string(path).context(
        "it has left no profile: it needs -g, and coz 0.2.2 no more than DWARF 4 (-gdwarf-4)",
    )?;
    let lines = samples(&text);
    let mut functions = BTreeMap::new();
    for (name, lines) in Symbols::default().lines_of_functions(&program.to_string_lossy()) {
        functions.entry(name).or_insert_with(BTreeSet::new).extend(lines);
    }
    Ok(by_function(&lines, &functions))
}

/// Samples by line.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("samples\t")) {
        let field = |name: &str| line.split('\t').find_map(|field| field.strip_prefix(name));
        if let (Some(place), Some(count)) = (field("location="), field("count="))
            && let Ok(count) = count.parse::<f64>()
        {
            *found.entry(place.to_owned()).or_default() += count;
        }
    }
    found
}

fn by_function(
    lines: &BTreeMap<String, f64>,
    functions: &BTreeMap<String, BTreeSet<String>>,
) -> Hotness {
    let mut hotness = Hotness { in_seconds: true, ..Hotness::default() };
    for (name, own) in functions {
        let count: f64 = own.iter().filter_map(|line| lines.get(line)).sum();
        if count > 0.0 {
            hotness.functions.insert(name.clone(), count * SECONDS);
        }
    }
    hotness.total = lines.values().sum::<f64>() * SECONDS;
    hotness
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_lines_are_seconds_of_the_functions_that_have_them() {
        let text = "startup\ttime=1\nruntime\ttime=5\nsamples\tlocation=/a/f.c:3\tcount=30\n\
                    samples\tlocation=/a/f.c:4\tcount=10\nsamples\tlocation=/a/f.c:9\tcount=60\n";
        let of = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        let functions =
            [("f".to_owned(), of(&["/a/f.c:3", "/a/f.c:4"])), ("g".to_owned(), of(&["/a/f.c:9"]))];
        let hotness = by_function(&samples(text), &functions.into());
        assert!((hotness.seconds("f", 9.0) - 0.04).abs() < 1e-12, "{hotness:?}");
        assert!((hotness.share("g") - 0.6).abs() < 1e-12);
    }
}
