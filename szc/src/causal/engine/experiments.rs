//! What is sped up next, by how much and for how long.
#![forbid(unsafe_code)]

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::causal::file::{Experiment, Progress};

/// Below so many visits of a point, experiments take twice as long from then on.
const MIN_VISITS: u64 = 5;
/// And above so many half as long, down to what was asked for.
const MANY_VISITS: u64 = 20;
/// No experiment takes longer than so many of the shortest.
const MAX_DOUBLINGS: u32 = 6;

/// Draws speedups, and adapts the length of experiments.
pub struct Experiments {
    random: Xoshiro256PlusPlus,
    /// In percent.
    speedups: Vec<u32>,
    shortest_ns: u64,
    doublings: u32,
}

impl Experiments {
    /// By a seed, from speedups in percent.
    pub fn new(seed: u64, speedups: &[u32], shortest_ns: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, speedups: speedups.to_vec(), shortest_ns, doublings: 0 }
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        let product = u128::from(self.random.next_u64()) * u128::from(limit);
        u64::try_from(product >> 64).unwrap_or_default()
    }

    /// A speedup in percent: one half are 0, if that is among them, the rest is spread evenly.
    pub fn speedup(&mut self) -> u32 {
        if self.speedups.contains(&0) && self.below(2) == 0 {
            return 0;
        }
        self.altered()
    }

    /// One that is not 0, if there is one.
    pub fn altered(&mut self) -> u32 {
        let altered: Vec<u32> = self.speedups.iter().copied().filter(|&s| s != 0).collect();
        if altered.is_empty() {
            return 0;
        }
        let at = self.below(altered.len() as u64);
        altered[usize::try_from(at).unwrap_or_default()]
    }

    /// Whole runs come in pairs, one of which is as it is without szc: by random the first or the
    /// second one.
    pub fn speedup_of_run(&mut self, run: u32, pair: &mut Option<u32>) -> u32 {
        if !self.speedups.contains(&0) {
            return self.altered();
        }
        if let Some(second) = pair.take_if(|_| run % 2 == 1) {
            return second;
        }
        let altered = self.altered();
        let (first, second) = if self.below(2) == 0 { (0, altered) } else { (altered, 0) };
        *pair = Some(second);
        first
    }

    /// How long the next experiment takes.
    pub fn duration_ns(&self) -> u64 {
        self.shortest_ns << self.doublings
    }

    /// Learns from what an experiment counted. Points that were never visited do not count.
    pub fn learn(&mut self, experiment: &Experiment) {
        let visits = experiment.points.iter().map(|point| match point.progress {
            Progress::Throughput { visits } => visits,
            Progress::Latency { arrivals, departures, .. } => arrivals.min(departures),
        });
        match visits.min() {
            Some(few) if few < MIN_VISITS => {
                self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            }
            Some(many) if many > MANY_VISITS => self.doublings = self.doublings.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::file::{Location, Point};

    #[test]
    fn one_half_of_speedups_is_none_and_the_rest_is_spread_evenly() {
        let speedups: Vec<u32> = (0..=100).step_by(5).collect();
        let mut experiments = Experiments::new(1, &speedups, 1);
        let mut counts = [0_u32; 101];
        for _ in 0..40_000 {
            counts[experiments.speedup() as usize] += 1;
        }
        // Six standard deviations of 20,000 and of 1,000: false alarms are below one in a million.
        assert!((19_400..20_600).contains(&counts[0]), "{}", counts[0]);
        for speedup in (5..=100).step_by(5) {
            assert!((810..1_190).contains(&counts[speedup]), "{speedup}: {}", counts[speedup]);
        }
    }

    #[test]
    fn of_two_runs_one_is_unaltered() {
        let mut experiments = Experiments::new(1, &[0, 50], 1);
        let mut pair = None;
        for run in (0..40).step_by(2) {
            let mut both = [0, 1].map(|second| experiments.speedup_of_run(run + second, &mut pair));
            both.sort_unstable();
            assert_eq!(both, [0, 50]);
        }
        let mut fixed = Experiments::new(1, &[25], 1);
        assert_eq!([0, 1, 2].map(|run| fixed.speedup_of_run(run, &mut pair)), [25; 3]);
    }

    #[test]
    fn experiments_with_few_visits_get_longer_and_shorter_again_with_many() {
        let with = |visits| Experiment {
            run: 0,
            process: 0,
            selected: Location::Function { function: "f".into() },
            speedup: 0.0,
            start_ns: 0,
            duration_ns: 1,
            delay_ns: 0,
            samples: 0,
            selected_samples: 0,
            runnable_mean: 0.0,
            points: vec![Point { name: "p".into(), progress: Progress::Throughput { visits } }],
        };
        let mut experiments = Experiments::new(1, &[0], 100);
        let mut after = |visits| {
            experiments.learn(&with(visits));
            experiments.duration_ns()
        };
        assert_eq!([4, 0, 5, 20, 21, 21, 21].map(&mut after), [200, 400, 400, 400, 200, 100, 100]);
        assert_eq!([0; 8].map(after)[7], 6_400);
    }
}
