//! Snapshots: what refers to copies while all threads stand still, in all of memory.
//!
//! Where a program makes stacks of its own, or may do so, what refers to a copy may lie anywhere,
//! and a thread may leave it anywhere else at any time. So all threads have to wait in the kernel
//! at the same time, for as long as it takes to read all memory; if one of them has run meanwhile,
//! the snapshot is worth nothing.

use super::cycle::{DIRECTORY_BYTES, MAX_THREADS};
use super::cycle::{abandon_cycle, begin_cycle, end_cycle, is_hurried, mark};
use super::memory_scan::{Labels, MemoryScan, Scanned};
use super::pause;
use super::stack_scan::{Copies, waits_for_child};
use crate::images::Images;
use crate::state::CODE;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use szc_code::MAX_IMAGES;
use szc_sys::os::tasks::{self, Doing, Wait};
use szc_sys::os::{self, Array};

/// Longest time for which threads are waited for, since the first one waits.
const PATIENCE_NS: u64 = 4_000_000;

/// So many times the processor time that a snapshot took pass before there is another; less if no
/// place is free.
const REST_TIMES: u64 = 50;
const REST_TIMES_IF_HURRIED: u64 = 10;

/// Time to the next attempt behind one that failed, at first and at most.
const MIN_RETRY_NS: u64 = 20_000_000;
const MAX_RETRY_NS: u64 = 10_000_000_000;

/// Snapshots that were whole, when the next one may be taken, and whether the last one failed.
/// Written by the maintenance task alone.
static WHOLE: AtomicU64 = AtomicU64::new(0);
static NEXT_NS: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicBool = AtomicBool::new(false);

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// All references have been reported.
    Whole,
    /// A thread runs, or has run meanwhile.
    Disturbed,
    /// There is too much memory, or some cannot be read.
    Impossible,
}

/// What snapshots are taken with.
pub struct Snapshots {
    /// Number of the maintenance task.
    own: u32,
    threads: Array<u32>,
    directory: Array<u8>,
    /// What each of the threads waits for.
    waits: Array<Wait>,
    /// Where there are copies.
    extents: Array<Range<usize>>,
    /// Memory of the runtime that leads nobody anywhere: arenas, and the stack of the task.
    without: Array<Range<usize>>,
    memory: MemoryScan,
    retry_ns: u64,
}

impl Snapshots {
    /// By the maintenance task `own`, which has that stack. Nothing if there is not enough memory.
    pub fn new(own: u32, stack: Range<usize>) -> Option<Self> {
        // SAFETY: numbers, and records and ranges of numbers.
        unsafe {
            let mut without = Array::zeroed(2 * MAX_IMAGES + 1).ok()?;
            without[0] = stack;
            Some(Self {
                own,
                threads: Array::zeroed(MAX_THREADS).ok()?,
                directory: Array::zeroed(DIRECTORY_BYTES).ok()?,
                waits: Array::zeroed(MAX_THREADS).ok()?,
                extents: Array::zeroed(MAX_IMAGES).ok()?,
                without,
                memory: MemoryScan::new()?,
                retry_ns: MIN_RETRY_NS,
            })
        }
    }

    /// A whole cycle, in which threads are made to wait once. `words` is scratch memory.
    pub fn cycle(&mut self, words: &mut [u64], separate: impl Fn() -> bool) {
        let (hurried, counts) = CODE.with(|images| {
            let counts = begin_cycle(images, &mut self.extents, true)
                .zip(self.note_own_memory(images))
                .zip(white_labels(images));
            (is_hurried(images), counts)
        });
        let (mut taken, mut took_ns) = (Taken::Impossible, 0);
        if let Some(((extents, without), labels)) = counts {
            pause::pause(PATIENCE_NS, || {
                let start_ns = os::cpu_ns_of_this();
                taken = self.take((extents, without), labels, words);
                took_ns = os::cpu_ns_of_this() - start_ns;
                taken != Taken::Disturbed
            });
        }
        let ended = taken == Taken::Whole && CODE.with(|images| end_cycle(images, separate));
        if ended {
            WHOLE.fetch_add(1, Ordering::Relaxed);
        } else {
            CODE.with(abandon_cycle);
        }
        self.note_end(ended, took_ns, hurried);
    }

