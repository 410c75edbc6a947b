//! Programs whose layouts vary differently: B is A, but for rare slow layouts, or a long tail.
//!
//! No interval of a mean can know of layouts that were not met. What keeps PASS and "equivalent"
//! honest is the number of layouts that they ask for.

use szc_stats::calibration::noise::Noise;

use super::rate;
use super::simulated::{BUDGET, Outcome, experiment, one_percent};
use crate::samples::{Command, Verdict};

/// How the layouts of one of the programs differ from those of the other, in log time.
#[derive(Clone, Copy, Debug)]
enum Layouts {
    /// A share of them is that many times slower.
    RareSlow { share: f64, times: f64 },
    /// Slower by 1 % times the exponential of a normal number: a long tail upwards.
    LogNormal,
}

impl Layouts {
    fn draw(self, noise: &mut Noise) -> f64 {
        match self {
            Self::RareSlow { share, times } if noise.uniform() < share => times.ln(),
            Self::RareSlow { .. } => 0.0,
            Self::LogNormal => 0.01 * noise.normal().exp(),
        }
    }

    fn mean(self) -> f64 {
        match self {
            Self::RareSlow { share, times } => share * times.ln(),
            Self::LogNormal => 0.01 * 0.5_f64.exp(),
        }
    }
}

/// Both move the mean by more than 1 %.
const RARE: [Layouts; 2] =
    [Layouts::RareSlow { share: 0.055, times: 1.2 }, Layouts::RareSlow { share: 0.03, times: 1.5 }];

/// Program `with` has those layouts and is faster by `shift` otherwise; all runs have normal noise
/// of half a percent.
fn measured(
    command: Command,
    tolerance: f64,
    layouts: Layouts,
    (with, shift): (usize, f64),
    noise: &mut Noise,
) -> Outcome {
    experiment(command, tolerance, BUDGET, noise, |noise, run| {
        let own = if run.program == with { layouts.draw(noise) - shift } else { 0.0 };
        own + 0.005 * noise.normal()
    })
}

#[test]
fn gate_passes_no_rare_slow_layouts_that_cost_the_tolerance() {
    for (seed, layouts) in (400..).zip(RARE) {
        let name = format!("gate at 1 %, B {layouts:?}: PASS");
        rate(&name, seed, |noise| {
            measured(Command::Gate, 0.01, layouts, (1, 0.0), noise).verdict == Verdict::Pass
        })
        .at_most(0.05);
    }
    let at_tolerance = (1, Layouts::LogNormal.mean() - one_percent());
    rate("gate at 1 %, B LogNormal, slower by the tolerance: PASS", 402, |noise| {
        measured(Command::Gate, 0.01, Layouts::LogNormal, at_tolerance, noise).verdict
            == Verdict::Pass
    })
    .at_most(0.05);
}

#[test]
fn compare_calls_no_rare_slow_layouts_equivalent() {
    for (seed, (layouts, with)) in (410..).zip([(RARE[0], 0), (RARE[1], 1)]) {
        let name = format!("compare at 1 %, {layouts:?}: equivalent");
        rate(&name, seed, |noise| {
            measured(Command::Compare, 0.01, layouts, (with, 0.0), noise).verdict
                == Verdict::Equivalent
        })
        .at_most(0.05);
    }
}

#[test]
fn twenty_layouts_likely_miss_what_one_in_twenty_is() {
    // Why they are not enough to pass: the interval alone would be below the tolerance.
    rate("gate at 1 %, B rarely slow: interval of 10 blocks is below", 420, |noise| {
        let outcome = experiment(Command::Gate, 0.01, 10, noise, |noise, run| {
            let own = if run.program == 1 { RARE[0].draw(noise) } else { 0.0 };
            own + 0.005 * noise.normal()
        });
        outcome.interval[1].ln() < one_percent()
    })
    .at_least(0.20);
}

#[test]
fn a_difference_of_the_means_is_not_one_of_the_layouts_that_were_met() {
    // The means are equal, and nearly all layouts of B are faster: "faster" is said of those.
    let layouts = RARE[0];
    rate("compare, B faster but for rare slow layouts, means equal: faster", 430, |noise| {
        measured(Command::Compare, 0.01, layouts, (1, layouts.mean()), noise).verdict
            == Verdict::Faster
    })
    .at_least(0.10);
    rate("compare, B LogNormal, means equal: interval at the stop holds 1", 431, |noise| {
        let shift = Layouts::LogNormal.mean();
        let outcome = measured(Command::Compare, 1e-9, Layouts::LogNormal, (1, shift), noise);
        outcome.interval[0] <= 1.0 && 1.0 <= outcome.interval[1]
    })
    .at_least(0.80);
}
