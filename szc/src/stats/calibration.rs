//! Simulations that hold the rules to their promises, and data shared by the tests.
//!
//! Every cell has its own fixed seed, so a pass is a fact about the code and not
//! luck. Bounds allow three Monte-Carlo standard errors.
#![forbid(unsafe_code)]

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::fixed::{Direction, analyse};

/// Student (1908): hours of sleep gained, second drug minus first.
pub(crate) const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];

/// Darwin's maize (Fisher 1935): crossed minus self-fertilized, eighths of an inch.
pub(crate) const MAIZE: [f64; 15] =
    [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

pub(crate) const LARGE_COUNT: usize = 5000;

/// The `LARGE` list of `reference.py`.
pub(crate) fn large_sample() -> Vec<f64> {
    (0..5000).map(|i| (f64::from(i) * 0.7).sin() + 0.001 * f64::from(i)).collect()
}

/// Equal to ten significant digits (or ten decimals near zero).
pub(crate) fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-10 * expected.abs().max(1.0)
}

const BLOCKS: usize = 20;
const TRIALS: usize = 4000;

struct Noise(Xoshiro256PlusPlus);

impl Noise {
    /// Uniform in (0, 1), never an end.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal by Box and Muller (1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential with mean 1: a run is never faster than its floor, often slower.
    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Student's t with two degrees of freedom, whose variance is infinite.
    fn heavy_tailed(&mut self) -> f64 {
        let chi_squared = 2.0 * self.exponential();
        self.normal() / (chi_squared / 2.0).sqrt()
    }
}

/// Share of trials in which the rule finds a difference.
fn detection_rate(seed: u64, mut difference: impl FnMut(&mut Noise) -> f64) -> f64 {
    let mut noise = Noise(Xoshiro256PlusPlus::seed_from_u64(seed));
    let found = (0..TRIALS)
        .filter(|_| {
            let blocks: Vec<f64> = (0..BLOCKS).map(|_| difference(&mut noise)).collect();
            analyse(&blocks).unwrap().direction != Direction::Unresolved
        })
        .count();
    found as f64 / TRIALS as f64
}

fn monte_carlo_error(rate: f64) -> f64 {
    (rate * (1.0 - rate) / TRIALS as f64).sqrt()
}

#[test]
fn normal_noise_gives_five_percent_false_positives() {
    let rate = detection_rate(1, Noise::normal);
    assert!((rate - 0.05).abs() <= 3.0 * monte_carlo_error(0.05), "{rate}");
}

#[test]
fn skewed_runs_compared_in_pairs_give_at_most_five_percent_false_positives() {
    let rate = detection_rate(2, |noise| noise.exponential() - noise.exponential());
    assert!(rate <= 0.05 + 3.0 * monte_carlo_error(0.05), "{rate}");
}

#[test]
fn heavy_tailed_noise_gives_at_most_five_percent_false_positives() {
    let rate = detection_rate(3, Noise::heavy_tailed);
    assert!(rate <= 0.05 + 3.0 * monte_carlo_error(0.05), "{rate}");
}

#[test]
fn a_shift_of_one_standard_deviation_is_found_as_often_as_theory_says() {
    let theory = 0.988_591_294_779;
    let rate = detection_rate(4, |noise| noise.normal() + 1.0);
    assert!((rate - theory).abs() <= 3.0 * monte_carlo_error(theory), "{rate}");
}

#[test]
fn a_shift_of_half_a_standard_deviation_is_found_as_often_as_theory_says() {
    let theory = 0.564_504_418_439;
    let rate = detection_rate(5, |noise| noise.normal() + 0.5);
    assert!((rate - theory).abs() <= 3.0 * monte_carlo_error(theory), "{rate}");
}
