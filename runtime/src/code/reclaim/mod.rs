//! Frees old copies of functions that nobody can reach any more.
//!
//! A cycle makes all old layouts candidates, looks once at every thread at a moment when it waits
//! in the kernel, keeps what its stack refers to, and frees the rest. Why that is enough is in
//! DESIGN.md, "Reclaiming". Everything here runs on the maintenance task; threads of the program
//! run on meanwhile, and are asked to wait at the gate only if they do not come to rest by
//! themselves.

mod copies;
mod foreign;
pub mod gate;
pub mod home;
pub mod look;
#[cfg(test)]
mod model;
pub mod stacks;

use super::images::{CAPACITY, Images};
use crate::library;
use crate::os::{self, tasks};
use crate::state::CODE;
use copies::Extent;
use core::sync::atomic::{AtomicU64, Ordering};
use foreign::ForeignCode;
use look::{Copies, Evidence};
use stacks::Blocked;

/// Most threads of a program whose copies are freed.
const MAX_THREADS: usize = 2048;

/// Room for the names of so many threads: at most 32 bytes each.
const DIRECTORY_BYTES: usize = MAX_THREADS * 32;

/// Words of a stack that are read at a time.
const STACK_WORDS: usize = 8192;

/// Shortest and longest time that threads wait at the gate.
const SHORTEST_PAUSE_NS: u64 = 250_000;
const LONGEST_PAUSE_NS: u64 = 4_000_000;

/// Longest time for which the gate is shut: nobody may come for long, which costs nothing.
const LONGEST_SHUT_NS: u64 = 20_000_000;

/// Time between two looks while threads wait, and while none does.
const LOOK_AGAIN_NS: u64 = 20_000;
const AWAIT_ARRIVAL_NS: u64 = 1_000_000;

/// Threads pass at least so many times as long as they wait; less if no place is free.
const OPEN_TIMES: u64 = 50;
const OPEN_TIMES_IF_HURRIED: u64 = 10;

/// Bytes that are filled with traps in one go.
const FREED_AT_A_TIME_BYTES: usize = 4 << 20;

/// The part of the maintenance task that frees copies.
pub struct Reclaimer {
    /// Number of the maintenance task.
    own: u32,
    /// System call filters of this task when it started.
    filters: Option<u64>,
    /// Where there are copies, if a cycle is under way.
    extents: &'static mut [Extent],
    cycle: Option<usize>,
    /// Threads that existed when it began, in no order.
    known: &'static mut [u32],
    known_count: usize,
    /// Those of them that have not been seen at rest since.
    pending: &'static mut [u32],
    pending_count: usize,
    directory: &'static mut [u8],
    words: &'static mut [u64],
    foreign: ForeignCode,
    pause_ns: u64,
    next_pause_ns: u64,
}

impl Reclaimer {
    /// Made by the maintenance task itself. Nothing if there is not enough memory.
    pub fn new() -> Option<Self> {
        let own = tasks::thread_id();
        os::sleep_exactly();
        Some(Self {
            own,
            filters: tasks::filters(own),
            extents: array(CAPACITY)?,
            cycle: None,
            known: array(MAX_THREADS)?,
            known_count: 0,
            pending: array(MAX_THREADS)?,
            pending_count: 0,
            directory: array(DIRECTORY_BYTES)?,
            words: array(STACK_WORDS)?,
            foreign: ForeignCode::new()?,
            pause_ns: SHORTEST_PAUSE_NS,
            next_pause_ns: 0,
        })
    }

    /// Does a part of the work; called once in each interval. `separate` says whether every child
    /// has copies of its own.
    pub fn step(&mut self, separate: impl Fn() -> bool) {
        if stacks::blocked().is_none() {
            if self.cycle.is_none() && CODE.with(|images| images.want_cycle()) {
                self.begin();
            }
            if self.cycle.is_some() {
                if let Err(reason) = self.foreign.read_on(self.words) {
                    stacks::block(reason);
                }
                self.look();
                if self.pending_count > 0 && os::monotonic_ns() >= self.next_pause_ns {
                    self.pause();
                }
                let done = self.pending_count == 0 && self.foreign.is_read();
                if done && stacks::blocked().is_none() {
                    self.end(separate);
                }
            }
        }
        free_some();
    }

    fn begin(&mut self) {
        if self.filters.is_none() {
            return stacks::block(Blocked::Hidden);
        }
        if tasks::filters(self.own) != self.filters {
            return stacks::block(Blocked::Filter);
        }
        let extents = CODE.with(|images| images.begin_cycle(self.extents));
        if extents.is_none() {
            return CODE.with(Images::abandon_cycle);
        }
        // After the cycle began: whoever is not among these started later.
        match tasks::threads(self.known, self.directory) {
            Some(count) => {
                self.known_count = count;
                self.pending[..count].copy_from_slice(&self.known[..count]);
                self.pending_count = count;
                self.cycle = extents;
                if let Err(reason) = self.foreign.list(self.directory) {
                    stacks::block(reason);
                }
            }
            // Threads come and go, or there are too many: another time.
            None => CODE.with(Images::abandon_cycle),
        }
    }

    /// Looks at all threads that have not been seen at rest.
    fn look(&mut self) {
        let copies = Copies::of(&self.extents[..self.cycle.unwrap_or(0)]);
        let mut left = 0;
        for index in 0..self.pending_count {
            let thread = self.pending[index];
            let evidence = if thread == self.own {
                Evidence::Seen
            } else {
                look::at(thread, &copies, self.words, |address| {
                    CODE.with(|images| images.keep(address));
                })
            };
            if evidence == Evidence::None {
                self.pending[left] = thread;
                left += 1;
            }
        }
        self.pending_count = left;
    }

