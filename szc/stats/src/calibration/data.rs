//! Data of the tests: published examples, and the values of scipy and R that the scripts in
//! `reference` stored.

use serde_json::Value;

/// Student (1908): hours of sleep gained, second drug minus first.
pub(crate) const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];

/// Darwin's maize (Fisher 1935): crossed minus self-fertilized, eighths of an inch.
pub(crate) const MAIZE: [f64; 15] =
    [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

pub(crate) const LARGE_COUNT: usize = 5000;

/// The `LARGE` list of `reference/fixed.py`, "large" of `reference/samples.py`.
pub(crate) fn large_sample() -> Vec<f64> {
    list(5000, |i| (i * 0.7).sin() + 0.001 * i)
}

/// Equal to ten significant digits (or ten decimals near zero).
pub(crate) fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-10 * expected.abs().max(1.0)
}

/// Equal to ten significant digits however small: for probabilities far in a tail.
pub(crate) fn same_digits(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-10 * expected.abs()
}

/// The stored cases called `name` in `file` (`blocks`, `parametric`, `ranks`, `series` or `shape`).
pub(crate) fn cases(file: &str, name: &str) -> Vec<Value> {
    let text = match file {
        "blocks" => include_str!("../../reference/blocks.json"),
        "parametric" => include_str!("../../reference/parametric.json"),
        "ranks" => include_str!("../../reference/ranks.json"),
        "series" => include_str!("../../reference/series.json"),
        "shape" => include_str!("../../reference/shape.json"),
        _ => panic!("no file of reference values is called {file}"),
    };
    let all: Value = serde_json::from_str(text).unwrap();
    let list = all[name].as_array().unwrap();
    assert!(!list.is_empty());
    list.clone()
}

/// A number of a stored case.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A list of a stored case: its numbers, or the list that a name stands for (`MADE` in
/// `samples.py`).
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value.as_str() {
        None => value.as_array().unwrap().iter().map(number).collect(),
        Some("large") => large_sample(),
        Some("large negated") => list(5000, |i| -(i * 0.7).sin() - 0.0009 * i),
        Some("large tied") => list(5000, |i| (10.0 * (i * 0.7).sin()).floor()),
        Some("sixty") => list(60, |i| (i * 1.3).sin() + 0.01 * i),
        Some("forty-five") => list(45, |i| (i * 1.1).cos() * (1.0 + 0.02 * i) + 0.2),
        Some("fifty") => list(50, |i| (i * 2.1).sin() + 0.001 * i + 0.3),
        Some(other) => panic!("no list is called {other}"),
    }
}

fn list(length: u32, value: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..length).map(|i| value(f64::from(i))).collect()
}
