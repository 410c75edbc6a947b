//! The safepoint in front of the resolver: while it is shut, threads that come to the resolver wait
//! there.
//!
//! It is shut for a moment when the maintenance task needs to see threads quiescent that would
//! otherwise go on running. A thread that waits at the safepoint is a thread that waits in a system
//! call, like any other.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use szc_sys::os;

const OPEN: u32 = 0;
const SHUT: u32 = 1;

/// Nobody waits longer, whatever has become of the maintenance task.
const MAX_WAIT_NS: u64 = 100_000_000;

static STATE: AtomicU32 = AtomicU32::new(OPEN);

/// Threads that have come to a shut safepoint, and when the first one came since it was shut; 0:
/// none.
static ARRIVALS: AtomicU32 = AtomicU32::new(0);
static FIRST_ARRIVAL_NS: AtomicU64 = AtomicU64::new(0);

/// Waits until the safepoint is open. All signals must be blocked, and the lock must not be held.
///
/// Relaxed: the safepoint makes nothing visible. A thread that passes a moment before it is shut is
/// one that is not seen this time.
#[inline]
pub fn pass() {
    if STATE.load(Ordering::Relaxed) == SHUT {
        wait();
    }
}

#[cold]
#[inline(never)]
fn wait() {
    let now = os::monotonic_ns();
    let end = now + MAX_WAIT_NS;
    let _ = FIRST_ARRIVAL_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    ARRIVALS.fetch_add(1, Ordering::Relaxed);
    os::futex_wake(&ARRIVALS, 1, false);
    while STATE.load(Ordering::Relaxed) == SHUT && os::monotonic_ns() < end {
        os::futex_wait(&STATE, SHUT, MAX_WAIT_NS, false);
    }
}

/// Shuts the safepoint; for the maintenance task.
pub fn shut() {
    FIRST_ARRIVAL_NS.store(0, Ordering::Relaxed);
    STATE.store(SHUT, Ordering::Relaxed);
}

/// Opens the safepoint and wakes all that wait.
pub fn open() {
    STATE.store(OPEN, Ordering::Relaxed);
    os::futex_wake(&STATE, i32::MAX as u32, false);
}

/// When the first thread came that waits at the safepoint, by the monotonic clock.
pub fn waiting_since_ns() -> Option<u64> {
    Some(FIRST_ARRIVAL_NS.load(Ordering::Relaxed)).filter(|&time| time != 0)
}

/// Threads that have come to the safepoint so far.
pub fn arrivals() -> u32 {
    ARRIVALS.load(Ordering::Relaxed)
}

/// Waits until more threads have come than `arrivals`, but no longer than that.
pub fn await_arrival(arrivals: u32, timeout_ns: u64) {
    os::futex_wait(&ARRIVALS, arrivals, timeout_ns, false);
}

/// Opens the safepoint in a forked child, where nobody waits.
pub fn reset() {
    if STATE.load(Ordering::Relaxed) != OPEN {
        STATE.store(OPEN, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_at_a_safepoint_that_is_shut_until_it_is_opened() {
        shut();
        let thread = std::thread::spawn(|| {
            pass();
            arrivals()
        });
        while arrivals() == 0 {
            std::thread::yield_now();
        }
        assert!(waiting_since_ns().is_some() && !thread.is_finished());
        open();
        thread.join().unwrap();
        pass();
    }
}
