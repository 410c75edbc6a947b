//! Suspension of the maintenance task: whether it is there, and calls during which it is not, those
//! that are about the process as a whole.
//!
//! libc, which changes the user of all its threads, does not know of the task, and the kernel gives
//! a user namespace only to a process that has one task. So the task goes before such a call, and
//! comes again behind it, as a child of what the process has become.
//!
//! Sources: credentials(7), unshare(2), setns(2), nptl(7).
#![forbid(unsafe_code)]

use crate::os;
use crate::os::tasks::{self, Processors};
use crate::os::{Lock, futex_wait_until, futex_wake};
use crate::state;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// There is something for the task to do.
const WANTED: u32 = 1;
/// It is being made.
const STARTING: u32 = 2;
/// A call is under way for which it is not to be there.
const SUSPENDED: u32 = 4;
/// It went because of that, or was not made, and resumes when the call is over.
const RESUMES: u32 = 8;

/// The program asks for a layout at once.
const ASKED: u32 = 16;

/// The bits above. The task sleeps on this word.
static STATE: AtomicU32 = AtomicU32::new(0);

/// The last task that was made, and its process. A child that shares the memory, as that of
/// vfork(2) does, has another.
static TASK: AtomicU32 = AtomicU32::new(0);
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Calls under way. Changed by who holds the lock, with all signals blocked.
static CALLS: AtomicU32 = AtomicU32::new(0);
static CHANGES_OF_CALLS: Lock = Lock::new();

/// Processors that the task may run on, while it is not there. (A new task has those of the thread
/// that makes it.)
static PROCESSORS: Processors = Processors::new();

/// How long a call waits for the task to go: it may wait for a forked child. Then the call goes
/// ahead and finds it.
const PATIENCE_NS: u64 = 1_000_000_000;

/// The task has been told to go for good.
static LEAVES: AtomicBool = AtomicBool::new(false);

/// Time between looks whether the kernel has forgotten a task.
const LOOK_NS: u64 = 50_000;

/// Notes that there is something to do. Whether whoever says so must make the task, and say when
/// that is done.
pub fn want() -> bool {
    let change = |state: u32| match state {
        state if state & WANTED != 0 => None,
        state if state & SUSPENDED != 0 => Some(state | WANTED | RESUMES),
        state => Some(state | WANTED | STARTING),
    };
    STATE
        .fetch_update(Ordering::AcqRel, Ordering::Relaxed, change)
        .is_ok_and(|before| before & SUSPENDED == 0)
}

/// The task was made, or could not be.
pub fn made(result: Result<u32, os::Errno>) {
    PROCESS.store(os::process_id(), Ordering::Relaxed);
    TASK.store(result.unwrap_or(0), Ordering::Relaxed);
    // Nobody waits for a task that there is not.
    let over = if result.is_ok() { STARTING } else { STARTING | WANTED };
    // Release: who sees the bit gone knows the task.
    STATE.fetch_and(!over, Ordering::Release);
}

/// There is nothing left to do, or no way to do it; the task will end.
pub fn want_no_more() {
    STATE.fetch_and(!WANTED, Ordering::Relaxed);
}

/// In a forked child, which has no task and no call under way.
pub fn become_child() {
    STATE.store(0, Ordering::Relaxed);
    TASK.store(0, Ordering::Relaxed);
    note_process();
    CALLS.store(0, Ordering::Relaxed);
    LEAVES.store(false, Ordering::Relaxed);
    CHANGES_OF_CALLS.reset();
}

/// Wakes the task, because the program asks for a layout.
pub fn ask() {
    // Release: pairs with the acquire in `take_question`.
    STATE.fetch_or(ASKED, Ordering::Release);
    futex_wake(&STATE, 1, false);
}

/// The task begins to answer: what is asked from now on wakes it again.
pub fn take_question() {
    STATE.fetch_and(!ASKED, Ordering::Acquire);
}

/// Whether this process has a task, or will have one, that hears what is asked: not in a child of
/// vfork(2), and not while a call is under way for which it has gone.
pub fn can_be_asked() -> bool {
    let state = STATE.load(Ordering::Acquire);
    state & WANTED != 0 && state & SUSPENDED == 0 && is_own_process()
}

/// There is something that moves in this process, which may have a task.
pub fn note_process() {
    PROCESS.store(os::process_id(), Ordering::Relaxed);
}

/// Whether there is something that moves, in this process or one that it was made by.
pub fn is_noted() -> bool {
    PROCESS.load(Ordering::Relaxed) != 0
}

/// Whether this is the process that may have a task, and no child of vfork(2).
pub fn is_own_process() -> bool {
    PROCESS.load(Ordering::Relaxed) == os::process_id()
}

/// Whether a call is under way for which the task has gone.
pub fn is_suspended() -> bool {
    STATE.load(Ordering::Acquire) & SUSPENDED != 0
}

/// How the task's sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// The time has come.
    Over,
    /// The program asks for something.
    Asked,
    /// The task is to end.
    Leave,
}

/// Whether the last task that was made is still there.
pub fn is_there() -> bool {
    let task = TASK.load(Ordering::Relaxed);
    task != 0 && tasks::exists(task)
}

