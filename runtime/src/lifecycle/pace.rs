//! When the next round of epochs begins: at every interval, but not for a program that does not
//! run, less often while each layout has to be copied away from forked children, and less and less
//! often where old layouts cannot be freed.
#![forbid(unsafe_code)]

use super::round::LOOK_NS;
use crate::os;
use szc_code::sharing;

/// Processor time of the program, without which a layout has not been used.
const USED_NS: u64 = 10_000;

/// While the program does not run, intervals grow up to so many times.
const MAX_IDLE_TIMES: u64 = 16;

/// What a round costs behind a fork is made up for by so many times as long without one.
const SHARED_TIMES: u64 = 20;

/// Where layouts cannot be freed, so much of the time since then passes for each round that there
/// is room for, at least. With `n` places left the last one is taken when that time has become
/// (n + 4 choose 4) times as long: 10 million times with the 126 of a program of 4 MiB.
const SCARCE_TIMES: u64 = 4;

/// The pace of rounds.
pub struct Pace {
    interval_ns: u64,
    deadline_ns: u64,
    /// Time to the next look, while the program does not run.
    idle_ns: u64,
    /// The program's processor time when the last round began.
    used_ns: u64,
    /// Forks up to the last round.
    generation: u32,
    began_ns: u64,
    /// Since when layouts cannot be freed, if that is so.
    scarce_since_ns: Option<u64>,
}

impl Pace {
    /// The first round begins an interval from now.
    pub fn new(interval_ns: u64) -> Self {
        Self {
            interval_ns,
            deadline_ns: os::monotonic_ns(),
            idle_ns: interval_ns,
            used_ns: 0,
            generation: sharing::generation(),
            began_ns: 0,
            scarce_since_ns: None,
        }
    }

    /// When to look whether a round is to begin.
    pub fn next(&mut self) -> u64 {
        self.deadline_ns = (self.deadline_ns + self.idle_ns).max(os::monotonic_ns());
        self.deadline_ns
    }

    /// Whether a round is to begin: the program has run in its layout.
    pub fn begins(&mut self) -> bool {
        let used_ns = os::cpu_ns_of_others();
        let runs = used_ns.saturating_sub(self.used_ns) >= USED_NS;
        if runs {
            (self.used_ns, self.idle_ns) = (used_ns, self.interval_ns);
            self.began_ns = os::monotonic_ns();
        } else {
            let longest = (MAX_IDLE_TIMES * self.interval_ns).min(LOOK_NS).max(self.interval_ns);
            self.idle_ns = (2 * self.idle_ns).min(longest);
        }
        runs
    }

    /// A round is over. `may_rest`: a later one will do. `places_left`: rounds for which there is
    /// room, where layouts cannot be freed.
    pub fn round_over(&mut self, may_rest: bool, places_left: Option<u32>) {
        let generation = sharing::generation();
        if may_rest && generation != self.generation {
            let took_ns = os::monotonic_ns().saturating_sub(self.began_ns);
            self.rest(SHARED_TIMES * took_ns);
        }
        self.generation = generation;
        if let Some(left) = places_left {
            let now = os::monotonic_ns();
            let since = *self.scarce_since_ns.get_or_insert(now.saturating_sub(self.interval_ns));
            self.rest(SCARCE_TIMES * (now - since) / u64::from(left.max(1)));
        }
    }

    /// The next round begins not before so much time has passed.
    fn rest(&mut self, time_ns: u64) {
        let rests = os::monotonic_ns() + time_ns;
        self.deadline_ns = self.deadline_ns.max(rests.saturating_sub(self.interval_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_run_is_looked_at_less_and_less_often() {
        const INTERVAL_NS: u64 = 1_000_000;
        let mut pace = Pace::new(INTERVAL_NS);
        assert!(pace.begins(), "other threads of this test have run");
        pace.used_ns = u64::MAX;
        let waits = [(); 6].map(|()| {
            assert!(!pace.begins());
            pace.idle_ns / INTERVAL_NS
        });
        assert_eq!(waits, [2, 4, 8, 16, 16, 16]);
        pace.used_ns = 0;
        assert!(pace.begins() && pace.idle_ns == INTERVAL_NS);
        let before = pace.deadline_ns;
        pace.round_over(true, None);
        assert_eq!(pace.deadline_ns, before, "no fork");
        pace.began_ns = os::monotonic_ns() - INTERVAL_NS;
        pace.generation = pace.generation.wrapping_sub(1);
        pace.round_over(false, None);
        assert_eq!(pace.deadline_ns, before, "none is due");
        pace.generation = pace.generation.wrapping_sub(1);
        pace.round_over(true, None);
        assert!(pace.next() >= pace.began_ns + SHARED_TIMES * INTERVAL_NS);
    }

    #[test]
    fn where_layouts_cannot_be_freed_there_are_fewer_and_fewer_rounds() {
        const INTERVAL_NS: u64 = 1_000_000;
        let mut pace = Pace::new(INTERVAL_NS);
        pace.generation = sharing::generation();
        pace.round_over(true, Some(100));
        assert!(pace.deadline_ns <= os::monotonic_ns(), "there is room for many");
        pace.scarce_since_ns = Some(os::monotonic_ns() - 50 * INTERVAL_NS);
        for (left, times) in [(100, 2), (10, 20), (1, 200), (0, 200)] {
            pace.deadline_ns = 0;
            let now = os::monotonic_ns();
            pace.round_over(true, Some(left));
            assert!(pace.next() >= now + times * INTERVAL_NS, "{left}");
        }
    }
}
