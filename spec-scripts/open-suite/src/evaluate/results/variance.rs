//! What the time of a run varies with: the parts of a layout and the machine, by pairs of runs that
//! differ in one of them.
#![forbid(unsafe_code)]

use szc::samples::{PartRecord, SplitRecord};
use szc_stats::describe::median;

use super::row::Row;
use super::table::{Table, origin, percent};

/// The table.
pub fn section(rows: &[Row]) -> String {
    let mut table =
        Table::new(&["program", "SD of a run", "machine", "code", "stack", "heap", "bases"]);
    let mut splits = Vec::new();
    for row in rows {
        let split = row.measured().and_then(|measured| {
            measured.file.summaries.iter().find(|one| one.deciding)?.split.as_ref()
        });
        table.add_program(row, split.map(cells));
        splits.extend(split);
    }
    if !splits.is_empty() {
        table.add(&medians(&splits));
    }
    let mut text = format!("{}{}\n", origin(rows), table.finish());
    if let Some(pairs) = splits.iter().map(|split| split.pairs).min() {
        text.push_str(&format!(
            "Shares of the variance of a run in which everything is drawn anew, with 95 % \
             intervals, from {pairs} pairs of runs for each part. Parts that act together make the \
             sum of shares differ from 100 %.\n"
        ));
    }
    text
}

fn cells(split: &SplitRecord) -> Vec<String> {
    let share = |part: &PartRecord| {
        let [lower, upper] = part.interval.map(|end| 100.0 * end);
        format!("{:.0} % ({lower:.0} to {upper:.0})", 100.0 * part.share)
    };
    let total = percent(split.total.sqrt());
    std::iter::once(total).chain(split.parts.iter().map(share)).collect()
}

/// The row of medians over programs.
fn medians(splits: &[&SplitRecord]) -> Vec<String> {
    let of = |value: &dyn Fn(&SplitRecord) -> Option<f64>| {
        let values: Vec<f64> = splits.iter().filter_map(|split| value(split)).collect();
        median(&values)
    };
    let total = of(&|split| Some(split.total.sqrt())).map(percent);
    let parts = (0..splits[0].parts.len()).map(|place| {
        of(&|split| Some(split.parts.get(place)?.share))
            .map(|share| format!("{:.0} %", 100.0 * share))
    });
    let bold = |cell: Option<String>| format!("**{}**", cell.unwrap_or_default());
    std::iter::once("**median of programs**".to_owned())
        .chain(std::iter::once(total).chain(parts).map(bold))
        .collect()
}
