//! The memory that `szc causal` shares with the programs it runs: szc writes which code is sped up
//! and by how much, the library that is preloaded into programs writes what happened there.
//!
//! It begins as zeros. Counters only grow. What describes something else is written before the
//! number that leads to it, by a release, and never changed afterwards.

// Counts of what is in memory; both sides have 64 bits.
#![allow(clippy::cast_possible_truncation)]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Names the file that is this memory, for programs.
pub const MEMORY_VARIABLE: &str = "SZC_CAUSAL";
/// File name of the library.
pub const LIBRARY: &str = "libszc_preload.so";
/// What the memory begins with once szc has set it up.
pub const MEMORY_MAGIC: u64 = 0x0001_6c61_7375_6163;

/// Processes that can be told apart; later ones are not sampled.
pub const MAX_PROCESSES: usize = 4096;
/// Progress points of all processes; later ones count nothing.
pub const MAX_POINTS: usize = 256;
/// Samples that wait for szc to read them, a power of two.
pub const RING_SAMPLES: usize = 1 << 16;
/// Numbers for bounds of code, two a range.
pub const RANGE_WORDS: usize = 1 << 21;
/// Experiments whose records exist at a time, a power of two.
pub const RECORDS: usize = 8;
/// Bytes of a progress point's name with the zero behind it; longer ones are cut off.
pub const NAME_BYTES: usize = 104;

/// The memory.
#[repr(C)]
pub struct Memory {
    /// [`MEMORY_MAGIC`].
    pub magic: AtomicU64,
    /// Mean interval between samples of a thread.
    pub period_ns: AtomicU64,
    /// What first intervals are drawn by.
    pub seed: AtomicU64,
    /// Monotonic time of szc's last look: a program that szc has left inserts no delays.
    pub alive_ns: AtomicU64,
    /// szc's process.
    pub owner: AtomicU32,
    apart: [u32; 23],
    /// What every thread has been delayed so far, or has been ahead by.
    pub delay_ns: AtomicU64,
    /// The experiment: its number times two, and 1 while it runs.
    pub state: AtomicU64,
    apart_too: [u64; 14],
    /// By number modulo [`RECORDS`].
    pub records: [Record; RECORDS],
    /// Entries of `processes` that are used.
    pub process_count: AtomicU64,
    /// Address spaces that were given numbers, from 1.
    pub space_count: AtomicU64,
    /// Samples that were put into `ring`.
    pub ring_count: AtomicU64,
    /// Samples that came while SIGTRAP was blocked, and so are of no known place.
    pub late_samples: AtomicU64,
    /// Threads that could not be sampled.
    pub unsampled_threads: AtomicU64,
    /// Time that threads, which have ended, had waited for a processor.
    pub ended_wait_ns: AtomicU64,
    /// What arrives.
    pub arrivals: Arrivals,
    /// Processes.
    pub processes: [Process; MAX_PROCESSES],
    /// Progress points.
    pub points: [Point; MAX_POINTS],
    /// Samples.
    pub ring: [Sample; RING_SAMPLES],
    /// Bounds of code: first addresses and those behind the last one, in pairs, sorted.
    pub ranges: [AtomicU64; RANGE_WORDS],
}

/// An experiment.
#[repr(C)]
pub struct Record {
    /// Its number; written last.
    pub number: AtomicU64,
    /// Where what is sped up is.
    pub selected: Ranges,
    /// In which address space.
    pub space: AtomicU64,
    /// By what a sample there delays all other threads.
    pub step_ns: AtomicU64,
    /// [`Memory::delay_ns`] at its beginning.
    pub base_ns: AtomicU64,
    /// Samples in its time.
    pub samples: AtomicU64,
    /// Those in what is sped up.
    pub selected_samples: AtomicU64,
}

/// Arrivals of all processes, and by what they are sped up.
#[repr(C)]
pub struct Arrivals {
    /// [`NO_ARRIVALS`], [`AT_POINTS`] or [`AT_BREAKPOINT`].
    pub counted: AtomicU64,
    /// By what each is sped up.
    pub step_ns: AtomicU64,
    /// By which share of the time since the thread's last one, in 2^32ths.
    pub share: AtomicU64,
    /// How many there were.
    pub count: AtomicU64,
    /// Sum of the times since the last one of the thread, or since its beginning.
    pub interval_ns: AtomicU64,
    /// The least time between two of a thread.
    pub least_ns: AtomicU64,
    /// By what all were sped up.
    pub ahead_ns: AtomicU64,
}

/// Some of [`Memory::ranges`].
#[repr(C)]
pub struct Ranges {
    /// The first word.
    pub first: AtomicU64,
    /// How many words, an even number.
    pub words: AtomicU64,
}

/// A process.
#[repr(C)]
pub struct Process {
    /// Its number; written last by the process.
    pub pid: AtomicU32,
    /// 1 once szc has described its code.
    pub is_described: AtomicU32,
    /// Its address space, which a process that was forked has in common with its parent.
    pub space: AtomicU64,
    /// Code that can be selected.
    pub scope: Ranges,
    /// Where something arrives; 0 if that is nowhere, or at progress points.
    pub arrival: AtomicU64,
}

/// A sample.
#[repr(C)]
pub struct Sample {
    /// Which one it is, from 1; written last.
    pub turn: AtomicU64,
    /// The innermost address in scope; 0 if there is none.
    pub address: AtomicU64,
    /// Where the thread was.
    pub own_address: AtomicU64,
    /// [`Memory::state`] of the time, times 2^16, and the address space.
    pub state_and_space: AtomicU64,
}

