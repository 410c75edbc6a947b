//! Section 4.2.2: which sources of addresses pass NIST's tests.
#![forbid(unsafe_code)]

use super::table::{NOT_MEASURED, Table, machine};
use crate::evaluate::heap::{HeapRandomness, Line};

/// The table.
pub fn section(results: Option<&HeapRandomness>) -> String {
    let Some(results) = results else {
        return format!("{NOT_MEASURED}\n");
    };
    let tests: Vec<&str> = results
        .lines
        .first()
        .map_or_else(Vec::new, |line| line.tests.iter().map(|test| test.test.as_str()).collect());
    let mut table = Table::new(
        &[&["addresses", "N"][..], &tests, &["the paper's six, all sequences", "first sequence"]]
            .concat(),
    );
    for line in &results.lines {
        table.add(&cells(line));
    }
    let sequences = results.lines.iter().flat_map(|line| &line.tests).map(|test| test.sequences);
    format!(
        "{} sequences of bits 6 to 17 of each source, `heap-randomness {}`; szc {}; {}.\n\n{}\n\
         Percent of the sequences that pass at 0.01. All sequences: as many of them pass as NIST \
         asks for, in all of the paper's six tests (all but Rank). First sequence: p ≥ 0.05 in \
         these tests.\n",
        sequences.max().unwrap_or_default(),
        results.options.join(" "),
        results.commit.as_deref().unwrap_or("unknown"),
        machine(&results.machine),
        table.finish()
    )
}

fn cells(line: &Line) -> Vec<String> {
    let word = |passes| if passes { "pass" } else { "**fail**" }.to_owned();
    let mut cells = vec![
        format!("{}, {}", line.source, line.pattern),
        line.n.map_or_else(String::new, |n| n.to_string()),
    ];
    cells.extend(
        line.tests.iter().map(|test| {
            format!("{:.1}", 100.0 * test.passed as f64 / test.sequences.max(1) as f64)
        }),
    );
    cells.extend([word(line.passes_all), word(line.passes_one)]);
    cells
}
