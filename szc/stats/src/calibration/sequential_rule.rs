//! Sequential intervals, asked after every block from 10 to 100: do they hold the truth throughout?

use super::noise::{Machine, Noise, Shape};
use super::rate;
use crate::fixed::{self, Direction};
use crate::median_check::median_check;
use crate::planning::Rule;
use crate::quantile;
use crate::sequential;

const BUDGET: usize = 100;

#[test]
fn looking_at_a_t_test_after_every_block_is_the_mistake_that_the_rule_avoids() {
    // 20,000 trials of another program gave 29 %.
    rate("t test for one look, Normal, looking 91 times: false positives", 140, |noise| {
        let mut differences = Vec::new();
        (0..BUDGET).any(|_| {
            differences.push(noise.normal());
            let interval = fixed::t_interval(&differences, 0.95);
            differences.len() >= 10
                && interval.is_some_and(|found| found.direction() != Direction::Unresolved)
        })
    })
    .at_least(0.25);
}

#[test]
fn the_confidence_sequence_holds_the_truth_at_every_look() {
    for (seed, shape) in (210..).zip([Shape::Normal, Shape::Skewed, Shape::HeavyTailed]) {
        let name = format!("confidence sequence, {shape:?}: holds the truth 91 times");
        rate(&name, seed, |noise| {
            let mut machine = Machine::new(shape, noise);
            let mut differences = Vec::new();
            (0..BUDGET).all(|_| {
                differences.push(machine.block(noise) + 0.3);
                sequential::mean_sequence(&differences)
                    .map_or(true, |found| found.interval.contains(0.3))
            })
        })
        .at_least(0.95);
    }
}

#[test]
fn sign_intervals_for_every_look_hold_the_median_at_all_of_them() {
    for (seed, shape) in (220..).zip([Shape::Normal, Shape::HeavyTailed]) {
        let name = format!("sequential sign interval, {shape:?}: holds the median 91 times");
        rate(&name, seed, |noise| holds_the_median(Rule::Sequential, shape, noise)).at_least(0.95);
    }
    rate("sign interval for one look, Normal: holds the median 91 times", 222, |noise| {
        holds_the_median(Rule::Fixed, Shape::Normal, noise)
    })
    .at_most(0.85);
}

fn holds_the_median(rule: Rule, shape: Shape, noise: &mut Noise) -> bool {
    let mut machine = Machine::new(shape, noise);
    let mut differences = Vec::new();
    (0..BUDGET).all(|_| {
        differences.push(machine.block(noise) + 0.3);
        differences.len() < sequential::MIN_BLOCKS
            || median_check(rule, &differences).is_some_and(|found| found.interval.contains(0.3))
    })
}

#[test]
fn intervals_of_the_slowest_tenth_hold_its_beginning() {
    // The 0.9-quantile of the exponential distribution.
    let truth = 10.0_f64.ln();
    let holds = |rule: Rule, values: &[f64]| {
        let found = quantile::interval(rule, values, 0.9, 0.05).unwrap();
        found.lower.is_none_or(|end| end <= truth) && found.upper.is_none_or(|end| truth <= end)
    };
    rate("0.9-quantile for one look, n = 60, exponential: holds the truth", 230, |noise| {
        let values: Vec<f64> = (0..60).map(|_| noise.exponential()).collect();
        holds(Rule::Fixed, &values)
    })
    .at_least(0.95);
    rate("0.9-quantile, 20 looks up to n = 200, exponential: holds the truth", 231, |noise| {
        let mut values = Vec::new();
        (0..20).all(|_| {
            values.extend((0..10).map(|_| noise.exponential()));
            holds(Rule::Sequential, &values)
        })
    })
    .at_least(0.95);
}
