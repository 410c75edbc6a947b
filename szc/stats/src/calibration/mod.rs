//! Simulations that hold the rules to their promises, and data shared by the tests.
//!
//! Every cell has its own fixed seed, so a pass is a fact about the code and not luck. Bounds allow
//! three Monte-Carlo standard errors. The number of experiments in a cell is small, so that the
//! tests stay quick; the environment variable `SZC_CALIBRATION_TRIALS` sets another. The table of
//! all cells:
//!
//! ```text
//! SZC_CALIBRATION_TRIALS=20000 cargo test -p szc-stats -p szc calibration -- --nocapture | grep %
//! ```
//!
//! Whole experiments, with the loop that measures and judges real programs, are simulated in
//! `szc/src/lab/calibration`, for which this module is public under the feature `calibration`.

#[cfg(test)]
pub(crate) mod data;
#[cfg(test)]
mod fixed_rule;
pub mod noise;
#[cfg(test)]
mod sequential_rule;
#[cfg(test)]
mod tests_and_intervals;

use noise::Noise;

const QUICK_TRIALS: u32 = 600;

/// Experiments in a cell, `quick` if nobody says otherwise.
fn trials(quick: u32) -> u32 {
    match std::env::var("SZC_CALIBRATION_TRIALS") {
        Ok(text) => text.parse().expect("SZC_CALIBRATION_TRIALS is a number"),
        Err(_) => quick,
    }
}

/// How often something happened in simulated experiments.
pub struct Rate {
    name: String,
    /// Share of the experiments.
    pub share: f64,
    /// Number of experiments.
    pub trials: f64,
}

/// Repeats `experiment` with noise from `seed`, and prints the share of those that return `true`.
///
/// # Panics
/// If the environment variable holds no number.
pub fn rate(name: &str, seed: u64, experiment: impl FnMut(&mut Noise) -> bool) -> Rate {
    rate_of(QUICK_TRIALS, name, seed, experiment)
}

/// The same with another number of experiments where nobody says otherwise.
///
/// # Panics
/// If the environment variable holds no number.
pub fn rate_of(
    quick: u32,
    name: &str,
    seed: u64,
    mut experiment: impl FnMut(&mut Noise) -> bool,
) -> Rate {
    let mut noise = Noise::new(seed);
    let count = trials(quick);
    let trials = f64::from(count);
    let hits: u32 = (0..count).map(|_| u32::from(experiment(&mut noise))).sum();
    let share = f64::from(hits) / trials;
    println!("{name:<76} {:>6.2} %", 100.0 * share);
    Rate { name: name.to_owned(), share, trials }
}

impl Rate {
    /// Three standard errors of a rate that is as promised.
    #[must_use]
    pub fn error(&self, promised: f64) -> f64 {
        3.0 * (promised * (1.0 - promised) / self.trials).sqrt()
    }

    /// # Panics
    /// If it happened more often, beyond chance.
    pub fn at_most(&self, promised: f64) {
        assert!(self.share <= promised + self.error(promised), "{}: {}", self.name, self.share);
    }

    /// # Panics
    /// If it happened less often, beyond chance.
    pub fn at_least(&self, promised: f64) {
        assert!(self.share >= promised - self.error(promised), "{}: {}", self.name, self.share);
    }

    /// # Panics
    /// If it happened more or less often, beyond chance.
    pub fn about(&self, promised: f64) {
        self.at_most(promised);
        self.at_least(promised);
    }
}
