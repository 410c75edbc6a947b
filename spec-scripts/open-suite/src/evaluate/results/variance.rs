//! How much of the variance of a run is its layout, and how much the machine's noise: layouts that
//! ran twice.
#![forbid(unsafe_code)]

use szc::samples::SummaryRecord;
use szc_stats::describe::median;

use super::row::Row;
use super::table::{Table, origin, percent};

/// The table.
pub fn section(rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "SD between layouts",
        "SD of runs of one layout",
        "share of layouts in the variance",
        "least effect that as many blocks show",
    ]);
    let mut shares = Vec::new();
    for row in rows {
        let summary = row
            .measured()
            .and_then(|measured| measured.file.summaries.iter().find(|one| one.deciding));
        table.add_program(row, summary.and_then(cells));
        shares.extend(summary.and_then(|summary| summary.variance?.share_between));
    }
    let mut text = format!("{}{}\n", origin(rows), table.finish());
    if let Some(share) = median(&shares) {
        text.push_str(&format!(
            "Median share of layouts over {} programs: {:.0} %.\n",
            shares.len(),
            100.0 * share
        ));
    }
    text
}

fn cells(summary: &SummaryRecord) -> Option<Vec<String>> {
    let levels = summary.variance?;
    Some(vec![
        // An estimate below 0 means that none was found.
        percent(levels.between_layouts.max(0.0).sqrt()),
        percent(levels.within_layouts.sqrt()),
        levels.share_between.map_or_else(String::new, |share| format!("{:.0} %", 100.0 * share)),
        summary.minimum_detectable_effect.map_or_else(String::new, percent),
    ])
}
