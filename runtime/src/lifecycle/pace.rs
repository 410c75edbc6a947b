//! When the next round of epochs begins: at every interval of time, or of the program's processor
//! time, but not for a program that does not
//! run, less often while each layout has to be copied away from forked children, and less and less
//! often where old layouts cannot be freed.
#![forbid(unsafe_code)]

use super::round::LOOK_NS;
use crate::os;
use crate::reclaim::Scarcity;
use crate::settings::Clock;
use szc_code::sharing;

/// The smallest part of an interval of processor time after which is looked again how much of it
/// has passed: the program has no more of it than time passes for each of its threads, and less
/// where others have its processor.
const SMALLEST_PART: u64 = 16;

/// Processor time of the program, without which a layout has not been used.
const USED_NS: u64 = 10_000;

/// Part of an interval that a forked child has to run for before its first round, which copies all
/// that it shares with its parent. Many children wait for most of their lives.
const PART_OF_CHILD: u64 = 10;

/// While the program does not run, intervals grow up to so many times.
const MAX_IDLE_TIMES: u64 = 16;

/// What a round costs while children may have the copies is made up for by so many times as long
/// without one.
const SHARED_TIMES: u64 = 20;

/// Where layouts cannot be freed, so much of the time since then passes for each round that there
/// is room for, at least. With `n` places left the last one is taken when that time has become
/// (n + 4 choose 4) times as long: 10 million times with the 126 of a program of 4 MiB.
const SCARCE_TIMES: u64 = 4;

/// The pace of rounds.
pub struct Pace {
    clock: Clock,
    interval_ns: u64,
    deadline_ns: u64,
    /// Time to the next look, while the program does not run.
    idle_ns: u64,
    /// Processor time of the program that makes the next round due, if layouts follow by time.
    wanted_ns: u64,
    /// The program's processor time when the last round began, and at the last look.
    used_ns: u64,
    seen_ns: u64,
    /// Since when memory was this process's alone at the last round.
    own_since: u32,
    began_ns: u64,
    /// Since when layouts cannot be freed, if that is so, and it is not known when they can.
    scarce_since_ns: Option<u64>,
}

impl Pace {
    /// The first round begins an interval from now.
    pub fn new(interval_ns: u64, clock: Clock, is_child: bool) -> Self {
        let part_ns = if is_child { interval_ns / PART_OF_CHILD } else { 0 };
        Self {
            clock,
            interval_ns,
            deadline_ns: os::monotonic_ns(),
            idle_ns: interval_ns,
            wanted_ns: part_ns.max(USED_NS),
            used_ns: 0,
            seen_ns: 0,
            own_since: sharing::own_since(),
            began_ns: 0,
            scarce_since_ns: None,
        }
    }

    /// When to look whether a round is to begin.
    pub fn next(&mut self) -> u64 {
        self.deadline_ns = (self.deadline_ns + self.idle_ns).max(os::monotonic_ns());
        self.deadline_ns
    }

    /// Whether a round is to begin: the program has run in its layout, and long enough.
    pub fn begins(&mut self) -> bool {
        self.begins_at(os::cpu_ns_of_others())
    }

    fn begins_at(&mut self, cpu_ns: u64) -> bool {
        let used_ns = cpu_ns.saturating_sub(self.used_ns);
        let runs = cpu_ns.saturating_sub(self.seen_ns) >= USED_NS;
        self.seen_ns = cpu_ns;
        let wanted_ns = match self.clock {
            Clock::Wall => self.wanted_ns,
            Clock::Cpu => self.interval_ns,
        };
        if used_ns >= wanted_ns {
            (self.used_ns, self.idle_ns) = (cpu_ns, self.interval_ns);
            (self.began_ns, self.wanted_ns) = (os::monotonic_ns(), USED_NS);
            return true;
        }
        self.idle_ns = if runs && self.clock == Clock::Cpu {
            (wanted_ns - used_ns).max(self.interval_ns / SMALLEST_PART)
        } else {
            let longest = (MAX_IDLE_TIMES * self.interval_ns).min(LOOK_NS).max(self.interval_ns);
            (2 * self.idle_ns).min(longest)
        };
        false
    }

    /// A round is over. `may_rest`: a later one will do. There is a `scarcity` where layouts cannot
    /// be freed, or only now and then.
    pub fn round_over(&mut self, may_rest: bool, scarcity: Option<Scarcity>) {
        let own_since = sharing::own_since();
        if may_rest && own_since != self.own_since {
            let took_ns = os::monotonic_ns().saturating_sub(self.began_ns);
            self.rest(SHARED_TIMES * took_ns);
        }
        self.own_since = own_since;
        if let Some(Scarcity { until, left }) = scarcity {
            self.economize(until, left);
        }
    }

