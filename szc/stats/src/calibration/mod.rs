//! Simulations that hold the rules to their promises, and data shared by the tests.
//!
//! Every cell has its own fixed seed, so a pass is a fact about the code and not luck. Bounds allow
//! three Monte-Carlo standard errors. The number of experiments in a cell is small, so that the
//! tests stay quick; the environment variable `SZC_CALIBRATION_TRIALS` sets another. The table of
//! all cells:
//!
//! ```text
//! SZC_CALIBRATION_TRIALS=20000 cargo test -p szc-stats calibration -- --nocapture | grep %
//! ```

pub(crate) mod data;
mod fixed_rule;
pub(super) mod noise;
mod sequential_rule;
mod tests_and_intervals;

use noise::Noise;

const QUICK_TRIALS: u32 = 600;

/// Experiments in a cell.
fn trials() -> u32 {
    match std::env::var("SZC_CALIBRATION_TRIALS") {
        Ok(text) => text.parse().expect("SZC_CALIBRATION_TRIALS is a number"),
        Err(_) => QUICK_TRIALS,
    }
}

/// How often something happened in simulated experiments.
struct Rate {
    name: String,
    share: f64,
    trials: f64,
}

/// Repeats `experiment` with noise from `seed`, and prints the share of those that return `true`.
fn rate(name: &str, seed: u64, mut experiment: impl FnMut(&mut Noise) -> bool) -> Rate {
    let mut noise = Noise::new(seed);
    let trials = f64::from(trials());
    let hits: u32 = (0..self::trials()).map(|_| u32::from(experiment(&mut noise))).sum();
    let share = f64::from(hits) / trials;
    println!("{name:<76} {:>6.2} %", 100.0 * share);
    Rate { name: name.to_owned(), share, trials }
}

impl Rate {
    fn error(&self, promised: f64) -> f64 {
        3.0 * (promised * (1.0 - promised) / self.trials).sqrt()
    }

    fn at_most(&self, promised: f64) {
        assert!(self.share <= promised + self.error(promised), "{}: {}", self.name, self.share);
    }

    fn at_least(&self, promised: f64) {
        assert!(self.share >= promised - self.error(promised), "{}: {}", self.name, self.share);
    }

    fn about(&self, promised: f64) {
        self.at_most(promised);
        self.at_least(promised);
    }
}
