//! CSV (RFC 4180) with a header: for spreadsheets, pandas (`pandas.read_csv`) and R (`read.csv`).
#![forbid(unsafe_code)]

use super::{Cell, Table};

/// The table as CSV. Missing cells are empty.
#[must_use]
pub fn csv(table: &Table) -> String {
    let mut text = line(table.columns.iter().cloned());
    for row in &table.rows {
        text.push_str(&line(row.iter().map(cell)));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let mut line = cells.collect::<Vec<String>>().join(",");
    line.push_str("\r\n");
    line
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(text),
        Cell::Whole(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Missing => String::new(),
    }
}

/// Text is always quoted: an empty name differs from a missing one, and "007" from 7.
///
/// Spreadsheets run text that begins like a formula, so such text gets an apostrophe in front
/// (OWASP, "CSV injection"); control characters are replaced, line ends included.
fn quoted(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|character| if character.is_control() { '\u{fffd}' } else { character })
        .collect();
    // A name such as -O2 is no formula: only a sign before something that can be computed is.
    let formula = clean.starts_with(['=', '@'])
        || (clean.starts_with(['+', '-']) && clean.contains(['(', '!', '|']));
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", clean.replace('"', "\"\""))
}
