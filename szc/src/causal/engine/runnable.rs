//! Time in which threads of programs ran, or waited for a processor.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use szc_abi::causal::Memory;

use crate::measure::child::cpu_ns_of_children;

/// Up to now, of all that has run since any beginning: differences of it are what is meant.
///
/// Processes that have ended count once they were waited for. Of what waited for a processor,
/// threads are left out that were there when their process ended.
pub fn runnable_ns(memory: &Memory, processes: &BTreeSet<u32>) -> u64 {
    let ended = cpu_ns_of_children().unwrap_or(0) + memory.ended_wait_ns.load(Relaxed);
    processes.iter().fold(ended, |sum, &pid| sum + cpu_ns(pid) + wait_ns(pid))
}

fn cpu_ns(pid: u32) -> u64 {
    let clock = clock_getcpuclockid(Pid::from_raw(pid.cast_signed()));
    let time = clock.and_then(clock_gettime).map_or(Duration::ZERO, Duration::from);
    u64::try_from(time.as_nanos()).unwrap_or_default()
}

/// For how long the threads of a process have waited for a processor.
fn wait_ns(pid: u32) -> u64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let of_task = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    tasks.flatten().filter_map(of_task).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::engine::memory::Shared;

    #[test]
    fn a_process_that_computes_is_runnable_for_that_long_and_one_that_is_none_never() {
        let shared = Shared::new(1_000_000, 1).unwrap();
        let own = BTreeSet::from([std::process::id(), u32::MAX / 4]);
        let before = runnable_ns(shared.memory(), &own);
        let begin = std::time::Instant::now();
        let mut sum = 0_u64;
        while begin.elapsed() < Duration::from_millis(20) {
            sum = sum.wrapping_mul(5) + 1;
        }
        let passed = runnable_ns(shared.memory(), &own) - before;
        assert!(passed >= 10_000_000 && sum != 0, "{passed}");
    }
}
