//! What a configuration takes over what the reference takes: by program, and over all of them.
#![forbid(unsafe_code)]

use szc::samples::Metric;
use szc::samples::sample::{block_log_ratios, values_of};
use szc_stats::describe::{mean, median};
use szc_stats::fixed::{CONFIDENCE, Interval, t_interval};
use szc_stats::strata::stratified;

use super::row::Row;
use super::table::Table;
use crate::evaluate::record::Measured;

/// The log ratios of the blocks.
pub fn log_ratios(
    measured: &Measured,
    reference: &str,
    configuration: &str,
    metric: &Metric,
) -> Option<Vec<f64>> {
    let place =
        |name: &str| measured.evaluation.configurations.iter().position(|one| one.name == name);
    let (reference, program) = (place(reference)?, place(configuration)?);
    let file = &measured.file;
    block_log_ratios(&file.runs, file.design.complete_blocks, reference, program, metric)
}

/// "1.034 (1.011 to 1.052)": the geometric mean over blocks and its interval.
fn cell(logs: &[f64]) -> Option<String> {
    let ends = t_interval(logs, CONFIDENCE)?;
    Some(interval_cell(mean(logs)?, ends))
}

fn interval_cell(center: f64, ends: Interval) -> String {
    let [center, lower, upper] = [center, ends.lower, ends.upper].map(f64::exp);
    format!("{center:.3} ({lower:.3} to {upper:.3})")
}

/// The mean of these programs, each counting the same, with the interval that their blocks give.
pub(super) fn mean_of_programs(logs: &[Vec<f64>]) -> Option<String> {
    let strata: Vec<&[f64]> = logs.iter().map(Vec::as_slice).collect();
    match stratified(&strata, CONFIDENCE) {
        Ok(found) => Some(interval_cell(found.mean, found.interval)),
        // Of one program, or without any spread.
        Err(_) => Some(format!(
            "{:.3}",
            mean(&logs.iter().map(|one| mean(one)).collect::<Option<Vec<f64>>>()?)?.exp()
        )),
    }
}

/// A unit for values of the reference.
pub struct Unit {
    name: &'static str,
    /// What the metric's own unit is divided by.
    divisor: f64,
}

/// Mebibytes, of a metric in bytes.
pub const MIB: Unit = Unit { name: "MiB", divisor: 1_048_576.0 };

/// The table of one metric, a column for each configuration, with what its cells are.
pub fn table(rows: &[Row], reference: &str, columns: &[&str], metric: &Metric) -> String {
    any_table(rows, reference, columns, metric, None)
}

/// The same, with what the reference takes in the first column.
pub fn table_with_reference(
    rows: &[Row],
    reference: &str,
    columns: &[&str],
    metric: &Metric,
    unit: &Unit,
) -> String {
    any_table(rows, reference, columns, metric, Some(unit))
}

/// "3.2": the median of all runs of a configuration.
fn absolute(
    measured: &Measured,
    configuration: &str,
    metric: &Metric,
    unit: &Unit,
) -> Option<String> {
    let place = measured.evaluation.configurations.iter().position(|one| one.name == configuration);
    let values = values_of(&measured.file.runs, place?, metric);
    Some(format!("{:.1}", median(&values)? / unit.divisor))
}

fn any_table(
    rows: &[Row],
    reference: &str,
    columns: &[&str],
    metric: &Metric,
    unit: Option<&Unit>,
) -> String {
    let first = unit.map(|unit| format!("{reference}, {}", unit.name));
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let mut table = Table::new(&[&["program"], &first[..], columns].concat());
    let logs = |row: &Row, column: &str| log_ratios(row.measured()?, reference, column, metric);
    for row in rows {
        let first = unit.map(|unit| absolute(row.measured()?, reference, metric, unit));
        let ratios = columns.iter().map(|column| cell(&logs(row, column)?));
        table.add_program(row, first.into_iter().chain(ratios).collect());
    }
    // One number for each program that has all columns.
    let whole: Vec<&Row> = rows
        .iter()
        .filter(|row| columns.iter().all(|column| logs(row, column).is_some()))
        .collect();
    if !whole.is_empty() {
        let means = |column: &str| -> Vec<f64> {
            whole.iter().filter_map(|row| mean(&logs(row, column)?)).collect()
        };
        let line = |name: &str, cell: &dyn Fn(&str) -> Option<String>| -> Vec<String> {
            let cells = columns.iter().map(|column| cell(column).unwrap_or_default());
            let first = unit.map(|_| String::new());
            std::iter::once(name.to_owned()).chain(first).chain(cells).collect()
        };
        table.add(&line("**median of programs**", &|column| {
            Some(format!("**{:.3}**", median(&means(column))?.exp()))
        }));
        table.add(&line("worst program", &|column| {
            let worst = means(column).into_iter().reduce(f64::max)?;
            Some(format!("{:.3}", worst.exp()))
        }));
        table.add(&line("geometric mean of these programs", &|column| {
            mean_of_programs(&whole.iter().filter_map(|row| logs(row, column)).collect::<Vec<_>>())
        }));
    }
    format!(
        "{}\n{} over that of `{reference}`: geometric mean over blocks, 95 % interval.\n",
        table.finish(),
        metric.title(),
    )
}
