//! Tables of made-up samples, and how hostile names are written.

use super::*;
use crate::examples::{comparison, experiment};

fn hostile() -> Table {
    let mut file = comparison(1000, 900);
    file.programs[0].name = Some("=HYPERLINK(\"x\"),\n\u{1b}é\\".to_owned());
    file.runs[0].figures.insert("cache-misses".to_owned(), 0.1);
    long_format(&[experiment(file)])
}

#[test]
fn every_run_is_a_row_and_every_figure_a_column() {
    let table = hostile();
    assert_eq!(table.rows.len(), 80);
    assert_eq!(table.columns.last().unwrap(), "figure_cache_misses");
    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    assert_eq!(table.rows[0].last(), Some(&Cell::Number(0.1)));
    assert_eq!(table.rows[1].last(), Some(&Cell::Missing));
}

#[test]
fn csv_quotes_text_and_disarms_formulas() {
    let text = csv::csv(&hostile());
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 81);
    assert!(lines[0].starts_with("experiment,workload,program,name,complete,block,"));
    assert!(
        lines[1]
            .starts_with("\"lua\",,\"A\",\"'=HYPERLINK(\"\"x\"\"),\u{fffd}\u{fffd}é\\\",1,0,0,"),
        "{}",
        lines[1]
    );
    assert!(lines[2].contains("\"B\",\"-O3\",1,0,1,"), "{}", lines[2]);
    assert!(lines[1].ends_with(",0.1") && lines[2].ends_with(','));
}

#[test]
fn json_is_an_array_of_objects_with_the_same_cells() {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&json::json(&hostile()).unwrap()).unwrap();
    assert_eq!(rows.len(), 80);
    assert_eq!(rows[0]["name"], "=HYPERLINK(\"x\"),\n\u{1b}é\\");
    assert_eq!(rows[0]["wall_ns"], 1_000_000_000);
    assert_eq!(rows[1]["figure_cache_misses"], serde_json::Value::Null);
}

#[test]
fn r_constants_are_plain_ascii_and_columns_have_a_type() {
    let text = r::r(&hostile());
    assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text}");
    assert!(
        text.contains("\"=HYPERLINK(\\\"x\\\"),\\U{00000a}\\U{00001b}\\U{0000e9}\\\\\""),
        "{text}"
    );
    assert!(text.contains("`workload` = c(NA_real_, "));
    assert!(text.contains("`figure_cache_misses` = c(1e-1, NA_real_, "));
    let empty = r::r(&long_format(&[]));
    assert!(empty.contains("`seed` = numeric(0)"));
}
