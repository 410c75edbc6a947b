//! Verdicts on the rows of a harness: how many there are of each kind, and which rows differ.
#![forbid(unsafe_code)]

use super::number::{decimals_for, many, percent, range};
use crate::results::rows::one_sided;
use crate::results::tolerance::{share_of, unused};
use crate::samples::{Command, Metric, ResultRecord, SamplesFile, Verdict, printable};

/// Rows that are named one by one; the table has all.
const MAX_NAMED: usize = 10;

/// The verdicts in the order in which they are counted.
const KINDS: [Verdict; 7] = [
    Verdict::Fail,
    Verdict::Slower,
    Verdict::Faster,
    Verdict::Pass,
    Verdict::Equivalent,
    Verdict::Inconclusive,
    Verdict::Unresolved,
];

/// Whether the rows of a harness decide.
#[must_use]
pub fn decide(file: &SamplesFile) -> bool {
    file.design.metric == Metric::Rows && file.deciding_results().any(is_row)
}

fn is_row(result: &ResultRecord) -> bool {
    matches!(result.metric, Metric::Row(_))
}

/// A row as people see it, with the program where there are several.
#[must_use]
pub fn title(file: &SamplesFile, result: &ResultRecord) -> String {
    let row = printable(result.metric.title());
    if file.programs.len() == 2 {
        return row;
    }
    format!("{row}: {}", file.programs[result.program].title())
}

/// The verdicts: counts, the rows that differ, and what would settle the others.
#[must_use]
pub fn verdicts(file: &SamplesFile) -> Vec<String> {
    let results: Vec<&ResultRecord> = file.deciding_results().filter(|r| is_row(r)).collect();
    let count = |kind: Verdict| results.iter().filter(|result| result.verdict == kind).count();
    let counts: Vec<String> = KINDS
        .iter()
        .filter(|kind| count(**kind) > 0)
        .map(|kind| format!("{} {}", count(*kind), kind.word()))
        .collect();
    let blocks = results.iter().map(|result| result.n).min().unwrap_or(0);
    let mut shares: Vec<f64> = results.iter().filter_map(|result| result.tolerance).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let tolerance = match shares[..] {
        [least, .., greatest] => {
            format!("tolerances {} to {}, each row its own", percent(least), percent(greatest))
        }
        [one] => format!("tolerance {}", percent(one)),
        [] => format!("tolerance {}", percent(share_of(&file.design, &file.design.metric))),
    };
    let what = if file.command == Command::Gate { "answers" } else { "differences" };
    let mut sentences = vec![format!(
        "Of {} rows: {} ({tolerance}; 5 % for false {what} in all rows together, by Holm; \
         n = {blocks} blocks; one time of each row in a run).",
        results.len(),
        counts.join(", "),
    )];
    let differs = |result: &&&ResultRecord| {
        matches!(result.verdict, Verdict::Fail | Verdict::Slower | Verdict::Faster)
    };
    let mut different: Vec<&ResultRecord> = results.iter().filter(differs).copied().collect();
    different.sort_by(|one, other| other.mean_log_ratio.total_cmp(&one.mean_log_ratio));
    for result in different.iter().take(MAX_NAMED) {
        let interval = result.bounds();
        let decimals = decimals_for(result.ratio, interval);
        sentences.push(format!(
            "{} takes {:.decimals$} of the time, {} ({}).",
            title(file, result),
            result.ratio,
            range(interval, decimals),
            result.verdict.word()
        ));
    }
    if different.len() > MAX_NAMED {
        sentences.push(format!("{} more rows differ.", different.len() - MAX_NAMED));
    }
    let open = results.iter().filter(|result| !result.verdict.is_decided());
    if let Some(needed) = open.filter_map(|result| result.blocks_needed).max() {
        sentences.push(format!("A verdict on every row would take {} blocks.", many(needed)));
    }
    sentences
}

