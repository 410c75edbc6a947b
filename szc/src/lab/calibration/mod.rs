//! Error rates of whole experiments: the plan, the loop over blocks, the rule and the stopping that
//! real programs are measured with, on a model of a machine.
//!
//! `szc_stats::calibration` says how many experiments a cell has and how to print all cells.
#![forbid(unsafe_code)]

use szc_stats::calibration::noise::Noise;
use szc_stats::calibration::{Rate, rate_of};

mod alike;
mod coupled;
mod simulated;
mod unlike;

/// Whole experiments take their time in a build that is not optimized.
fn rate(name: &str, seed: u64, experiment: impl FnMut(&mut Noise) -> bool) -> Rate {
    const QUICK_TRIALS: u32 = 80;
    rate_of(QUICK_TRIALS, name, seed, experiment)
}
