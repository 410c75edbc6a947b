//! When a child that will probably end soon is to get its maintenance task.
//!
//! To make the task and to end it takes as long as many a child lives. Whether children end soon is
//! what became of those before ([`super::children::end_soon`]). Such a child gets its task when its
//! first round is due and it enters the runtime: by a first call, a fork, or for memory that
//! `calloc` or `realloc` gives. Until then it goes on in its parent's layout.
#![forbid(unsafe_code)]

use crate::os;
use core::sync::atomic::{AtomicU64, Ordering};

/// When the task is due; 0 if it was made, or nobody wants one.
static DUE_NS: AtomicU64 = AtomicU64::new(0);

/// Puts the task off.
pub fn postpone(interval_ns: u64) {
    DUE_NS.store(os::monotonic_ns() + interval_ns, Ordering::Relaxed);
}

/// In a forked child: nothing is due.
pub fn become_child() {
    os::reset_number(&DUE_NS);
}

/// Whether the task has been put off.
#[inline]
pub fn is_postponed() -> bool {
    DUE_NS.load(Ordering::Relaxed) != 0
}

/// Whether the task is due, and the caller is to make it: of several threads one.
pub fn take_due() -> bool {
    let due_ns = DUE_NS.load(Ordering::Relaxed);
    due_ns != 0
        && os::monotonic_ns() >= due_ns
        && DUE_NS.compare_exchange(due_ns, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_was_put_off_is_made_once_when_it_is_due() {
        assert!(!is_postponed() && !take_due());
        postpone(1 << 40);
        assert!(is_postponed() && !take_due());
        postpone(0);
        assert!(take_due() && !is_postponed() && !take_due());
        postpone(0);
        become_child();
        assert!(!take_due());
    }
}