    /// Notes where arenas are. Returns how many ranges there are to be passed over.
    fn note_own_memory(&mut self, images: &Images) -> Option<usize> {
        let mut count = 1;
        for range in images.all().flat_map(szc_code::code::Code::memory) {
            *self.without.get_mut(count)? = range;
            count += 1;
        }
        Some(count)
    }

    /// Notes when the next one may be taken, behind one that took so long.
    fn note_end(&mut self, ended: bool, took_ns: u64, hurried: bool) {
        let times = if hurried { REST_TIMES_IF_HURRIED } else { REST_TIMES };
        let mut rest_ns = took_ns * times;
        if ended {
            self.retry_ns = MIN_RETRY_NS;
        } else {
            rest_ns = rest_ns.max(self.retry_ns);
            self.retry_ns = (2 * self.retry_ns).min(MAX_RETRY_NS);
        }
        FAILED.store(!ended, Ordering::Relaxed);
        NEXT_NS.store(os::monotonic_ns() + rest_ns, Ordering::Relaxed);
    }

    /// Marks every layout to which there is a reference, if no thread but the task runs meanwhile.
    fn take(
        &mut self,
        (extents, without): (usize, usize),
        labels: Labels,
        words: &mut [u64],
    ) -> Taken {
        let threads = &mut self.threads;
        let Some(count) = tasks::threads(threads, &mut self.directory) else {
            return Taken::Disturbed;
        };
        for (thread, wait) in threads[..count].iter_mut().zip(self.waits.iter_mut()) {
            if *thread != self.own {
                match tasks::look_at(*thread) {
                    Doing::Waits(now) if !waits_for_child(&now) => *wait = now,
                    // The first thread stays on the list. Nothing has to be asked of it.
                    Doing::Ended => *thread = self.own,
                    _ => return Taken::Disturbed,
                }
            }
        }
        // All that there were wait. If there are as many, there are no others, and nobody who could
        // make one.
        if tasks::thread_count() != Some(count) {
            return Taken::Disturbed;
        }
        let all = threads[..count].iter().zip(self.waits.iter());
        let others = || all.clone().filter(|&(&thread, _)| thread != self.own);
        let copies = Copies::of(&self.extents[..extents]);
        for (_, wait) in others().filter(|(_, wait)| copies.contains(wait.program_counter)) {
            mark(wait.program_counter);
        }
        let scanned = self.memory.scan(&self.without[..without], (&copies, labels), words, mark);
        if !others().all(|(&thread, wait)| tasks::has_waited_since(thread, wait)) {
            // It may also have unmapped what could not be read.
            return Taken::Disturbed;
        }
        match scanned {
            Scanned::Whole => Taken::Whole,
            Scanned::TooMuch | Scanned::Unreadable => Taken::Impossible,
        }
    }
}

/// Where labels of white layouts are that may have been stored. Nothing if there are too many.
fn white_labels(images: &Images) -> Option<Labels> {
    let mut labels = Labels::default();
    let mut white = images.all().filter(|code| code.has_white_labels());
    white.all(|code| labels.add(&code.memory()[0])).then_some(labels)
}

/// Whether one may be taken now.
pub fn is_time() -> bool {
    os::monotonic_ns() >= NEXT_NS.load(Ordering::Relaxed)
}

/// When the next one may be taken.
pub fn next_ns() -> u64 {
    NEXT_NS.load(Ordering::Relaxed)
}

/// Whether the last one failed.
pub fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// How many were whole.
pub fn whole() -> u64 {
    WHOLE.load(Ordering::Relaxed)
}

/// In a forked child: what was counted was the parent's.
pub fn become_child() {
    os::reset_number(&WHOLE);
}
