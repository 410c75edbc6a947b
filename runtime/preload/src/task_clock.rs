//! Clocks of threads, which send SIGTRAP to them as they run, and breakpoints, which send it where
//! something arrives.
//!
//! A clock counts the thread's time in user mode and out of it, and is heard of in user mode only:
//! the signal comes between two instructions of the program and never in a system call. The page
//! that is mapped keeps the clock, so that the program has no descriptor more.
//!
//! Source: perf_event_open(2); linux/perf_event.h.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libc::{MAP_SHARED, PROT_READ};
use szc_abi::causal::Memory;

use crate::system::{call, now_ns, thread_id};
use crate::thread::Thread;

/// What tells signals of these clocks from others.
pub const SIGNAL_DATA: u64 = 0x7a63_a11d_c0de_0001;
/// And those of breakpoints at arrivals.
pub const ARRIVAL_DATA: u64 = 0x7a63_a11d_c0de_0002;

const PAGE_BYTES: usize = 4096;
/// The kernel lets no interval be shorter.
const MIN_INTERVAL_NS: u64 = 10_000;
/// By how many percent of the mean an interval may be longer or shorter.
const JITTER: u64 = 30;
/// How often a clock is given another interval at most: each time takes some 90 µs of system calls.
const BATCH_NS: u64 = 16_000_000;

/// `struct perf_event_attr` to its version 7.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    bytes: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    configs: [u64; 2],
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
    aux_sample_size: u32,
    reserved_too: u32,
    sig_data: u64,
}

const _: () = assert!(size_of::<Attributes>() == 128);

const SOFTWARE: u32 = 1;
const BREAKPOINT: u32 = 5;
/// `HW_BREAKPOINT_X`, of the only length that there is.
const EXECUTED: u32 = 4;
const EXECUTED_BYTES: u64 = 8;
const TASK_CLOCK: u64 = 1;
const DISABLED: u64 = 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const REMOVE_ON_EXEC: u64 = 1 << 36;
const SIGTRAP: u64 = 1 << 37;
const CLOSE_ON_EXEC: usize = 1 << 3;
const ANY: usize = usize::MAX;
/// `PERF_EVENT_IOC_ENABLE`.
const ENABLE: usize = 0x2400;

/// Starts the clock of the calling thread, whose first interval is of any length up to the mean:
/// however short threads are, each has its share of samples.
pub fn start(memory: &Memory, thread: &Thread) {
    let seed = memory.seed.load(Relaxed) ^ now_ns() ^ u64::from(thread_id()) << 32;
    thread.random.store(seed, Relaxed);
    let period = memory.period_ns.load(Relaxed);
    let first = MIN_INTERVAL_NS + below(thread, period.saturating_sub(MIN_INTERVAL_NS));
    thread.samples_left.store(1, Relaxed);
    open(memory, thread, first);
}

/// The thread was just sampled. Its clock gets another interval now and then, drawn at
/// random, so that no program is in step with it.
pub fn go_on(memory: &Memory, thread: &Thread) {
    let left = thread.samples_left.load(Relaxed).saturating_sub(1);
    thread.samples_left.store(left, Relaxed);
    // A last signal may come behind the end of the clock.
    if left > 0 || thread.clock.load(Relaxed) == 0 {
        return;
    }
    let period = memory.period_ns.load(Relaxed);
    thread.samples_left.store(in_a_batch(period), Relaxed);
    let interval = period - period * JITTER / 100 + below(thread, period * 2 * JITTER / 100);
    unmap(&thread.clock);
    // What this took is not the program's time.
    open(memory, thread, interval.max(MIN_INTERVAL_NS));
}

/// Samples whose intervals are equal.
fn in_a_batch(period_ns: u64) -> u32 {
    BATCH_NS.div_ceil(period_ns.max(MIN_INTERVAL_NS)) as u32
}

/// Sends a signal to the calling thread whenever it comes to an address where something arrives.
pub fn watch(memory: &Memory, thread: &Thread, address: u64) {
    if address != 0 {
        let attributes = Attributes {
            kind: BREAKPOINT,
            breakpoint_type: EXECUTED,
            configs: [address, EXECUTED_BYTES],
            sample_period: 1,
            sig_data: ARRIVAL_DATA,
            ..Attributes::default()
        };
        open_event(memory, &thread.breakpoint, attributes);
    }
}

/// Stops the clock and the breakpoint of the calling thread.
pub fn stop(thread: &Thread) {
    unmap(&thread.clock);
    unmap(&thread.breakpoint);
}

fn unmap(page: &AtomicUsize) {
    let page = page.swap(0, Relaxed);
    if page != 0 {
        // SAFETY: the page is this module's own.
        unsafe { call(libc::SYS_munmap, [page, PAGE_BYTES, 0, 0, 0, 0]) };
    }
}

fn open(memory: &Memory, thread: &Thread, period_ns: u64) {
    let attributes = Attributes {
        kind: SOFTWARE,
        config: TASK_CLOCK,
        sample_period: period_ns,
        sig_data: SIGNAL_DATA,
        ..Attributes::default()
    };
    open_event(memory, &thread.clock, attributes);
}

/// Opens an event of the calling thread, which the page keeps.
fn open_event(memory: &Memory, kept: &AtomicUsize, attributes: Attributes) {
    let attributes = Attributes {
        bytes: size_of::<Attributes>() as u32,
        flags: DISABLED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | REMOVE_ON_EXEC | SIGTRAP,
        wakeup_events: 1,
        ..attributes
    };
    let arguments = [(&raw const attributes) as usize, 0, ANY, ANY, CLOSE_ON_EXEC, 0];
    // SAFETY: the kernel reads the attributes during the call.
    let descriptor = unsafe { call(libc::SYS_perf_event_open, arguments) };
    if descriptor < 0 {
        memory.unsampled_threads.fetch_add(1, Relaxed);
        return;
    }
    let descriptor = descriptor.cast_unsigned();
    let arguments = [0, PAGE_BYTES, PROT_READ as usize, MAP_SHARED as usize, descriptor, 0];
    // SAFETY: a new mapping, of a descriptor that is this function's own.
    let page = unsafe { call(libc::SYS_mmap, arguments) };
    if page < 0 {
        memory.unsampled_threads.fetch_add(1, Relaxed);
    } else {
        // First: its signal, which stops it, may come as soon as it runs.
        kept.store(page.cast_unsigned(), Relaxed);
        // SAFETY: no memory is involved.
        unsafe { call(libc::SYS_ioctl, [descriptor, ENABLE, 0, 0, 0, 0]) };
    }
    // SAFETY: no memory is involved.
    unsafe { call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0]) };
}

/// A number at random below a limit, by SplitMix64 (Steele, Lea and Flood, 2014).
fn below(thread: &Thread, limit: u64) -> u64 {
    let state = thread.random.load(Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    thread.random.store(state, Relaxed);
    let value = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let value = value ^ value >> 31;
    ((u128::from(value) * u128::from(limit)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::current;

    #[test]
    fn numbers_are_spread_evenly_below_their_limit() {
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[below(current(), 6) as usize] += 1;
        }
        // 5 degrees of freedom: 25.74 is the 0.9999 quantile.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 25.74, "chi-square {chi}");
    }

    #[test]
    fn intervals_are_equal_for_sixteen_milliseconds_at_most() {
        assert_eq!([10_000_000, 4_000_000, 1_000_000, 100_000].map(in_a_batch), [2, 4, 16, 160]);
    }
}
