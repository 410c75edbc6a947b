//! JSON, an array of objects: for `pandas.read_json`, `jq`, and anything else.
#![forbid(unsafe_code)]

use serde_json::{Map, Value};

use super::{Cell, Table};

/// The table as an array with one object for each run. Missing cells are null.
///
/// # Errors
/// Never for tables made by [`super::long_format`].
pub fn json(table: &Table) -> serde_json::Result<String> {
    let mut text = String::from("[\n");
    for (place, row) in table.rows.iter().enumerate() {
        let fields: Map<String, Value> =
            table.columns.iter().cloned().zip(row.iter().map(value)).collect();
        text.push_str(&serde_json::to_string(&fields)?);
        text.push_str(if place + 1 < table.rows.len() { ",\n" } else { "\n" });
    }
    text.push_str("]\n");
    Ok(text)
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => text.clone().into(),
        Cell::Whole(number) => (*number).into(),
        Cell::Number(number) => (*number).into(),
        Cell::Missing => Value::Null,
    }
}
