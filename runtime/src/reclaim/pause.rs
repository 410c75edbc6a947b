//! Pauses: threads that call something wait at the safepoint, so that they can be seen quiescent.

use super::safepoint;
use crate::state::CODE;
use core::sync::atomic::{AtomicU64, Ordering};
use szc_code::code::Code;
use szc_sys::os;

/// Longest time for which the safepoint is shut: nobody may come for long, which costs nothing.
const MAX_SHUT_NS: u64 = 20_000_000;

/// Time between two looks while threads wait, and while none does.
const LOOK_AGAIN_NS: u64 = 20_000;
const AWAIT_ARRIVAL_NS: u64 = 1_000_000;

/// Times that threads were made to wait so that they could be seen quiescent, and how long they
/// did, in nanoseconds. Written by the maintenance task alone.
static PAUSES: AtomicU64 = AtomicU64::new(0);
static PAUSE_NS: AtomicU64 = AtomicU64::new(0);

/// Shuts the safepoint and unresolves the entries of all functions, so that threads that call
/// anything wait, until `look` has seen all it wants to see, or they wait longer than
/// `patience_ns`. How long they did; nothing if code is frozen.
pub fn pause(patience_ns: u64, mut look: impl FnMut() -> bool) -> Option<u64> {
    let start = os::monotonic_ns();
    safepoint::shut();
    let shut = CODE.with(|images| {
        // Otherwise everything has been frozen meanwhile, and nobody may have to ask the resolver
        // any more.
        let may = !images.are_frozen();
        if may {
            images.all().for_each(Code::unresolve_current);
        }
        may
    });
    if !shut {
        safepoint::open();
        return None;
    }
    let mut arrivals = safepoint::arrivals();
    let taken_ns = loop {
        let someone_waits = safepoint::waiting_since_ns().is_some();
        let timeout_ns = if someone_waits { LOOK_AGAIN_NS } else { AWAIT_ARRIVAL_NS };
        safepoint::await_arrival(arrivals, timeout_ns);
        arrivals = safepoint::arrivals();
        let is_done = look();
        let now = os::monotonic_ns();
        let waiting_ns = safepoint::waiting_since_ns().map_or(0, |since| now.saturating_sub(since));
        if is_done || waiting_ns > patience_ns || now - start > MAX_SHUT_NS {
            break waiting_ns;
        }
    };
    CODE.with(|images| images.all().for_each(Code::resolve_current));
    safepoint::open();
    PAUSES.fetch_add(1, Ordering::Relaxed);
    PAUSE_NS.fetch_add(taken_ns, Ordering::Relaxed);
    Some(taken_ns)
}

/// How many pauses there were, and how long threads waited, in nanoseconds.
pub fn counts() -> (u64, u64) {
    (PAUSES.load(Ordering::Relaxed), PAUSE_NS.load(Ordering::Relaxed))
}

/// In a forked child: nobody waits, and what was counted was the parent's.
pub fn become_child() {
    safepoint::reset();
    os::reset_number(&PAUSES);
    os::reset_number(&PAUSE_NS);
}
