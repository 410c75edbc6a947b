//! What a process asks of the scheduler, and what the scheduler tells of it.
//!
//! Processes of the same processor that could all run have it by turns; a turn is what the
//! scheduler calls a slice. From Linux 6.12 on a process may ask for slices of 0.1 to 100 ms
//! (sched_setattr(2), `sched_runtime` of ordinary policies), which what it starts inherits. Older
//! kernels ignore that and have slices of their own, of about 3 ms.

use std::fs;
use std::time::Duration;

use nix::libc;

/// Size of what sched_setattr(2) takes.
const SIZE: u32 = {
    assert!(size_of::<libc::sched_attr>() == 48);
    48
};

/// Asks for slices of this length for the calling thread and all that it starts. Kernels that
/// cannot do so, and filters of system calls, leave the slices that there are. Allocates nothing.
pub(super) fn ask_for(slice: Duration) {
    // SAFETY: plain integers, for which all zeroes is a value: SCHED_OTHER without flags.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = SIZE;
    attributes.sched_nice = nice();
    attributes.sched_runtime = u64::try_from(slice.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: the pointer is to a live structure whose size is in it; the kernel only reads it.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// The slices that the calling thread gets; `None` where the kernel does not say.
pub(super) fn granted() -> Option<Duration> {
    // SAFETY: plain integers, for which all zeroes is a value.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live structure of the size that follows it.
    let found = unsafe {
        libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, libc::c_long::from(SIZE), 0)
    };
    (found == 0).then(|| Duration::from_nanos(attributes.sched_runtime))
}

/// The nice value of the calling thread, which sched_setattr(2) sets as well.
fn nice() -> i32 {
    // SAFETY: getpriority takes two integers. -1 may be a value or an error, which cannot happen.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// How long the first thread of a process, which may have ended, could have run and did not.
pub(super) fn queued_ns(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}
