//! Arrivals, by which a greater load is simulated: each of them is sped up virtually, as code is,
//! by a delay of all other threads.
//!
//! An arrival that comes d earlier than it did is one whose thread is ahead by d. Source:
//! Curtsinger, 2016, section 6.1.2.
//!
//! What comes from outside (a thread waited for it by [`begin_wait`]) comes when it comes: a pause
//! before it makes the wait shorter and the interval no longer, and so has brought it forward
//! already. And it cannot come before the thread waits for it: what it could not be sped up by is
//! left for later ones, as requests would pile up before a server that is busy.

use core::sync::atomic::Ordering::Relaxed;

use szc_abi::causal::{Arrivals, Memory, NO_ARRIVALS};

use crate::delay::{advance, is_left, memory, now_with};
use crate::system::now_ns;
use crate::task_clock;
use crate::thread::{Thread, current};

/// What arrives on this thread does so from now on. Returns for how long nothing has, and for how
/// much of that the thread paused.
pub fn begin(thread: &Thread) -> (u64, u64) {
    let (now, paused) = now_with(&thread.paused_ns);
    let elapsed = now.saturating_sub(thread.arrived_ns.swap(now, Relaxed));
    (elapsed, paused - thread.arrived_paused_ns.swap(paused, Relaxed))
}

/// Before the calling thread waits for something from outside. Returns the time, if it matters.
pub fn begin_wait() -> Option<u64> {
    let counted = memory()?.arrivals.counted.load(Relaxed);
    (counted != NO_ARRIVALS).then(now_ns)
}

/// Behind such a wait; `is_something` if it was not in vain.
pub fn end_wait(begin_ns: u64, is_something: bool) {
    let thread = current();
    thread.waited_ns.fetch_add(now_ns() - begin_ns, Relaxed);
    if is_something {
        thread.has_outside.store(true, Relaxed);
    }
}

/// Something arrived on this thread.
pub fn arrive(memory: &Memory, thread: &Thread) {
    let arrivals = &memory.arrivals;
    let (elapsed, paused) = begin(thread);
    let waited = thread.waited_ns.swap(0, Relaxed);
    let is_outside = thread.has_outside.swap(false, Relaxed);
    // While a thread paused that makes what arrives nothing could.
    let interval = if is_outside { elapsed } else { elapsed.saturating_sub(paused) };
    arrivals.count.fetch_add(1, Relaxed);
    arrivals.interval_ns.fetch_add(interval, Relaxed);
    if thread.has_arrived.swap(true, Relaxed) {
        arrivals.least_ns.fetch_min(interval, Relaxed);
    }
    let wanted = step_ns(arrivals, interval);
    if wanted == 0 {
        return;
    }
    let (step, ahead) = if is_outside {
        let step = outside_step_ns(thread, wanted, paused, waited);
        (step, step + paused.min(wanted))
    } else {
        (wanted, wanted)
    };
    arrivals.ahead_ns.fetch_add(ahead, Relaxed);
    advance(memory, thread, step);
}

/// By what an arrival from outside is still to be sped up, of what is wanted: pauses have done some
/// of it, and only the wait can be shorter.
fn outside_step_ns(thread: &Thread, wanted_ns: u64, paused_ns: u64, waited_ns: u64) -> u64 {
    let due = thread.due_ns.load(Relaxed) + wanted_ns.cast_signed() - paused_ns.cast_signed();
    let step = due.clamp(0, waited_ns.cast_signed());
    thread.due_ns.store(due - step, Relaxed);
    step.cast_unsigned()
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
    fn a_pause_is_part_of_the_interval_that_it_is_in_and_of_no_later_one() {
        let thread = current();
        let first = now_ns();
        begin(thread);
        thread.paused_ns.fetch_add(1 << 50, Relaxed);
        assert_eq!(begin(thread).1, 1 << 50);
        let second = now_ns();
        while now_ns() < second + 1_000 {}
        let (elapsed, paused) = begin(thread);
        assert!((1_000..=now_ns() - first).contains(&elapsed) && paused == 0, "{elapsed}");
    }

    #[test]
    fn what_comes_from_outside_is_sped_up_by_what_pauses_have_left_and_while_it_is_waited_for() {
        let thread = current();
        // Half of 100 each time: of a wait that is long enough, behind a pause, of a short wait,
        // and what that left later.
        assert_eq!(outside_step_ns(thread, 50, 0, 90), 50);
        assert_eq!(outside_step_ns(thread, 50, 20, 70), 30);
        assert_eq!(outside_step_ns(thread, 50, 0, 10), 10);
        assert_eq!(outside_step_ns(thread, 50, 0, 99), 90);
        // A pause that was too long is taken off later.
        assert_eq!(outside_step_ns(thread, 50, 70, 30), 0);
        assert_eq!(outside_step_ns(thread, 50, 0, 90), 30);
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
