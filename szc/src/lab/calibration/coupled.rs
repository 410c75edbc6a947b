//! Programs that share functions, and with the seeds of a block the effects of where these lie:
//! false verdicts whatever the share, and power.

use szc_stats::calibration::Rate;
use szc_stats::calibration::noise::{Machine, Noise, Shape};

use super::rate;
use super::simulated::{BUDGET, Outcome, experiment, one_percent};
use crate::samples::design::PlannedRun;
use crate::samples::{Command, Verdict};

/// Everything, half, nothing.
const SHARES: [f64; 3] = [1.0, 0.5, 0.0];

/// Effects of layouts: by 3 %, of this shape, of which the programs have a share of the variance in
/// common. The machine adds 0.5 %.
#[derive(Clone, Copy)]
struct Layouts {
    shape: Shape,
    share: f64,
}

impl Layouts {
    /// The log time of a run.
    fn log_time(self, run: &PlannedRun, noise: &mut Noise) -> f64 {
        let drawn = |key: u64| {
            let mut own = Noise::new(run.seed ^ key);
            Machine::new(self.shape, &mut own).run(&mut own)
        };
        let shared = self.share.sqrt() * drawn(1 << 60);
        let own = (1.0 - self.share).sqrt() * drawn((run.program as u64 + 2) << 60);
        0.03 * (shared + own) + 0.005 * noise.normal()
    }

    /// B is slower by `truth`, a log ratio.
    fn measured(self, command: Command, budget: u32, truth: f64, noise: &mut Noise) -> Outcome {
        // A tolerance so tight that nothing is equivalent: what is left is "faster" or "slower".
        let tolerance = if command == Command::Gate { 0.01 } else { 1e-9 };
        experiment(command, tolerance, budget, noise, |noise, run| {
            let slower = if run.program == 1 { truth } else { 0.0 };
            slower + self.log_time(run, noise)
        })
    }
}

/// Each share with two shapes of the effects of layouts.
fn cells(first_seed: u64) -> impl Iterator<Item = (u64, Layouts)> {
    let shapes = [Shape::Normal, Shape::Skewed];
    let cells = SHARES
        .into_iter()
        .flat_map(move |share| shapes.into_iter().map(move |shape| Layouts { shape, share }));
    (first_seed..).zip(cells)
}

fn named(what: &str, layouts: Layouts) -> String {
    let Layouts { shape, share } = layouts;
    format!("{what}, {shape:?} layouts, {:.0} % shared", 100.0 * share)
}

#[test]
fn compare_names_no_difference_whatever_programs_share() {
    for (seed, layouts) in cells(600) {
        rate(&named("compare, coupled: false positives", layouts), seed, |noise| {
            layouts.measured(Command::Compare, BUDGET, 0.0, noise).names_a_difference()
        })
        .at_most(0.05);
    }
}

#[test]
fn gate_passes_no_slowdown_by_the_tolerance_whatever_programs_share() {
    for (seed, layouts) in cells(620) {
        rate(&named("gate at 1 %, coupled, slower by it: PASS", layouts), seed, |noise| {
            let outcome = layouts.measured(Command::Gate, BUDGET, one_percent(), noise);
            outcome.verdict == Verdict::Pass
        })
        .at_most(0.05);
    }
}

#[test]
fn what_programs_share_needs_no_blocks() {
    let found = |share: f64, seed: u64| -> Rate {
        let layouts = Layouts { shape: Shape::Normal, share };
        let name = named("compare, coupled, 1 % slower: found within 12 blocks", layouts);
        rate(&name, seed, |noise| {
            layouts.measured(Command::Compare, 12, 0.01, noise).names_a_difference()
        })
    };
    found(1.0, 640).at_least(0.95);
    found(0.0, 641).at_most(0.15);
}