    /// Shuts the gate and the entries of all functions, so that threads that call anything wait,
    /// until all have been seen or they wait too long.
    fn pause(&mut self) {
        let start = os::monotonic_ns();
        gate::shut();
        let shut = CODE.with(|images| {
            // Otherwise everything has been settled meanwhile, and nobody may have to ask the
            // resolver any more.
            let may = !images.are_settled();
            if may {
                images.shut_entries();
            }
            may
        });
        if !shut {
            gate::open();
            return;
        }
        let mut arrivals = gate::arrivals();
        let taken_ns = loop {
            let someone_waits = gate::waiting_since_ns().is_some();
            let timeout_ns = if someone_waits { LOOK_AGAIN_NS } else { AWAIT_ARRIVAL_NS };
            gate::await_arrival(arrivals, timeout_ns);
            arrivals = gate::arrivals();
            self.look();
            let now = os::monotonic_ns();
            let waiting_ns = gate::waiting_since_ns().map_or(0, |since| now.saturating_sub(since));
            if self.pending_count == 0
                || waiting_ns > self.pause_ns
                || now - start > LONGEST_SHUT_NS
            {
                break waiting_ns;
            }
        };
        CODE.with(|images| images.open_entries());
        gate::open();
        PAUSES.fetch_add(1, Ordering::Relaxed);
        PAUSE_NS.fetch_add(taken_ns, Ordering::Relaxed);
        let hurried = CODE.with(|images| images.are_hurried());
        let open_times = if hurried { OPEN_TIMES_IF_HURRIED } else { OPEN_TIMES };
        self.next_pause_ns = os::monotonic_ns() + taken_ns * open_times;
        self.pause_ns = if self.pending_count == 0 {
            SHORTEST_PAUSE_NS
        } else {
            (2 * self.pause_ns).min(LONGEST_PAUSE_NS)
        };
    }

    /// Frees what no thread refers to, if no thread has started since in a way that libc does not
    /// know.
    fn end(&mut self, separate: impl Fn() -> bool) {
        let known = &self.known[..self.known_count];
        let pending = &mut *self.pending;
        let Some(count) = tasks::threads(pending, self.directory) else { return };
        // A thread that libc made begins with an original entry. Others may go on anywhere.
        let of_libc = |&thread: &u32| match tasks::robust_list(thread) {
            Ok(descriptor) => descriptor != 0,
            Err(_) => tasks::look_at(thread) == tasks::Doing::Ended,
        };
        if !pending[..count].iter().all(|thread| known.contains(thread) || of_libc(thread)) {
            return;
        }
        // A child that still shares copies may be inside one that its parent has left.
        let ended = CODE.with(|images| {
            let separate = separate();
            if separate {
                images.end_cycle();
            }
            separate
        });
        if ended {
            self.cycle = None;
        }
    }
}

/// Fills some of what nobody can reach with traps, and gives it back.
fn free_some() {
    let mut bytes = 0;
    while bytes < FREED_AT_A_TIME_BYTES {
        // No image goes away meanwhile.
        let freed_bytes = library::CHANGES.with(|| {
            let unreachable = CODE.with(Images::unreachable)?;
            let bytes = unreachable.poison();
            CODE.with(|images| images.free(&unreachable));
            Some(bytes)
        });
        let Some(freed_bytes) = freed_bytes else { return };
        bytes += freed_bytes;
    }
}

impl Drop for Reclaimer {
    fn drop(&mut self) {
        if self.cycle.is_some() {
            CODE.with(Images::abandon_cycle);
        }
        self.foreign.free();
        let Self { extents, known, pending, directory, words, .. } = self;
        // SAFETY: mappings of `array`, which are not used any more.
        unsafe {
            os::unmap(extents.as_mut_ptr().cast(), size_of_val(*extents));
            os::unmap(known.as_mut_ptr().cast(), size_of_val(*known));
            os::unmap(pending.as_mut_ptr().cast(), size_of_val(*pending));
            os::unmap(directory.as_mut_ptr().cast(), size_of_val(*directory));
            os::unmap(words.as_mut_ptr().cast(), size_of_val(*words));
        }
    }
}

/// Times that threads were made to wait so that they could be seen at rest, and how long they did,
/// in nanoseconds. Written by the maintenance task alone.
static PAUSES: AtomicU64 = AtomicU64::new(0);
static PAUSE_NS: AtomicU64 = AtomicU64::new(0);

/// What the log tells about reclaiming as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that threads were made to wait.
    pub pauses: u64,
    /// How long they did, in nanoseconds.
    pub pause_ns: u64,
    /// Why copies are not freed any more.
    pub blocked: Option<&'static str>,
}

/// The counts up to now.
pub fn counts() -> Counts {
    Counts {
        pauses: PAUSES.load(Ordering::Relaxed),
        pause_ns: PAUSE_NS.load(Ordering::Relaxed),
        blocked: stacks::blocked().map(Blocked::text),
    }
}

/// In a forked child: nobody waits, and what was counted was the parent's.
pub fn become_child() {
    gate::reset();
    PAUSES.store(0, Ordering::Relaxed);
    PAUSE_NS.store(0, Ordering::Relaxed);
}

/// Zeroed memory, until the task ends.
fn array<T: Copy>(count: usize) -> Option<&'static mut [T]> {
    let memory = os::map_anonymous(count * size_of::<T>()).ok()?;
    // SAFETY: a mapping of a moment ago, unmapped by `drop` alone; `T` is made of unsigned integers
    // in all uses.
    Some(unsafe { core::slice::from_raw_parts_mut(memory.cast(), count) })
}
