//! Made-up samples, and what is made of them. Other tests of reports build on the samples.

use super::*;
use crate::examples::{analysed, comparison, file_of, sample_of};
use crate::samples::{EndedRecord, ScheduleRecord};

fn verdicts(file: &SamplesFile) -> Vec<Verdict> {
    file.results.iter().map(|result| result.verdict).collect()
}

#[test]
fn less_time_is_faster_and_less_memory_is_smaller() {
    use Verdict::{Equivalent, Faster, Larger, Slower, Smaller};
    assert_eq!(verdicts(&comparison(1000, 900)), [Faster, Faster, Smaller]);
    assert_eq!(verdicts(&comparison(900, 1000)), [Slower, Slower, Larger]);
    assert_eq!(verdicts(&comparison(1000, 1000)), [Equivalent; 3]);
}

#[test]
fn what_is_not_within_the_tolerance_is_unresolved_with_its_price() {
    let mut file = file_of(&[1000, 1000], 20);
    file.design.tolerance = Some(1e-4);
    let result = &analysed(file).results[0];
    assert_eq!(result.verdict, Verdict::Unresolved);
    assert!(result.blocks_needed.unwrap() > 20, "{result:?}");
}

#[test]
fn by_turns_a_block_has_one_layout_of_each_program() {
    let mut file = file_of(&[1000, 900], 20);
    assert_eq!(analysed(file.clone()).results[0].layouts, Some(40));
    let by_turns = ScheduleRecord { by_turns: true, ..ScheduleRecord::default() };
    file.programs.iter_mut().for_each(|program| program.schedule = Some(by_turns.clone()));
    assert_eq!(analysed(file).results[0].layouts, Some(20));
}

#[test]
fn the_ratio_is_program_over_reference() {
    let file = comparison(1000, 900);
    let result = &file.results[0];
    assert!((result.ratio - 0.9).abs() < 0.01, "{}", result.ratio);
    assert!(result.interval[0] < result.ratio && result.ratio < result.interval[1]);
    assert!(result.medians[0] > result.medians[1]);
    assert_eq!((result.reference, result.program, result.n), (0, 1, 20));
    assert!(result.deciding && !file.results[1].deciding);
}

#[test]
fn each_of_several_programs_is_compared_with_the_first() {
    let file = analysed(file_of(&[1000, 1100, 1000, 900], 20));
    let cpu: Vec<(usize, usize, Verdict)> = file
        .deciding_results()
        .map(|result| (result.reference, result.program, result.verdict))
        .collect();
    assert_eq!(
        cpu,
        [(0, 1, Verdict::Slower), (0, 2, Verdict::Equivalent), (0, 3, Verdict::Faster)]
    );
    assert!(file.results.iter().all(|result| result.confidence >= 0.95));
    assert!(file.results.iter().all(|result| result.p_adjusted >= result.p));
}

#[test]
fn in_a_suite_every_workload_has_its_own_reference() {
    let mut file = file_of(&[1000, 1100, 500, 400], 20);
    for (program, workload) in file.programs.iter_mut().zip(["lua", "lua", "zstd", "zstd"]) {
        program.workload = Some(workload.to_owned());
    }
    assert_eq!(families(&file), [[(0, 1)], [(2, 3)]]);
    let file = analysed(file);
    let deciding: Vec<Verdict> = file.deciding_results().map(|result| result.verdict).collect();
    assert_eq!(deciding, [Verdict::Slower, Verdict::Faster]);
}

#[test]
fn too_few_blocks_give_no_result() {
    assert!(analysed(file_of(&[5, 6], 5)).results.is_empty());
    let mut sequential = file_of(&[5, 6], 9);
    sequential.design.rule = RuleRecord::Sequential;
    assert!(analysed(sequential).results.is_empty());
}

#[test]
fn only_the_deciding_metric_answers_a_gate() {
    let mut file = file_of(&[1000, 1100], 20);
    file.command = Command::Gate;
    let file = analysed(file);
    assert_eq!(verdicts(&file), [Verdict::Fail, Verdict::Slower, Verdict::Larger]);
    let mut file = file_of(&[1000, 1004], 20);
    file.command = Command::Gate;
    file.design.rule = RuleRecord::Sequential;
    assert_eq!(verdicts(&analysed(file))[0], Verdict::Pass);
}

#[test]
fn figures_are_metrics_like_the_others() {
    let mut file = file_of(&[1000, 1100], 20);
    for run in &mut file.runs {
        run.figures.insert("instructions".to_owned(), 1e9 + run.program as f64 * 1e7);
    }
    file.design.metric = Metric::Figure("instructions".to_owned());
    let file = analysed(file);
    assert_eq!(file.results.len(), 4);
    assert_eq!(file.results[0].verdict, Verdict::Higher);
    assert_eq!(file.results[0].unit, "instructions");
}

#[test]
fn runs_of_an_incomplete_block_belong_to_nothing() {
    let mut file = file_of(&[1000, 900], 20);
    let complete = analysed(file.clone()).results;
    file.runs.push(sample_of(20, 0, 1, 5000));
    assert_eq!(analysed(file).results, complete);
}

#[test]
fn a_refused_experiment_has_no_results() {
    let mut file = file_of(&[1000, 900], 20);
    file.ended = EndedRecord::Refused { reason: "B failed".to_owned() };
    let file = analysed(file);
    assert!(file.results.is_empty() && file.summaries.is_empty());
}
