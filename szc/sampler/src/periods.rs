//! The intervals between the samples of a clock.
#![forbid(unsafe_code)]

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The shortest interval that the kernel keeps to, in nanoseconds.
pub const MIN_PERIOD_NS: u64 = 10_000;

/// How often a clock is given another interval at most, in nanoseconds. Each time interrupts the
/// processor once more than its sample does.
const BATCH_NS: u64 = 4_000_000;

/// What intervals are drawn by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Mean interval, in nanoseconds.
    pub period_ns: u64,
    /// By which share of the mean an interval may be longer or shorter; from 0 to 1.
    pub jitter: f64,
    /// Of the generator.
    pub seed: u64,
}

impl Schedule {
    /// The intervals of a clock; each has its own number.
    #[must_use]
    pub fn periods(self, clock: u64) -> Periods {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let seed = seeds.next_u64() ^ clock.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Periods { schedule: self, random: Xoshiro256PlusPlus::seed_from_u64(seed), owed_ns: 0 }
    }
}

/// The intervals of one clock, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Periods {
    schedule: Schedule,
    random: Xoshiro256PlusPlus,
    /// By how much intervals were shorter so far than what was drawn for them.
    owed_ns: u64,
}

impl Periods {
    /// The first interval: uniform up to the mean, so that a thread shorter than that is sampled
    /// with the right probability. Not much shorter than the time in which the next one is started.
    pub fn first(&mut self) -> u64 {
        let share = 1.0 - self.uniform();
        self.nanoseconds(share).max(self.schedule.period_ns / 20)
    }

    /// The next interval: uniform around the mean.
    pub fn following(&mut self) -> u64 {
        let share = 1.0 + self.schedule.jitter * (2.0 * self.uniform() - 1.0);
        self.nanoseconds(share)
    }

    /// The mean interval.
    #[must_use]
    pub fn mean(&self) -> u64 {
        self.schedule.period_ns
    }

    /// Number of samples whose intervals are equal: one, but at high frequencies.
    #[must_use]
    pub fn in_a_batch(&self) -> usize {
        // At most BATCH_NS / MIN_PERIOD_NS.
        usize::try_from(BATCH_NS.div_ceil(self.schedule.period_ns)).unwrap_or(1)
    }

    /// The next interval, for so many samples, so long after the last one. The first of them comes
    /// when it was drawn to, however late this is; by what the others then come too early, those of
    /// the next interval come later. Never little: a reader that is late would be later with each
    /// sample.
    pub fn rest(&mut self, late_ns: u64, samples: usize) -> u64 {
        let least = (self.schedule.period_ns / 4).max(MIN_PERIOD_NS);
        let drawn = self.following();
        let all = samples as u64;
        let rest = (drawn + self.owed_ns / all).saturating_sub(late_ns).max(least);
        let owed = self.owed_ns + all * drawn;
        // Bounded: a reader that is late for long has nothing to make up for.
        let most = all * self.schedule.period_ns;
        self.owed_ns = owed.saturating_sub(late_ns + all * rest).min(most);
        rest
    }

    fn nanoseconds(&self, share: f64) -> u64 {
        // Far below 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let drawn = (self.schedule.period_ns as f64 * share) as u64;
        drawn.max(MIN_PERIOD_NS)
    }

    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule { period_ns: 10_000_000, jitter: 0.3, seed: 7 };

    #[test]
    fn intervals_are_uniform_around_the_mean() {
        let mut periods = SCHEDULE.periods(3);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            let period = periods.following();
            assert!((7_000_000..13_000_000).contains(&period));
            counts[((period - 7_000_000) / 1_000_000) as usize] += 1;
        }
        // 5 degrees of freedom: 25.74 is the 0.9999 quantile.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 25.74, "chi-square {chi}");
    }

    #[test]
    fn a_thread_shorter_than_an_interval_is_sampled_in_proportion_to_its_length() {
        // 20,000 threads of 2 ms: a fifth of them, within 4.4 standard deviations.
        let hits = (0..20_000).filter(|&clock| SCHEDULE.periods(clock).first() <= 2_000_000);
        let hits = hits.count();
        assert!((3_750..4_250).contains(&hits), "{hits}");
    }

    #[test]
    fn an_interval_ends_when_it_was_drawn_to_although_it_is_started_late() {
        let (mut periods, mut late) = (SCHEDULE.periods(4), SCHEDULE.periods(4));
        assert_eq!(late.rest(70_000, 1), periods.following() - 70_000);
        assert_eq!(late.rest(80_000, 4), periods.following() - 80_000);
        // Three of those came 80 µs too early.
        assert_eq!(late.rest(80_000, 4), periods.following() + 60_000 - 80_000);
        assert_eq!(late.rest(1 << 40, 1), 2_500_000);
    }

    #[test]
    fn intervals_take_what_was_drawn_on_average_however_late_they_are_started() {
        let (mut periods, mut late) = (SCHEDULE.periods(5), SCHEDULE.periods(5));
        let (mut drawn, mut taken) = (0, 0);
        for batch in 0..10_000u64 {
            let late_ns = batch % 7 * 500_000;
            drawn += 4 * periods.following();
            taken += late_ns + 4 * late.rest(late_ns, 4);
        }
        let ratio = taken as f64 / drawn as f64;
        assert!((ratio - 1.0).abs() < 0.001, "{ratio}");
    }

    #[test]
    fn intervals_are_equal_for_four_milliseconds_at_most() {
        let in_a_batch = |period_ns| Schedule { period_ns, ..SCHEDULE }.periods(0).in_a_batch();
        assert_eq!([10_000_000, 4_000_000, 1_000_000, 100_000].map(in_a_batch), [1, 1, 4, 40]);
    }

    #[test]
    fn clocks_of_one_seed_differ_and_repeat() {
        let draw = |seed, clock| Schedule { seed, ..SCHEDULE }.periods(clock).following();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn without_jitter_all_intervals_but_the_first_are_the_mean() {
        let mut periods = Schedule { jitter: 0.0, ..SCHEDULE }.periods(0);
        assert!((MIN_PERIOD_NS..=10_000_000).contains(&periods.first()));
        assert_eq!((periods.following(), periods.following()), (10_000_000, 10_000_000));
    }
}