/// A progress point.
#[repr(C, align(64))]
pub struct Point {
    /// Visits. Programs add to it by themselves, so it begins as `coz_counter_t` does.
    pub visits: AtomicU64,
    /// `coz_counter_t` has it.
    pub backoff: AtomicU64,
    /// [`FREE`], [`CLAIMED`] or [`NAMED`].
    pub state: AtomicU32,
    /// What a visit means, as in coz.h.
    pub kind: AtomicU32,
    /// Its name, ended by a zero.
    pub name: [AtomicU64; NAME_BYTES / 8],
    /// Visits that were begun to be counted, if the library counts them: all of them, once that is
    /// `visits`.
    pub begun: AtomicU64,
    /// Sum of the times of such visits, modulo 2^64: monotonic times less what the thread had been
    /// delayed by then.
    pub times_ns: AtomicU64,
}

/// A point that nobody has.
pub const FREE: u32 = 0;
/// One that gets its name.
pub const CLAIMED: u32 = 1;
/// One that has it.
pub const NAMED: u32 = 2;

/// A visit is one more that is done.
pub const THROUGHPUT: u32 = 1;
/// A visit begins something.
pub const BEGIN: u32 = 2;
/// A visit ends it.
pub const END: u32 = 3;
/// A visit is an arrival, as one of [`BEGIN`] is, too.
pub const ARRIVAL: u32 = 4;

/// Arrivals are not counted.
pub const NO_ARRIVALS: u64 = 0;
/// They are at progress points.
pub const AT_POINTS: u64 = 1;
/// They are where processes have a breakpoint.
pub const AT_BREAKPOINT: u64 = 2;

impl Point {
    /// A visit at a time, counted so that [`Self::counted`] finds all of it or nothing.
    pub fn visit(&self, time_ns: u64) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        // Each is seen with what is above it by who acquires it.
        self.times_ns.fetch_add(time_ns, Ordering::Release);
        self.visits.fetch_add(1, Ordering::Release);
    }

    /// Visits, and the sum of their times modulo 2^64. `Err` has the visits alone: if one is just
    /// being counted, or if the program counts them by itself, which never begins one here.
    ///
    /// # Errors
    /// As said.
    pub fn counted(&self) -> Result<(u64, u64), u64> {
        let visits = self.visits.load(Ordering::Acquire);
        let times_ns = self.times_ns.load(Ordering::Acquire);
        let is_whole = self.begun.load(Ordering::Relaxed) == visits;
        if is_whole { Ok((visits, times_ns)) } else { Err(visits) }
    }
}

impl Memory {
    /// The experiment with this number, if it is one of the latest.
    #[must_use]
    pub fn record(&self, number: u64) -> Option<&Record> {
        let record = &self.records[(number % RECORDS as u64) as usize];
        // Pairs with the release that ends its description.
        (record.number.load(Ordering::Acquire) == number).then_some(record)
    }

    /// Whether an address is in some of the ranges.
    #[must_use]
    pub fn contains(&self, ranges: &Ranges, address: u64) -> bool {
        let first = ranges.first.load(Ordering::Relaxed) as usize;
        let words = ranges.words.load(Ordering::Relaxed) as usize;
        let Some(all) = first.checked_add(words).and_then(|end| self.ranges.get(first..end)) else {
            return false;
        };
        is_inside(all, address)
    }
}

/// Whether an address lies in one of the ranges with these sorted bounds.
#[must_use]
pub fn is_inside(bounds: &[AtomicU64], address: u64) -> bool {
    // An odd number of bounds at or below the address.
    bounds.partition_point(|bound| bound.load(Ordering::Relaxed) <= address) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn an_address_is_inside_from_the_first_of_a_range_to_the_one_before_its_end() {
        let bounds = [10, 20, 20, 30, 50, 60].map(AtomicU64::new);
        let found = [9, 10, 19, 20, 29, 30, 49, 50, 59, 60].map(|at| is_inside(&bounds, at));
        let expected = [false, true, true, true, true, false, false, true, true, false];
        assert_eq!(found, expected);
        assert!(!is_inside(&[], 10));
    }

    #[test]
    fn a_point_begins_as_the_counter_of_coz_does() {
        assert_eq!((offset_of!(Point, visits), offset_of!(Point, backoff)), (0, 8));
    }

    #[test]
    fn visits_come_with_the_sum_of_their_times_unless_a_program_adds_them_itself() {
        let point = Point {
            visits: AtomicU64::new(0),
            backoff: AtomicU64::new(0),
            state: AtomicU32::new(NAMED),
            kind: AtomicU32::new(BEGIN),
            name: [const { AtomicU64::new(0) }; NAME_BYTES / 8],
            begun: AtomicU64::new(0),
            times_ns: AtomicU64::new(0),
        };
        point.visit(30);
        point.visit(50);
        assert_eq!(point.counted(), Ok((2, 80)));
        point.visits.fetch_add(1, Ordering::Relaxed);
        assert_eq!(point.counted(), Err(3));
    }

    #[test]
    fn what_all_threads_look_at_has_a_cache_line_of_its_own() {
        assert_eq!(offset_of!(Memory, delay_ns) % 128, 0);
        assert_eq!(offset_of!(Memory, records), offset_of!(Memory, delay_ns) + 128);
    }
}
