//! Programs whose layouts vary alike: false verdicts and power, a look after every block.

use szc_stats::calibration::Rate;
use szc_stats::calibration::noise::{Machine, Noise, Shape};
use szc_stats::describe::median;
use szc_stats::planning::{Rule, blocks_needed};
use szc_stats::sequential::ERROR_RATE;

use super::rate;
use super::simulated::{BUDGET, Outcome, experiment, one_percent};
use crate::samples::{Command, Verdict};

/// A tolerance so tight that nothing is equivalent: what is left is "faster" or "slower".
const DIFFERENCES_ONLY: f64 = 1e-9;

/// Noise of one percent of that shape; B is slower by `truth`, a log ratio.
fn measured(
    command: Command,
    tolerance: f64,
    shape: Shape,
    truth: f64,
    noise: &mut Noise,
) -> Outcome {
    within(BUDGET, command, tolerance, shape, truth, noise)
}

fn within(
    budget: u32,
    command: Command,
    tolerance: f64,
    shape: Shape,
    truth: f64,
    noise: &mut Noise,
) -> Outcome {
    let mut machine = Machine::new(shape, noise);
    experiment(command, tolerance, budget, noise, |noise, run| {
        let slower = if run.program == 1 { truth } else { 0.0 };
        slower + 0.01 * machine.run(noise)
    })
}

#[test]
fn compare_names_no_difference_where_there_is_none() {
    for (seed, shape) in (100..).zip(Shape::ALL) {
        let name = format!("compare, {shape:?}, looking 91 times: false positives");
        rate(&name, seed, |noise| {
            measured(Command::Compare, DIFFERENCES_ONLY, shape, 0.0, noise).names_a_difference()
        })
        .at_most(0.05);
    }
}

/// Probability that a shift, in standard deviations of a block, is found within the budget, and the
/// median number of blocks.
fn power(name: &str, seed: u64, shift: f64) -> (Rate, f64) {
    let mut stops = Vec::new();
    let found = rate(name, seed, |noise| {
        let truth = 0.01 * shift;
        let outcome = measured(Command::Compare, DIFFERENCES_ONLY, Shape::Normal, truth, noise);
        stops.push(f64::from(outcome.blocks));
        outcome.names_a_difference()
    });
    let middle = median(&stops).unwrap();
    println!("{:<76} {middle:>6} blocks (%)", format!("{name}, median"));
    (found, middle)
}

#[test]
fn shifts_are_found_within_the_budget() {
    let (found, blocks) = power("compare, shift of 0.5 sd: found within 100 blocks", 141, 0.5);
    found.at_least(0.96);
    assert!((33.0..=41.0).contains(&blocks), "{blocks}");
    let (found, blocks) = power("compare, shift of 1 sd: found within 100 blocks", 142, 1.0);
    found.at_least(0.999);
    assert!((10.0..=16.0).contains(&blocks), "{blocks}");
}

#[test]
fn the_planned_blocks_suffice_as_often_as_planned() {
    let needed = blocks_needed(Rule::Sequential, 1.0, 0.5, ERROR_RATE);
    let budget = u32::try_from(needed).unwrap();
    let name = format!("compare, shift of 0.5 sd: found within the planned {budget} blocks");
    rate(&name, 143, |noise| {
        within(budget, Command::Compare, DIFFERENCES_ONLY, Shape::Normal, 0.005, noise)
            .names_a_difference()
    })
    .at_least(0.80);
}

#[test]
fn gate_neither_passes_nor_fails_at_the_tolerance() {
    for (seed, shape) in (160..).zip(Shape::ALL) {
        let mut passed = 0_u32;
        let name = format!("gate, {shape:?}, slower by the tolerance: FAIL");
        let failed = rate(&name, seed, |noise| {
            let outcome = measured(Command::Gate, 0.01, shape, one_percent(), noise);
            passed += u32::from(outcome.verdict == Verdict::Pass);
            outcome.verdict == Verdict::Fail
        });
        failed.at_most(0.05);
        let share = f64::from(passed) / failed.trials;
        println!(
            "{:<76} {:>6.2} %",
            format!("gate, {shape:?}, slower by the tolerance: PASS"),
            100.0 * share
        );
        assert!(share <= 0.05 + failed.error(0.05), "{shape:?}: {share}");
    }
}

#[test]
fn gate_fails_a_slowdown_and_passes_what_is_the_same() {
    rate("gate, Normal, 2 % slower at 1 % noise: FAIL within 100 blocks", 180, |noise| {
        let truth = 0.02_f64.ln_1p();
        measured(Command::Gate, 0.01, Shape::Normal, truth, noise).verdict == Verdict::Fail
    })
    .at_least(0.99);
    rate("gate, Normal, the same at 1 % noise: PASS within 100 blocks", 181, |noise| {
        measured(Command::Gate, 0.01, Shape::Normal, 0.0, noise).verdict == Verdict::Pass
    })
    .at_least(0.99);
}

#[test]
fn compare_calls_nothing_equivalent_that_differs_by_the_tolerance() {
    for (seed, shape) in (190..).zip(Shape::ALL) {
        let name = format!("compare, {shape:?}, slower by the tolerance: equivalent");
        rate(&name, seed, |noise| {
            measured(Command::Compare, 0.01, shape, one_percent(), noise).verdict
                == Verdict::Equivalent
        })
        .at_most(0.05);
    }
}
