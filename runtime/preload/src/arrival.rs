//! Arrivals, by which a greater load is simulated: each of them is sped up virtually, as code is,
//! by a delay of all other threads.
//!
//! An arrival that comes d earlier than it did is one whose thread is ahead by d. Source:
//! Curtsinger, 2016, section 6.1.2.

use core::sync::atomic::Ordering::Relaxed;

use szc_abi::causal::{Arrivals, Memory};

use crate::delay::{advance, is_left, memory, now_with};
use crate::system::now_ns;
use crate::task_clock;
use crate::thread::{Thread, current};

/// What arrives on this thread does so from now on. Returns for how long nothing has; while the
/// thread paused nothing could.
pub fn begin(thread: &Thread) -> u64 {
    let (now, paused) = now_with(&thread.paused_ns);
    let elapsed = now.saturating_sub(thread.arrived_ns.swap(now, Relaxed));
    elapsed.saturating_sub(paused - thread.arrived_paused_ns.swap(paused, Relaxed))
}

/// Something arrived on this thread.
pub fn arrive(memory: &Memory, thread: &Thread) {
    let arrivals = &memory.arrivals;
    let interval = begin(thread);
    arrivals.count.fetch_add(1, Relaxed);
    arrivals.interval_ns.fetch_add(interval, Relaxed);
    if thread.has_arrived.swap(true, Relaxed) {
        arrivals.least_ns.fetch_min(interval, Relaxed);
    }
    let step = step_ns(arrivals, interval);
    if step != 0 {
        arrivals.ahead_ns.fetch_add(step, Relaxed);
        advance(memory, thread, step);
    }
}

/// Something arrives on the calling thread, which has a breakpoint there.
pub fn here() {
    let (Some(memory), thread) = (memory(), current()) else { return };
    if is_left(memory, now_ns()) {
        return task_clock::stop(thread);
    }
    arrive(memory, thread);
}

/// By what an arrival is sped up that came so long after the one before.
fn step_ns(arrivals: &Arrivals, interval_ns: u64) -> u64 {
    let share = u128::from(arrivals.share.load(Relaxed)) * u128::from(interval_ns);
    arrivals.step_ns.load(Relaxed) + (share >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::zeroed;

    #[test]
    fn a_pause_is_no_part_of_the_interval_that_it_is_in_and_of_no_later_one() {
        let thread = current();
        let first = now_ns();
        begin(thread);
        thread.paused_ns.fetch_add(1 << 50, Relaxed);
        assert_eq!(begin(thread), 0);
        let second = now_ns();
        while now_ns() < second + 1_000 {}
        let interval = begin(thread);
        assert!((1_000..=now_ns() - first).contains(&interval), "{interval}");
    }

    #[test]
    fn an_arrival_is_sped_up_by_a_time_or_a_share_of_its_interval() {
        // SAFETY: atomics of zeros.
        let arrivals: Arrivals = unsafe { zeroed() };
        assert_eq!(step_ns(&arrivals, 1_000), 0);
        arrivals.step_ns.store(70, Relaxed);
        assert_eq!(step_ns(&arrivals, 1_000), 70);
        arrivals.step_ns.store(0, Relaxed);
        arrivals.share.store(3 << 30, Relaxed);
        assert_eq!(step_ns(&arrivals, 1_000), 750);
    }
}
