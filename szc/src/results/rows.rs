//! The rows of a harness: which of them can be compared, each as a question of its own, all under
//! one error rate.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use crate::samples::metric::ROW_PREFIX;
use crate::samples::sample::block_log_ratios;
use crate::samples::{Metric, Sample};

/// A question about one row: the programs, and the row.
pub type RowQuestion = ((usize, usize), Metric);

/// The names of rows that a program had in all of its runs in the blocks 0..`blocks`.
fn rows_of(samples: &[Sample], blocks: u32, program: usize) -> BTreeSet<&str> {
    let of_run = |run: &'_ Sample| run.program == program && run.block < blocks;
    let mut runs = samples.iter().filter(|run| of_run(run)).map(|run| {
        let rows = run.figures.iter().filter(|(_, value)| **value > 0.0);
        let names = rows.map(|(name, _)| name.as_str());
        names.filter(|name| name.starts_with(ROW_PREFIX)).collect::<BTreeSet<&str>>()
    });
    let first = runs.next().unwrap_or_default();
    runs.fold(first, |all, of_run| all.intersection(&of_run).copied().collect())
}

/// The questions of these pairs of programs, row by row: of every row that both programs had in all
/// of their runs.
#[must_use]
pub fn questions(samples: &[Sample], blocks: u32, pairs: &[(usize, usize)]) -> Vec<RowQuestion> {
    let mut all = BTreeSet::new();
    for pair in pairs {
        let [reference, program] =
            [pair.0, pair.1].map(|program| rows_of(samples, blocks, program));
        all.extend(reference.intersection(&program).map(|row| (*row, *pair)));
    }
    all.into_iter().map(|(row, pair)| (pair, Metric::Row(row.to_owned()))).collect()
}

/// The questions that have log ratios, and these.
#[must_use]
pub fn answers(
    samples: &[Sample],
    blocks: u32,
    pairs: &[(usize, usize)],
) -> (Vec<RowQuestion>, Vec<Vec<f64>>) {
    let answer = |(pair, row): RowQuestion| {
        let list = block_log_ratios(samples, blocks, pair.0, pair.1, &row)?;
        Some(((pair, row), list))
    };
    questions(samples, blocks, pairs).into_iter().filter_map(answer).unzip()
}

/// Rows that not every run of every program has, each with the programs that always have it, in the
/// order of names.
#[must_use]
pub fn one_sided(samples: &[Sample], blocks: u32, programs: usize) -> Vec<(Metric, Vec<usize>)> {
    let of: Vec<BTreeSet<&str>> =
        (0..programs).map(|program| rows_of(samples, blocks, program)).collect();
    let seen: BTreeSet<&str> = samples
        .iter()
        .filter(|run| run.block < blocks)
        .flat_map(|run| run.figures.keys().map(String::as_str))
        .filter(|name| name.starts_with(ROW_PREFIX))
        .collect();
    let owners = |row: &str| (0..programs).filter(|program| of[*program].contains(row)).collect();
    seen.into_iter()
        .map(|row| (Metric::Row(row.to_owned()), owners(row)))
        .filter(|(_, owners): &(Metric, Vec<usize>)| owners.len() < programs)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::rows_file;
    use crate::results::comparison::results;
    use crate::samples::Verdict;

    #[test]
    fn only_rows_of_both_programs_in_all_runs_are_compared_and_the_others_are_named() {
        let mut file = rows_file(&[("same", 1.0), ("slow", 1.1)], 12);
        for run in &mut file.runs {
            if run.program == 0 {
                run.figures.insert("row:only A".to_owned(), 1.0);
            }
            if run.block < 5 {
                run.figures.insert("row:sometimes".to_owned(), 1.0);
            }
        }
        let found = questions(&file.runs, 12, &[(0, 1)]);
        let names: Vec<&str> = found.iter().map(|(_, row)| row.title()).collect();
        assert_eq!(names, ["same", "slow"]);
        let one_sided = one_sided(&file.runs, 12, 2);
        let names: Vec<(&str, &[usize])> =
            one_sided.iter().map(|(row, owners)| (row.title(), owners.as_slice())).collect();
        assert_eq!(names, [("only A", &[0][..]), ("sometimes", &[])]);
    }

    #[test]
    fn a_planted_slowdown_is_found_in_its_row_and_in_no_other() {
        let mut planted: Vec<(String, f64)> =
            (0..20).map(|row| (format!("row {row:02}"), 1.0)).collect();
        planted[7].1 = 1.05;
        let planted: Vec<(&str, f64)> =
            planted.iter().map(|(name, ratio)| (name.as_str(), *ratio)).collect();
        let found = results(&rows_file(&planted, 30));
        let deciding: Vec<_> = found.iter().filter(|record| record.deciding).collect();
        assert_eq!(deciding.len(), 20);
        for record in deciding {
            let is_planted = record.metric.title() == "row 07";
            assert_eq!(record.verdict == Verdict::Slower, is_planted, "{record:?}");
            assert!(record.confidence > 0.95, "{record:?}");
            assert_eq!(record.unit, "s");
        }
    }
}
