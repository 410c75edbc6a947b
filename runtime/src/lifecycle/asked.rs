//! A program asks for a layout between two calls of its own, and waits until it has it.
//!
//! The maintenance task makes it, as any other: so what is true of epochs holds for these, whatever
//! other threads do, and a handler that asks waits for nothing that its own thread holds. Rules of
//! this file: no libc, no allocation, `errno` untouched.

use super::requests::Request;
pub use super::requests::{pause, resume};
use super::{maintenance, suspension};
use crate::facts::FACTS;
use crate::state::CODE;
use crate::{fork, os, stack, state};

/// Time between looks whether the task is still there.
const LOOK_NS: u64 = 20_000_000;

/// Behind this time the program goes on without an answer. (The task answers within a fraction of
/// a second also where it can do nothing.)
const PATIENCE_NS: u64 = 10_000_000_000;

/// Begins a layout, and waits for it. The number of the current one, which is the one from before
/// if there can be no other.
pub fn relayout() -> u64 {
    let before = state::layout();
    if before == 0 || state::is_frozen() || !can_have_another() {
        return before;
    }
    let request = Request::make();
    let patience_ends = os::monotonic_ns() + PATIENCE_NS;
    loop {
        if suspension::is_suspended() || state::is_frozen() || !has_task() {
            break;
        }
        if request.is_answered_within(LOOK_NS) || os::monotonic_ns() > patience_ends {
            break;
        }
    }
    state::layout()
}

/// Whether anything is left that can change.
fn can_have_another() -> bool {
    let before = os::signal_mask(2, Some(u64::MAX));
    fork::take_over_unannounced_child();
    let pads = FACTS.get().is_some_and(|facts| facts.stack) && stack::has_tables();
    let can = pads || !CODE.with(|images| images.are_quiescent());
    if let Ok(before) = before {
        let _ = os::signal_mask(2, Some(before));
    }
    can
}

/// Makes the task where there was nothing to do for it before. Whether there is one in the end.
fn has_task() -> bool {
    if !suspension::can_be_asked() {
        maintenance::wake_for_request();
    }
    suspension::can_be_asked()
}
