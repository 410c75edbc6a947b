//! R: a script that makes a data frame, to be read by `dget("runs.R")`, or by `source`.
//!
//! Seeds and nanoseconds are doubles there, as R has no larger integers; layout seeds are below
//! 2⁵³, so nothing is lost.
#![forbid(unsafe_code)]

use std::fmt::Write;

use super::{Cell, Table};

/// The table as R source whose value is a data frame. Missing cells are NA.
#[must_use]
pub fn r(table: &Table) -> String {
    let mut text =
        String::from("# Runs measured by szc, one a row. Read it with: runs <- dget(\"FILE\")\n");
    text.push_str("data.frame(check.names = FALSE, stringsAsFactors = TRUE");
    for (place, name) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().map(|row| row.get(place).unwrap_or(&Cell::Missing));
        write!(text, ",\n`{name}` = {}", vector(&cells.collect::<Vec<&Cell>>()))
            .expect("a String takes all text");
    }
    text.push_str("\n)\n");
    text
}

/// A vector with a type even if all of it is missing or empty.
fn vector(cells: &[&Cell]) -> String {
    let is_text = cells.iter().any(|cell| matches!(cell, Cell::Text(_)));
    let (empty, missing) =
        if is_text { ("character(0)", "NA_character_") } else { ("numeric(0)", "NA_real_") };
    if cells.is_empty() {
        return empty.to_owned();
    }
    let values: Vec<String> = cells
        .iter()
        .map(|cell| match cell {
            Cell::Text(text) => quoted(text),
            Cell::Whole(number) => number.to_string(),
            Cell::Number(number) => format!("{number:e}"),
            Cell::Missing => missing.to_owned(),
        })
        .collect();
    // R's parser reads lines of any length, people do not.
    let lines: Vec<String> = values.chunks(12).map(|part| part.join(", ")).collect();
    format!("c({})", lines.join(",\n  "))
}

/// A string constant of R: everything but plain ASCII as an escape.
fn quoted(text: &str) -> String {
    let mut constant = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                constant.push('\\');
                constant.push(character);
            }
            ' '..='~' => constant.push(character),
            '\0' => constant.push_str("\\ufffd"),
            other => write!(constant, "\\U{{{:06x}}}", u32::from(other))
                .expect("a String takes all text"),
        }
    }
    constant.push('"');
    constant
}
