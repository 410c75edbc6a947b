//! The gate in front of the resolver: while it is shut, threads that come to the resolver wait there.
//!
//! It is shut for a moment when the maintenance task needs to see threads at rest that would
//! otherwise go on running. A thread that waits at the gate is a thread that waits in a system
//! call, like any other.

use crate::os;
use core::sync::atomic::{AtomicU32, Ordering};

const OPEN: u32 = 0;
const SHUT: u32 = 1;

/// Nobody waits longer, whatever has become of the maintenance task.
const LONGEST_WAIT_NS: u64 = 100_000_000;

static GATE: AtomicU32 = AtomicU32::new(OPEN);

/// Waits until the gate is open. All signals must be blocked, and the lock must not be held.
///
/// Relaxed: the gate makes nothing visible. A thread that passes a moment before it is shut is
/// one that is not seen this time.
#[inline]
pub fn pass() {
    if GATE.load(Ordering::Relaxed) == SHUT {
        wait();
    }
}

#[cold]
#[inline(never)]
fn wait() {
    let end = os::monotonic_ns() + LONGEST_WAIT_NS;
    while GATE.load(Ordering::Relaxed) == SHUT && os::monotonic_ns() < end {
        os::futex_wait(&GATE, SHUT, LONGEST_WAIT_NS, false);
    }
}

/// Shuts the gate; for the maintenance task.
pub fn shut() {
    GATE.store(SHUT, Ordering::Relaxed);
}

/// Opens the gate and wakes all that wait.
pub fn open() {
    GATE.store(OPEN, Ordering::Relaxed);
    os::futex_wake(&GATE, i32::MAX as u32, false);
}

/// Opens the gate in a forked child, where nobody waits.
pub fn reset() {
    GATE.store(OPEN, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_thread_waits_at_a_gate_that_is_shut_until_it_is_opened() {
        shut();
        let thread = std::thread::spawn(pass);
        std::thread::sleep(Duration::from_millis(10));
        assert!(!thread.is_finished());
        open();
        thread.join().unwrap();
        pass();
    }
}
