//! Turns: programs that are under way at once on one processor, so that what happens on a machine
//! for seconds happens to all of them alike, and their ratio does not show it.
//!
//! The scheduler gives the processor to each for a slice and then to the next; nothing is stopped
//! and no signal is sent, so no call of a program is interrupted, and nothing can be left stopped.
//! What each used is its CPU time. Elapsed time says nothing, since it passes for all of them.
//!
//! Not every program can share a processor without becoming another one: one that uses several
//! processors, or waits, is measured alone. One run without others tells.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::child::Outcome;

/// Whether programs take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// If nothing speaks against it.
    Auto,
    /// Never: one run after the other.
    Off,
    /// Always, for so long at a time.
    Of(Duration),
}

/// Turns that `auto` takes: of 1 to 50 ms, 3 ms made the ratio of two runs of the same program vary
/// least. Longer ones share less of what happens, shorter ones cost more.
pub const USUAL_TURN: Duration = Duration::from_millis(3);

/// What Linux grants: 0.1 to 100 ms.
const GRANTED_MS: std::ops::RangeInclusive<f64> = 0.1..=100.0;

/// A run has to last so many turns to meet the same as the others.
const MIN_TURNS: u32 = 10;

/// A run waits for nothing if it used, or queued for, a processor for this share of its time.
const BUSY: f64 = 0.95;

/// A run uses one processor at a time if its CPU time is at most this multiple of its time.
const ONE_PROCESSOR: f64 = 1.05;

/// Switches of a program that starts and ends, and of the runtime that it was built with.
const SWITCHES_OF_START: u64 = 10;

/// Few voluntary switches beyond those, by seconds of CPU time.
const MAX_SWITCHES_PER_S: f64 = 50.0;

impl Turns {
    /// Reads "auto", "off", or the length of a turn such as "3ms".
    ///
    /// # Errors
    /// What is needed instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let needed = || {
            format!(
                "auto, off, or turns of {} to {} ms such as 3ms are needed",
                GRANTED_MS.start(),
                GRANTED_MS.end()
            )
        };
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            turn => {
                let number = turn.strip_suffix("ms").and_then(|number| number.parse::<f64>().ok());
                let milliseconds =
                    number.filter(|number| GRANTED_MS.contains(number)).ok_or_else(needed)?;
                Ok(Self::Of(Duration::from_secs_f64(milliseconds / 1e3)))
            }
        }
    }
}

impl std::fmt::Display for Turns {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Off => formatter.write_str("off"),
            Self::Of(turn) => write!(formatter, "{}ms", turn.as_secs_f64() * 1e3),
        }
    }
}

/// How a program that ran alone used its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitness {
    /// CPU time over elapsed time.
    pub used: f64,
    /// CPU time, and time in the queue for a processor, over elapsed time.
    pub busy: f64,
    /// Voluntary context switches in a second of CPU time, without those of its start.
    pub switches_per_s: f64,
    /// Elapsed time.
    wall: Duration,
    /// Whether it wrote to a disk.
    writes: bool,
}

impl Fitness {
    /// That of a run with all its descendants.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        let usage = &outcome.usage;
        let wall = Duration::from_nanos(outcome.wall_ns);
        let cpu = Duration::from_micros(usage.user_us + usage.sys_us);
        let queued = Duration::from_nanos(usage.queued_ns);
        let share = |time: Duration| time.as_secs_f64() / wall.as_secs_f64().max(1e-9);
        Self {
            used: share(cpu),
            busy: share(cpu + queued),
            switches_per_s: usage.voluntary_switches.saturating_sub(SWITCHES_OF_START) as f64
                / cpu.as_secs_f64().max(1e-3),
            wall,
            writes: usage.blocks_written > 0,
        }
    }

    /// Why such a program should not take turns; `None` if it may.
    #[must_use]
    pub fn objection(&self) -> Option<String> {
        let shortest = USUAL_TURN * MIN_TURNS;
        if self.wall < shortest {
            return Some(format!("runs take less than {} ms", shortest.as_millis()));
        }
        if self.used > ONE_PROCESSOR {
            return Some(format!("it uses {:.1} processors at once", self.used));
        }
        if self.busy < BUSY {
            return Some(format!("it waits for {:.0} % of its time", 100.0 * (1.0 - self.busy)));
        }
        if self.switches_per_s > MAX_SWITCHES_PER_S {
            return Some(format!(
                "it waits {:.0} times in a second of CPU time",
                self.switches_per_s
            ));
        }
        self.writes.then(|| "it writes files, which the other runs may write, too".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::child::{Invocation, Usage, run};
    use crate::measure::stop::Stop;

    fn shell(script: &str) -> Outcome {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned);
        run(&Invocation::new(&argv), &Stop::new()).unwrap()
    }

    fn objection(wall_ms: u64, usage: Usage) -> Option<String> {
        let outcome = Outcome { wall_ns: wall_ms * 1_000_000, usage, ..shell("true") };
        Fitness::of(&outcome).objection()
    }

    #[test]
    fn the_length_of_a_turn_is_read_and_written() {
        for text in ["auto", "off", "3ms", "0.1ms", "100ms", "2.5ms"] {
            assert_eq!(Turns::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "on", "3", "3s", "0ms", "0.05ms", "101ms", "NaNms", "-3ms"] {
            assert!(Turns::parse(text).unwrap_err().contains("such as 3ms"), "{text}");
        }
    }

    #[test]
    fn a_program_that_computes_may_take_turns_also_on_a_busy_machine() {
        let computing = Usage { user_us: 990_000, voluntary_switches: 9, ..Usage::default() };
        assert_eq!(objection(1000, computing), None);
        let queueing = Usage { queued_ns: 1_000_000_000, ..computing };
        assert_eq!(objection(2000, queueing), None);
    }

    #[test]
    fn what_speaks_against_turns_is_said() {
        let computing = Usage { user_us: 990_000, ..Usage::default() };
        let cases = [
            (20, Usage { user_us: 20_000, ..Usage::default() }, "less than 30 ms"),
            (1000, Usage { user_us: 3_500_000, ..computing }, "3.5 processors"),
            (1000, Usage { user_us: 600_000, ..computing }, "waits for 40 %"),
            (1000, Usage { voluntary_switches: 1000, ..computing }, "1000 times in a second"),
            (1000, Usage { blocks_written: 8, ..computing }, "writes files"),
        ];
        for (wall_ms, usage, expected) in cases {
            let found = objection(wall_ms, usage).unwrap_or_default();
            assert!(found.contains(expected), "{found} instead of {expected}");
        }
    }

    #[test]
    fn a_process_that_sleeps_waits_and_one_that_loops_does_not() {
        let asleep = Fitness::of(&shell("sleep 0.1")).objection().unwrap();
        assert!(asleep.contains("it waits for"), "{asleep}");
        // With every processor busy, what it queued for counts: the first thread's own.
        let busy = Fitness::of(&shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
        assert!(busy.busy > 0.8, "{busy:?}");
    }
}
