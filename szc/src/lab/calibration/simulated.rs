//! An experiment on two programs whose log times are known.

use std::io;

use szc_stats::calibration::noise::Noise;
use szc_stats::decision::Tolerance;

use crate::examples::program;
use crate::lab::experiment::{Stopping, Watch};
use crate::lab::session::{Blocks, Ending, Next, Observer};
use crate::results::comparison::{criteria_of, judge, log_ratios};
use crate::results::tolerance::tolerance_of;
use crate::samples::design::{Design, PlannedRun};
use crate::samples::machine::Machine;
use crate::samples::{Command, DesignRecord, Metric, RuleRecord, Sample, SamplesFile, Verdict};

/// Most blocks of an experiment.
pub(super) const BUDGET: u32 = 100;

/// The usual tolerance, as a log ratio.
pub(super) fn one_percent() -> f64 {
    Tolerance::new(0.01).unwrap().log_bound()
}

/// What an experiment ended with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub verdict: Verdict,
    pub blocks: u32,
    /// Interval of the ratio.
    pub interval: [f64; 2],
}

impl Outcome {
    pub(super) fn names_a_difference(&self) -> bool {
        matches!(self.verdict, Verdict::Faster | Verdict::Slower)
    }
}

struct Simulated<'a> {
    watch: Watch<'a>,
    log_time: &'a mut dyn FnMut(&PlannedRun) -> f64,
    samples: Vec<Sample>,
}

impl Blocks for Simulated<'_> {
    fn make(&mut self, runs: &[PlannedRun]) -> io::Result<Result<(), Ending>> {
        for run in runs {
            // Neither below the clock's grain nor beyond its range.
            let log_time = (self.log_time)(run).clamp(-15.0, 15.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let user_us = (1e9 * log_time.exp()) as u64;
            self.samples.push(Sample {
                block: run.block,
                position: run.position,
                program: run.program,
                user_us,
                ..Sample::default()
            });
        }
        Ok(Ok(()))
    }

    fn block_done(&mut self, blocks: u32) -> Next {
        self.watch.block_done(blocks, &self.samples)
    }
}

/// Measures until there is a verdict or `budget` blocks are made. `log_time` is asked for each run,
/// in the order of time. Seeds are coupled, as those of real comparisons.
pub(super) fn experiment(
    command: Command,
    tolerance: f64,
    budget: u32,
    noise: &mut Noise,
    mut log_time: impl FnMut(&mut Noise, &PlannedRun) -> f64,
) -> Outcome {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a seed")]
    let seed = (noise.uniform() * 9e15) as u64;
    let plan = Design { coupled: true, ..Design::mirrored(2, budget, seed) };
    let mut design = DesignRecord::new(plan, RuleRecord::Sequential, Metric::Cpu);
    design.tolerance = Some(tolerance);
    let programs = ["A", "B"].map(|label| program(label, label)).to_vec();
    let mut file = SamplesFile::new(command, Vec::new(), design, Machine::default(), programs);
    let stopping = Stopping {
        rule: RuleRecord::Sequential,
        tolerance: Some(tolerance),
        ..Stopping::default()
    };
    let mut simulated = Simulated {
        watch: Watch::new(&file, stopping, true, 0, None),
        log_time: &mut |run| log_time(noise, run),
        samples: Vec::new(),
    };
    let ending = simulated.carry_out_blocks(&plan, 0).unwrap();
    assert_eq!(ending, Ending::Complete);
    file.runs = simulated.samples;
    let blocks = file.runs.last().unwrap().block + 1;
    let lists = log_ratios(&file.runs, blocks, &[(0, 1)], &Metric::Cpu).unwrap();
    let tolerances = [tolerance_of(&file.design, &Metric::Cpu)];
    let judged = judge(&criteria_of(&file), &Metric::Cpu, &lists, &tolerances).unwrap()[0];
    let (_, interval) = judged.ratio();
    Outcome { verdict: judged.verdict, blocks, interval: [interval.lower, interval.upper] }
}
