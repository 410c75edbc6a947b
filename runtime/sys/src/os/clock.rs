//! The clocks of the kernel, and sleeping by the monotonic one.

use super::errno::{EINTR, check};
use crate::arch::{nr, syscall};

/// The monotonic clock in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the buffer is a struct timespec.
    unsafe { syscall(nr::CLOCK_GETTIME, [1, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Processor time that the threads of this process have taken, without the calling one, in
/// nanoseconds. (What that takes between the two looks is missing.)
pub fn cpu_ns_of_others() -> u64 {
    cpu_ns_of_process().saturating_sub(cpu_ns_of_this())
}

/// Processor time that the calling thread has taken, in nanoseconds.
pub fn cpu_ns_of_this() -> u64 {
    cpu_ns(3)
}

/// Processor time that this process has taken, in nanoseconds.
pub fn cpu_ns_of_process() -> u64 {
    cpu_ns(2)
}

/// What a clock of processor time shows.
fn cpu_ns(clock: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the buffer is a struct timespec.
    unsafe { syscall(nr::CLOCK_GETTIME, [clock, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Sleeps until the monotonic clock shows `deadline_ns`.
pub fn sleep_until(deadline_ns: u64) {
    let time = [deadline_ns / 1_000_000_000, deadline_ns % 1_000_000_000];
    let absolute = 1;
    // SAFETY: the buffer is a struct timespec.
    while check(unsafe {
        syscall(nr::CLOCK_NANOSLEEP, [1, absolute, time.as_ptr() as usize, 0, 0, 0])
    }) == Err(EINTR)
    {}
}

/// Makes sleeps of the calling task end when they should, instead of up to 50 microseconds later.
pub fn sleep_exactly() {
    let set_timer_slack = 29;
    // SAFETY: no memory is involved.
    unsafe { syscall(nr::PRCTL, [set_timer_slack, 1, 0, 0, 0, 0]) };
}