    /// What [`Scarcity`] says makes the next round come later.
    fn economize(&mut self, until: Option<(u64, u32)>, left: Option<u32>) {
        let now = os::monotonic_ns();
        if let Some((next_ns, places)) = until {
            self.rest(next_ns.saturating_sub(now) / (u64::from(places) + 1));
        }
        let Some(left) = left else {
            self.scarce_since_ns = None;
            return;
        };
        let since = *self.scarce_since_ns.get_or_insert(now.saturating_sub(self.interval_ns));
        if until.is_none_or(|(_, places)| places == 0) {
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
        let mut pace = Pace::new(INTERVAL_NS, Clock::Wall, false);
        assert!(pace.begins(), "other threads of this test have run");
        (pace.used_ns, pace.seen_ns) = (u64::MAX, u64::MAX);
        let waits = [(); 6].map(|()| {
            assert!(!pace.begins());
            pace.idle_ns / INTERVAL_NS
        });
        assert_eq!(waits, [2, 4, 8, 16, 16, 16]);
        (pace.used_ns, pace.seen_ns) = (0, 0);
        assert!(pace.begins() && pace.idle_ns == INTERVAL_NS);
        let before = pace.deadline_ns;
        pace.round_over(true, None);
        assert_eq!(pace.deadline_ns, before, "no fork");
        pace.began_ns = os::monotonic_ns() - INTERVAL_NS;
        pace.own_since = pace.own_since.wrapping_sub(1);
        pace.round_over(false, None);
        assert_eq!(pace.deadline_ns, before, "none is due");
        pace.own_since = pace.own_since.wrapping_sub(1);
        pace.round_over(true, None);
        assert!(pace.next() >= pace.began_ns + SHARED_TIMES * INTERVAL_NS);
    }

    #[test]
    fn a_child_runs_for_a_part_of_an_interval_before_its_first_round_and_for_little_before_others()
    {
        let mut pace = Pace::new(10 * USED_NS * PART_OF_CHILD, Clock::Wall, true);
        assert!(!pace.begins_at(9 * USED_NS) && !pace.begins_at(9 * USED_NS));
        assert!(pace.begins_at(10 * USED_NS) && pace.begins_at(11 * USED_NS));
    }

    #[test]
    fn where_layouts_cannot_be_freed_there_are_fewer_and_fewer_rounds() {
        const INTERVAL_NS: u64 = 1_000_000;
        let mut pace = Pace::new(INTERVAL_NS, Clock::Wall, false);
        pace.own_since = sharing::own_since();
        let scarce = |left| Some(Scarcity { until: None, left: Some(left) });
        pace.round_over(true, scarce(100));
        assert!(pace.deadline_ns <= os::monotonic_ns(), "there is room for many");
        pace.scarce_since_ns = Some(os::monotonic_ns() - 50 * INTERVAL_NS);
        for (left, times) in [(100, 2), (10, 20), (1, 200), (0, 200)] {
            pace.deadline_ns = 0;
            let now = os::monotonic_ns();
            pace.round_over(true, scarce(left));
            assert!(pace.next() >= now + times * INTERVAL_NS, "{left}");
        }
        // They can be freed in a while.
        pace.deadline_ns = 0;
        let now = os::monotonic_ns();
        let until = Some((now + 100 * INTERVAL_NS, 4));
        pace.round_over(true, Some(Scarcity { until, left: Some(1) }));
        assert!((19..50).contains(&((pace.next() - now) / INTERVAL_NS)));
        pace.round_over(true, Some(Scarcity { until, left: None }));
        assert!(pace.scarce_since_ns.is_none());
    }

    #[test]
    fn an_interval_of_processor_time_passes_while_the_program_runs() {
        const INTERVAL_NS: u64 = 16_000_000;
        let mut pace = Pace::new(INTERVAL_NS, Clock::Cpu, false);
        let mut next = |cpu_ms: u64| (pace.begins_at(cpu_ms * 1_000_000), pace.idle_ns / 1_000_000);
        assert_eq!(next(5), (false, 11), "as long as it takes at least");
        assert_eq!(next(15), (false, 1));
        assert_eq!(next(17), (true, 16));
        assert_eq!(next(32), (false, 1), "from the last round on");
        assert_eq!([next(32), next(32), next(32)], [(false, 2), (false, 4), (false, 8)], "idle");
        assert_eq!(next(40), (true, 16));
    }
}
