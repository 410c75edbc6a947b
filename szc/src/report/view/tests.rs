//! What reports show of made-up samples.

use super::*;
use crate::examples::{comparison, experiment, file_of, layouts_of};

#[test]
fn a_file_without_results_is_analysed_and_one_with_results_is_believed() {
    let without = experiment(file_of(&[1000, 900], 20));
    assert_eq!(without.deciding().count(), 1);
    assert!(!without.file.summaries.is_empty());
    let mut with = comparison(1000, 900);
    with.results[0].ratio = 0.123;
    assert_eq!(experiment(with).file.results[0].ratio, 0.123);
}

#[test]
fn results_are_called_by_names_and_by_workload_in_a_suite() {
    let mut one = experiment(comparison(1000, 900));
    assert_eq!(one.title(), "lua");
    let result = one.file.results[0].clone();
    assert_eq!(one.pair(&result), "-O3 against -O2");
    for program in &mut one.file.programs {
        program.workload = Some("sqlite".to_owned());
    }
    one.file.programs[1].level = Some("-O3 -flto".to_owned());
    assert_eq!(one.pair(&result), "sqlite: -O3 -flto against -O2");
}

#[test]
fn differences_and_their_last_interval_are_those_of_the_result() {
    let one = experiment(comparison(1000, 900));
    let result = &one.file.results[0];
    let data = plots::sequence(&one, result).unwrap();
    assert_eq!(data.differences.len(), result.n);
    let (blocks, [mean, low, high]) = *data.intervals.last().unwrap();
    assert_eq!(blocks, result.n);
    let percents =
        [result.ratio, result.interval[0], result.interval[1]].map(|r| 100.0 * (r - 1.0));
    for (shown, expected) in [mean, low, high].into_iter().zip(percents) {
        assert!((shown - expected).abs() < 1e-9, "{shown} {expected}");
    }
}

#[test]
fn every_run_is_in_the_violins_and_in_the_order_of_time() {
    let one = experiment(comparison(1000, 900));
    let metric = one.file.design.metric.clone();
    let violins = plots::violins(&one, &metric);
    assert_eq!(violins.iter().map(|row| row.values.len()).sum::<usize>(), 80);
    let order = plots::run_order(&one, &metric);
    let mut numbers: Vec<f64> =
        order.iter().flat_map(|series| series.runs.iter().map(|run| run.0)).collect();
    numbers.sort_by(f64::total_cmp);
    assert_eq!(numbers, (1..=80).map(f64::from).collect::<Vec<f64>>());
    assert_eq!(order[0].line.len(), 20);
}

#[test]
fn repeated_layouts_split_variance_and_pairs_split_it_by_program_and_time() {
    let times: Vec<(u64, u64)> = (0..12).map(|i| (1000 + 100 * i, 1 + i % 3)).collect();
    let layouts = experiment(layouts_of(&times));
    let metric = layouts.file.design.metric.clone();
    let variance = plots::variance(&layouts, &metric).unwrap();
    assert_eq!(variance.parts.len(), 2);
    assert!(variance.bars[0].shares[0] > 0.9, "{variance:?}");

    let pairs = experiment(comparison(1000, 500));
    let variance = plots::variance(&pairs, &metric).unwrap();
    assert_eq!(variance.parts.len(), 3);
    assert!(variance.bars[0].shares[0] > 0.9, "{variance:?}");
}

#[test]
fn small_probabilities_are_not_called_zero() {
    assert_eq!(probability(0.0), "p < 0.001");
    assert_eq!(probability(0.0432), "p = 0.043");
}

#[test]
fn the_command_to_repeat_an_experiment_has_its_seed_once() {
    let mut file = comparison(1000, 900);
    file.command_line = ["szc", "compare", "--", "./a b", "./c"].map(str::to_owned).to_vec();
    file.design.plan.seed = 42;
    assert_eq!(facts::reproduction(&file), "szc compare --seed 42 -- './a b' ./c");
    file.command_line.insert(2, "--seed=42".to_owned());
    assert_eq!(facts::reproduction(&file), "szc compare --seed=42 -- './a b' ./c");
    // One behind the -- belongs to a program.
    file.command_line = ["szc", "run", "--", "--seed"].map(str::to_owned).to_vec();
    assert_eq!(facts::reproduction(&file), "szc run --seed 42 -- --seed");
}
