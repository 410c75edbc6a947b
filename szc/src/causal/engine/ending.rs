//! How a run ends although its program has not, and what goes on although that has.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use szc_sampler::clock::now;

use crate::measure::descendants::goes_on;
use crate::measure::stop::Stop;

/// How long a program may go on that was asked to stop.
const GRACE_NS: u64 = 5_000_000_000;
/// Ctrl-C reaches the program by itself. One that goes on for so long is told: the signal may have
/// come to szc alone.
const TOLD_AFTER_NS: u64 = 2_000_000_000;

/// A request to stop, which is handed to the program.
#[derive(Default)]
pub struct Request {
    came_ns: Option<u64>,
    is_told: bool,
}

impl Request {
    /// Hands a request on, and says whether the program goes on for too long behind it.
    pub fn is_overdue(&mut self, stop: &Stop, process: u32) -> bool {
        let Some(signal) = stop.signal() else { return false };
        let came_ns = *self.came_ns.get_or_insert_with(now);
        let waited_ns = now() - came_ns;
        let is_by_terminal = signal == Signal::SIGINT as i32;
        if !self.is_told && (!is_by_terminal || waited_ns > TOLD_AFTER_NS) {
            // A second SIGINT would end some programs before they have saved what they should.
            let signal = if is_by_terminal { Signal::SIGTERM as i32 } else { signal };
            let _ = kill(Pid::from_raw(process.cast_signed()), Signal::try_from(signal).ok());
            self.is_told = true;
        }
        waited_ns > GRACE_NS
    }
}

/// Of these processes, those that go on.
pub fn left(processes: &BTreeSet<u32>) -> Vec<u32> {
    processes.iter().copied().filter(|&process| goes_on(process)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn processes_that_were_never_there_or_have_ended_do_not_go_on() {
        let mut ended = Command::new("true").spawn().unwrap();
        let own = std::process::id();
        let processes = BTreeSet::from([own, u32::MAX / 4, ended.id()]);
        // Not waited for, so that its number stays its own.
        while left(&processes) != [own] {
            std::thread::yield_now();
        }
        assert!(ended.wait().unwrap().success());
    }
}