/// Rows that could not be compared, with the programs that have them; and tolerances of no row.
#[must_use]
pub fn left_out(file: &SamplesFile) -> Vec<String> {
    let programs = file.programs.len();
    let found = one_sided(&file.runs, file.design.complete_blocks, programs);
    let line = |(row, owners): (Metric, Vec<usize>)| {
        let row = printable(row.title());
        if owners.is_empty() {
            return format!("Not compared: {row}, which not all runs of a program have.");
        }
        let owners: Vec<String> =
            owners.into_iter().map(|owner| file.programs[owner].title()).collect();
        format!("Not compared: {row}, which only {} always has.", owners.join(" and "))
    };
    let compared = file.deciding_results().filter(|result| is_row(result));
    let names: Vec<&str> = compared.map(|result| result.metric.title()).collect();
    let unused = unused(&file.design, &names).into_iter().map(|(pattern, fits)| {
        let pattern = printable(pattern);
        if fits {
            format!(
                "Tolerance without a row: all rows like {pattern:?} have that of an earlier one."
            )
        } else {
            format!("Tolerance without a row: no compared row has a name like {pattern:?}.")
        }
    });
    found.into_iter().map(line).chain(unused).collect()
}

#[cfg(test)]
mod tests {
    use crate::examples::rows_file;
    use crate::report::text::comparison_report;
    use crate::results::analyse;
    use crate::samples::RowTolerance;

    #[test]
    fn the_report_counts_verdicts_names_what_differs_and_what_has_one_side() {
        let mut file = rows_file(&[("BM_Same", 1.0), ("BM_Slow/64", 1.1)], 30);
        for run in file.runs.iter_mut().filter(|run| run.program == 1) {
            run.figures.insert("row:BM_New".to_owned(), 1e-6);
        }
        analyse(&mut file);
        let report = comparison_report(&file, false);
        assert!(report.contains("\nOf 2 rows: 1 slower, 1 equivalent (tolerance 1 %;"), "{report}");
        assert!(report.contains("\nBM_Slow/64 takes 1.10"), "{report}");
        assert!(report.contains("\nNot compared: BM_New, which only B"), "{report}");
        let row = report.lines().find(|line| line.starts_with("BM_Same ")).expect("a row");
        assert!(row.contains(" ns ") && row.contains("equivalent"), "{row}");
    }

    #[test]
    fn unlike_tolerances_stand_beside_their_rows_and_those_without_a_row_are_named() {
        let mut file = rows_file(&[("BM_Same", 1.0), ("BM_Slow/64", 1.1)], 30);
        let entry = |name: &str, tolerance| RowTolerance { name: name.to_owned(), tolerance };
        file.design.row_tolerances =
            vec![entry("*/64", 0.2), entry("BM_Slow*", 0.3), entry("BM_Fast*", 0.4)];
        analyse(&mut file);
        let report = comparison_report(&file, false);
        assert!(report.contains("1 equivalent (tolerances 1 % to 20 %, each row its"), "{report}");
        for (start, end) in [("BM_Same ", " 1 %"), ("BM_Slow/64 ", " 20 %"), ("", "tolerance")] {
            let mut lines = report.lines();
            assert!(lines.any(|line| line.starts_with(start) && line.ends_with(end)), "{report}");
        }
        assert!(report.contains("no compared row has a name like \"BM_Fast*\""), "{report}");
        assert!(report.contains("all rows like \"BM_Slow*\" have that of"), "{report}");
    }

    #[test]
    fn with_more_programs_each_row_has_a_line_for_each_of_them() {
        let mut file = rows_file(&[("x", 1.0)], 12);
        let third: Vec<_> = file.runs.iter().filter(|run| run.program == 1).cloned().collect();
        file.runs.extend(third.into_iter().map(|run| crate::samples::Sample { program: 2, ..run }));
        file.programs.push(crate::examples::program("C", "-Os"));
        analyse(&mut file);
        let report = comparison_report(&file, false);
        for start in ["x: A (-O2)", "x: B (-O3)", "x: C (-Os)"] {
            assert!(report.lines().any(|line| line.starts_with(start)), "{start}: {report}");
        }
    }
}