/// The task's sleep. `hears`: what the program asks ends it.
pub fn sleep_until(deadline_ns: u64, hears: bool) -> Sleep {
    loop {
        let leave = |state: u32| (state & SUSPENDED != 0).then_some(state | RESUMES);
        match STATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave) {
            Ok(_) => return Sleep::Leave,
            Err(state) if hears && state & ASKED != 0 => return Sleep::Asked,
            Err(state) => {
                if futex_wait_until(&STATE, state, deadline_ns) {
                    return Sleep::Over;
                }
            }
        }
    }
}

/// The task ends now by itself, because code is frozen. A call that waits for it to go must not
/// wait for an answer any more.
pub fn goes() {
    STATE.fetch_or(RESUMES, Ordering::AcqRel);
}

/// Carries a call out while the task is not there. `spawn` makes it again.
pub fn without_task<T>(call: impl FnOnce() -> T, spawn: impl FnOnce()) -> T {
    let knows =
        STATE.load(Ordering::Relaxed) != 0 && PROCESS.load(Ordering::Relaxed) == os::process_id();
    // Behind a filter nothing is asked of the kernel, and the task has gone.
    if !knows || state::is_frozen() {
        return call();
    }
    change_calls(|calls| {
        if calls == 0 {
            suspend();
            // If it stays for longer, the call is carried out beside it all the same.
            let _ = has_gone_within(PATIENCE_NS);
        }
        calls + 1
    });
    let result = call();
    change_calls(|calls| {
        if calls == 1 {
            resume(spawn);
        }
        calls.saturating_sub(1)
    });
    result
}

/// Sends the task away; it does not come back. Whether it has gone: if not, it goes later, and this
/// can be asked again.
pub fn leave_for_good() -> bool {
    if STATE.load(Ordering::Relaxed) == 0 || PROCESS.load(Ordering::Relaxed) != os::process_id() {
        return true;
    }
    let mut has_gone = false;
    // A call that never ends.
    change_calls(|calls| {
        if calls == 0 {
            suspend();
        }
        has_gone = has_gone_within(PATIENCE_NS);
        calls + u32::from(!LEAVES.swap(true, Ordering::Relaxed))
    });
    has_gone
}

fn change_calls(change: impl FnOnce(u32) -> u32) {
    let before = os::signal_mask(2, Some(u64::MAX)).unwrap_or(0);
    CHANGES_OF_CALLS.with(|| {
        let calls = change(CALLS.load(Ordering::Relaxed));
        CALLS.store(calls, Ordering::Relaxed);
    });
    let _ = os::signal_mask(2, Some(before));
}

fn suspend() {
    PROCESSORS.read(TASK.load(Ordering::Relaxed));
    STATE.fetch_or(SUSPENDED, Ordering::AcqRel);
    futex_wake(&STATE, 1, false);
}

/// Waits until the task has gone that was told to; false if it is still there behind that time.
fn has_gone_within(patience_ns: u64) -> bool {
    let patience_ends = os::monotonic_ns() + patience_ns;
    let is_still_there = || {
        let state = STATE.load(Ordering::Acquire);
        let stays = state & WANTED != 0 && state & RESUMES == 0;
        state & STARTING != 0 || stays || is_there()
    };
    while is_still_there() {
        if os::monotonic_ns() >= patience_ends {
            return false;
        }
        os::sleep_until(os::monotonic_ns() + LOOK_NS);
    }
    true
}

fn resume(spawn: impl FnOnce()) {
    let change = |state: u32| {
        let left = state & !(SUSPENDED | RESUMES);
        Some(if state & RESUMES != 0 { left | STARTING } else { left })
    };
    let before = STATE.fetch_update(Ordering::AcqRel, Ordering::Relaxed, change).unwrap_or(0);
    if before & RESUMES != 0 {
        spawn();
        PROCESSORS.give(TASK.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_stays_for_longer_than_a_call_waits_is_not_taken_for_gone() {
        assert!(leave_for_good(), "there is none yet");
        // This thread stands in for a task that hears nothing.
        STATE.store(WANTED, Ordering::Relaxed);
        made(Ok(tasks::thread_id()));
        assert!(!leave_for_good() && !leave_for_good());
        assert_eq!(CALLS.load(Ordering::Relaxed), 1, "one call never ends");
        // It hears, and has gone.
        assert_eq!(sleep_until(0, true), Sleep::Leave);
        TASK.store(0, Ordering::Relaxed);
        assert!(leave_for_good());
        become_child();
        // One that goes by itself, because code is frozen, is not waited for.
        STATE.store(WANTED, Ordering::Relaxed);
        made(Ok(0));
        goes();
        let before = os::monotonic_ns();
        assert!(leave_for_good() && os::monotonic_ns() - before < PATIENCE_NS);
        become_child();
        ask();
        assert_eq!(sleep_until(0, false), Sleep::Over, "it does not listen");
        assert_eq!(sleep_until(u64::MAX, true), Sleep::Asked);
        take_question();
        assert_eq!(sleep_until(0, true), Sleep::Over);
        assert!(!can_be_asked(), "there is none");
    }
}
