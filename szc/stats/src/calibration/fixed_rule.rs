//! The rule for a fixed number of blocks: false positives and power.

use super::noise::{Machine, Noise, Shape};
use super::rate;
use crate::fixed::{CONFIDENCE, Direction, t_interval};

const BLOCKS: usize = 20;

/// Whether the rule finds a difference.
fn found(noise: &mut Noise, mut difference: impl FnMut(&mut Noise) -> f64) -> bool {
    let blocks: Vec<f64> = (0..BLOCKS).map(|_| difference(noise)).collect();
    t_interval(&blocks, CONFIDENCE).unwrap().direction() != Direction::Unresolved
}

fn found_on(machine: Shape, noise: &mut Noise) -> bool {
    let mut machine = Machine::new(machine, noise);
    found(noise, |noise| machine.block(noise))
}

#[test]
fn normal_noise_gives_five_percent_false_positives() {
    rate("fixed n = 20, normal: false positives", 1, |noise| found(noise, Noise::normal))
        .about(0.05);
}

#[test]
fn noise_that_is_not_normal_gives_at_most_five_percent_false_positives() {
    for (seed, shape) in [
        (2, Shape::Skewed),
        (3, Shape::HeavyTailed),
        (6, Shape::LogNormal),
        (7, Shape::Disturbed),
        (8, Shape::Autocorrelated),
        (9, Shape::Drifting),
    ] {
        let name = format!("fixed n = 20, {shape:?}: false positives");
        rate(&name, seed, |noise| found_on(shape, noise)).at_most(0.05);
    }
}

#[test]
fn a_shift_of_one_standard_deviation_is_found_as_often_as_theory_says() {
    rate("fixed n = 20, shift of 1 sd: found", 4, |noise| {
        found(noise, |noise| noise.normal() + 1.0)
    })
    .about(0.988_591_294_779);
}

#[test]
fn a_shift_of_half_a_standard_deviation_is_found_as_often_as_theory_says() {
    rate("fixed n = 20, shift of 0.5 sd: found", 5, |noise| {
        found(noise, |noise| noise.normal() + 0.5)
    })
    .about(0.564_504_418_439);
}
