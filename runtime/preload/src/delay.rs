//! Delays of threads, exact to a microsecond or so.
//!
//! All threads together count what each should have been delayed by; each counts what it was.
//! A thread that is behind pauses. One that runs what is sped up is ahead, and when it is ahead of
//! all it raises what all should have been delayed by. So pauses plus samples in what is sped up
//! are equal for all threads. Source: Curtsinger, 2016, section 5.2.5.

use core::hint::spin_loop;
use core::sync::atomic::Ordering;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

use szc_abi::causal::Memory;

use crate::system::{is_there, now_ns, sleep_until};
use crate::thread::{Thread, current};

/// The kernel wakes a thread up to about this late: this long before the end it spins.
const WAKE_UP_NS: u64 = 80_000;
/// Where all that runs is sped up by all its time a pause would never end.
const MAX_PAUSE_NS: u64 = 200_000_000;
/// szc looks every few milliseconds: without a look for so long it is gone, or stopped.
const GONE_NS: u64 = 3_000_000_000;

static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(core::ptr::null_mut());

/// The memory shared with szc, if there is a szc.
pub fn memory() -> Option<&'static Memory> {
    // SAFETY: what was set is mapped for good, and consists of atomics. Pairs with `set_memory`.
    unsafe { MEMORY.load(Ordering::Acquire).as_ref() }
}

/// Uses this memory from now on.
pub fn set_memory(memory: &'static Memory) {
    MEMORY.store(core::ptr::from_ref(memory).cast_mut(), Ordering::Release);
}

/// By what a thread is behind. In a new experiment it begins with all others.
fn debt(memory: &Memory, thread: &Thread) -> u64 {
    // Pairs with szc's release, behind the experiment's record.
    let number = memory.state.load(Ordering::Acquire) >> 1;
    if thread.experiment.load(Relaxed) != number {
        let base = memory.record(number).map(|record| record.base_ns.load(Relaxed));
        thread.paid_ns.store(base.unwrap_or_else(|| memory.delay_ns.load(Relaxed)), Relaxed);
        thread.excess_ns.store(0, Relaxed);
        thread.experiment.store(number, Relaxed);
    }
    memory.delay_ns.load(Relaxed).saturating_sub(thread.paid_ns.load(Relaxed))
}

/// Pauses a thread until it is behind no longer.
pub fn pay(memory: &Memory, thread: &Thread) {
    if debt(memory, thread) == 0 {
        return;
    }
    let begin = now_ns();
    if is_late(memory, begin) {
        return credit_all(memory, thread);
    }
    // A sample would pay the same once more. Not for ever: a handler of the program may leave this
    // function by longjmp.
    thread.paying_until_ns.store(begin + MAX_PAUSE_NS, Relaxed);
    let mut debt_ns = debt(memory, thread);
    let mut now = begin;
    while debt_ns != 0 && now - begin < MAX_PAUSE_NS {
        let paid = thread.paid_ns.load(Relaxed) + debt_ns;
        let excess = thread.excess_ns.load(Relaxed);
        let (pause, excess) = less_excess(debt_ns, excess);
        let end = now + pause;
        thread.paying_until_ns.store(end + MAX_PAUSE_NS, Relaxed);
        now = pause_until(now, end);
        thread.excess_ns.store(excess + (now - end), Relaxed);
        thread.paid_ns.store(paid, Relaxed);
        debt_ns = debt(memory, thread);
    }
    thread.paused_ns.fetch_add(now - begin, Relaxed);
    thread.paying_until_ns.store(0, Relaxed);
}

/// The time, and what a thread has counted by it, between two of its samples, which may pause it.
pub fn now_with(counted: &AtomicU64) -> (u64, u64) {
    loop {
        let before = counted.load(Relaxed);
        let now = now_ns();
        if counted.load(Relaxed) == before {
            return (now, before);
        }
    }
}

/// Whether szc has not looked for long. Nothing is delayed then.
fn is_late(memory: &Memory, now_ns: u64) -> bool {
    now_ns.saturating_sub(memory.alive_ns.load(Relaxed)) > GONE_NS
}

/// Whether szc has ended without a word, and nobody wants to know anything any more.
pub fn is_left(memory: &Memory, now_ns: u64) -> bool {
    is_late(memory, now_ns) && !is_there(memory.owner.load(Relaxed))
}

/// A pause, and what is left of the excess of earlier ones.
fn less_excess(debt_ns: u64, excess_ns: u64) -> (u64, u64) {
    let credited = debt_ns.min(excess_ns);
    (debt_ns - credited, excess_ns - credited)
}

/// Returns the time, which is not before `end`.
fn pause_until(mut now: u64, end: u64) -> u64 {
    while now + WAKE_UP_NS < end {
        sleep_until(end - WAKE_UP_NS);
        now = now_ns();
    }
    while now < end {
        spin_loop();
        now = now_ns();
    }
    now
}

/// Notes that a thread was woken by another one, which had been delayed by all that was due.
pub fn credit(memory: &Memory, thread: &Thread) {
    let debt_ns = debt(memory, thread);
    if debt_ns != 0 {
        // It was as long for this one.
        thread.paused_ns.fetch_add(debt_ns, Relaxed);
        credit_all(memory, thread);
    }
}

fn credit_all(memory: &Memory, thread: &Thread) {
    thread.paid_ns.store(memory.delay_ns.load(Relaxed), Relaxed);
}

/// Notes a sample in what is sped up: the thread is ahead by `step_ns`.
pub fn advance(memory: &Memory, thread: &Thread, step_ns: u64) {
    let behind = debt(memory, thread);
    let paid = thread.paid_ns.load(Relaxed) + step_ns;
    thread.paid_ns.store(paid, Relaxed);
    if step_ns > behind {
        memory.delay_ns.fetch_max(paid, Relaxed);
    }
}

/// Before the calling thread waits for another one, or may wake one.
pub fn pay_here() {
    if let Some(memory) = memory() {
        pay(memory, current());
    }
}

/// Behind what another thread has ended.
pub fn credit_here() {
    if let Some(memory) = memory() {
        credit(memory, current());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_that_were_too_long_make_later_ones_shorter() {
        assert_eq!(less_excess(50, 0), (50, 0));
        assert_eq!(less_excess(50, 20), (30, 0));
        assert_eq!(less_excess(50, 70), (0, 20));
    }

    #[test]
    fn a_pause_ends_when_it_should_and_not_before() {
        for pause in [5_000, 50_000, 300_000] {
            let begin = now_ns();
            let end = pause_until(begin, begin + pause);
            assert!(end >= begin + pause && now_ns() >= end);
        }
    }
}
