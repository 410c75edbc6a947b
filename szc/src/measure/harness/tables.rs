//! Harnesses that print tables for people: nanobench and divan.
#![forbid(unsafe_code)]

use super::row::{Row, seconds_in};

/// nanobench: Markdown tables whose first column of a time is that of a unit, such as `ns/op`, and
/// whose last is the name. Counters that a machine has are columns between.
pub(super) fn nanobench(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut time: Option<(usize, f64)> = None;
    let mut title = String::new();
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.contains(&"err%") {
            let found = cells.iter().position(|cell| unit(cell).is_some());
            time = found.and_then(|place| Some((place, unit(cells[place])?)));
            let last = cells.last().copied().unwrap_or_default();
            title = if last == "benchmark" { String::new() } else { format!("{last}/") };
            continue;
        }
        let Some((place, unit)) = time else { continue };
        let number = cells.get(place).and_then(|cell| cell.replace(',', "").parse::<f64>().ok());
        // Behind the name there may be what is unstable about it.
        let name = line.split('`').nth(1);
        if let (Some(number), Some(name)) = (number, name) {
            rows.push(Row { name: format!("{title}{name}"), seconds: number * unit });
        }
    }
    rows
}

/// Seconds in the unit of a column such as `ns/op`.
fn unit(heading: &str) -> Option<f64> {
    let (time, _) = heading.split_once('/')?;
    seconds_in(time)
}

/// divan: a tree, in whose columns the fourth is the median: `├─ name  fastest │ slowest │ median
/// │ mean │ samples │ iters`.
pub(super) fn divan(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut inside: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some((depth, rest)) = branch(line) else {
            // The name of the program stands in front, with the headings.
            continue;
        };
        let columns: Vec<&str> = rest.split('│').map(str::trim).collect();
        // The name and the first time stand together, apart by blanks.
        let first = columns.first().copied().unwrap_or_default();
        let (name, fastest) = first.split_once("  ").unwrap_or((first, ""));
        inside.truncate(depth);
        inside.push(name.trim().to_owned());
        let median = columns.get(2).and_then(|text| duration(text));
        if let (Some(_), Some(seconds)) = (duration(fastest.trim()), median) {
            rows.push(Row { name: inside.join("/"), seconds });
        }
    }
    rows
}

/// How deep a line of a tree is, and what stands behind its branch.
fn branch(line: &str) -> Option<(usize, &str)> {
    let at = line.find("├─ ").or_else(|| line.find("╰─ "))?;
    let before = line[..at].chars().count();
    let is_indented = line[..at].chars().all(|c| c == ' ' || c == '│');
    is_indented.then(|| (before / 3, &line[at + "├─ ".len()..]))
}

/// A time such as `1.234 µs`.
fn duration(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    Some(number.parse::<f64>().ok()? * seconds_in(unit.trim())?)
}
