//! Frees old copies of functions that nobody can reach any more.
//!
//! A GC cycle makes all old layouts white, scans every thread's stack once at a moment when it is
//! quiescent, marks what the stack refers to, and frees the rest. Why that is enough is in
//! runtime/DESIGN.md, "Reclaiming". Everything here runs on the maintenance task; threads of the
//! program run on meanwhile, and are asked to wait at the safepoint only if they are never
//! quiescent by themselves.

pub mod blocked;
pub mod safepoint;
pub mod signal_stacks;
pub mod stack_bounds;
mod stack_scan;
pub mod stacks;
mod third_party;

use crate::images::Images;
use crate::state::{CHANGES, CODE};
use blocked::Blocked;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use stack_scan::{Copies, Evidence};
use szc_code::MAX_IMAGES;
use szc_code::code::Code;
use szc_sys::os::{self, Array, tasks};
use third_party::ThirdPartyCode;

/// Most threads of a program whose copies are freed.
const MAX_THREADS: usize = 2048;

/// Room for the names of so many threads: at most 32 bytes each.
const DIRECTORY_BYTES: usize = MAX_THREADS * 32;

/// Words of a stack that are read at a time.
const STACK_WORDS: usize = 8192;

/// Shortest and longest time that threads wait at the safepoint.
const MIN_PAUSE_NS: u64 = 250_000;
const MAX_PAUSE_NS: u64 = 4_000_000;

/// Longest time for which the safepoint is shut: nobody may come for long, which costs nothing.
const MAX_SHUT_NS: u64 = 20_000_000;

/// Time between two scans while threads wait, and while none does.
const SCAN_AGAIN_NS: u64 = 20_000;
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
    extents: Array<Range<usize>>,
    cycle: Option<usize>,
    /// Threads that existed when it began, in no order.
    known: Array<u32>,
    known_count: usize,
    /// Those of them that have not been seen quiescent since.
    pending: Array<u32>,
    pending_count: usize,
    directory: Array<u8>,
    words: Array<u64>,
    third_party: ThirdPartyCode,
    pause_ns: u64,
    next_pause_ns: u64,
}

impl Reclaimer {
    /// Made by the maintenance task itself. Nothing if there is not enough memory.
    pub fn new() -> Option<Self> {
        let own = tasks::thread_id();
        os::sleep_exactly();
        // SAFETY: numbers and ranges of numbers.
        unsafe {
            Some(Self {
                own,
                filters: tasks::filters(own),
                extents: Array::zeroed(MAX_IMAGES).ok()?,
                cycle: None,
                known: Array::zeroed(MAX_THREADS).ok()?,
                known_count: 0,
                pending: Array::zeroed(MAX_THREADS).ok()?,
                pending_count: 0,
                directory: Array::zeroed(DIRECTORY_BYTES).ok()?,
                words: Array::zeroed(STACK_WORDS).ok()?,
                third_party: ThirdPartyCode::new()?,
                pause_ns: MIN_PAUSE_NS,
                next_pause_ns: 0,
            })
        }
    }

    /// Does a part of the work; called once in each interval. `separate` says whether every child
    /// has copies of its own.
    pub fn step(&mut self, separate: impl Fn() -> bool) {
        if blocked::blocked().is_none() {
            if self.cycle.is_none() && CODE.with(|images| wants_cycle(images)) {
                self.begin();
            }
            if self.cycle.is_some() {
                if let Err(reason) = self.third_party.read_on(&mut self.words) {
                    blocked::block(reason);
                }
                self.scan();
                if self.pending_count > 0 && os::monotonic_ns() >= self.next_pause_ns {
                    self.pause();
                }
                let done = self.pending_count == 0 && self.third_party.is_read();
                if done && blocked::blocked().is_none() {
                    self.end(separate);
                }
            }
        }
        free_some();
    }

    fn begin(&mut self) {
        if self.filters.is_none() {
            return blocked::block(Blocked::Hidden);
        }
        if tasks::filters(self.own) != self.filters {
            return blocked::block(Blocked::Filter);
        }
        let extents = CODE.with(|images| begin_cycle(images, &mut self.extents));
        if extents.is_none() {
            return CODE.with(|images| images.all_mut().for_each(Code::abandon_cycle));
        }
        // After the cycle began: whoever is not among these started later.
        match tasks::threads(&mut self.known, &mut self.directory) {
            Some(count) => {
                self.known_count = count;
                signal_stacks::forget_ended(&self.known[..count]);
                self.pending[..count].copy_from_slice(&self.known[..count]);
                self.pending_count = count;
                self.cycle = extents;
                if let Err(reason) = self.third_party.list(&mut self.directory) {
                    blocked::block(reason);
                }
            }
            // Threads come and go, or there are too many: another time.
            None => CODE.with(|images| images.all_mut().for_each(Code::abandon_cycle)),
        }
    }

    /// Scans the stacks of all threads that have not been seen quiescent.
    fn scan(&mut self) {
        let copies = Copies::of(&self.extents[..self.cycle.unwrap_or(0)]);
        let mut left = 0;
        for index in 0..self.pending_count {
            let thread = self.pending[index];
            let evidence = if thread == self.own {
                Evidence::Seen
            } else {
                stack_scan::scan(thread, &copies, &mut self.words, |address| {
                    CODE.with(|images| images.all_mut().any(|code| code.mark(address)));
                })
            };
            if evidence == Evidence::None {
                self.pending[left] = thread;
                left += 1;
            }
        }
        self.pending_count = left;
    }

    /// Shuts the safepoint and unresolves the entries of all functions, so that threads that call
    /// anything wait, until all have been seen or they wait too long.
    fn pause(&mut self) {
        let start = os::monotonic_ns();
        safepoint::shut();
        let shut = CODE.with(|images| {
            // Otherwise everything has been frozen meanwhile, and nobody may have to ask the
            // resolver any more.
            let may = !images.are_frozen();
            if may {
                images.all().for_each(Code::unresolve_current);
            }
            may
        });
        if !shut {
            safepoint::open();
            return;
        }
        let mut arrivals = safepoint::arrivals();
        let taken_ns = loop {
            let someone_waits = safepoint::waiting_since_ns().is_some();
            let timeout_ns = if someone_waits { SCAN_AGAIN_NS } else { AWAIT_ARRIVAL_NS };
            safepoint::await_arrival(arrivals, timeout_ns);
            arrivals = safepoint::arrivals();
            self.scan();
            let now = os::monotonic_ns();
            let waiting_ns =
                safepoint::waiting_since_ns().map_or(0, |since| now.saturating_sub(since));
            if self.pending_count == 0 || waiting_ns > self.pause_ns || now - start > MAX_SHUT_NS {
                break waiting_ns;
            }
        };
        CODE.with(|images| images.all().for_each(Code::resolve_current));
        safepoint::open();
        PAUSES.fetch_add(1, Ordering::Relaxed);
        PAUSE_NS.fetch_add(taken_ns, Ordering::Relaxed);
        let hurried = CODE.with(|images| is_hurried(images));
        let open_times = if hurried { OPEN_TIMES_IF_HURRIED } else { OPEN_TIMES };
        self.next_pause_ns = os::monotonic_ns() + taken_ns * open_times;
        self.pause_ns = if self.pending_count == 0 {
            MIN_PAUSE_NS
        } else {
            (2 * self.pause_ns).min(MAX_PAUSE_NS)
        };
    }

    /// Frees what no thread refers to, if no thread has started since in a way that libc does not
    /// know.
    fn end(&mut self, separate: impl Fn() -> bool) {
        let known = &self.known[..self.known_count];
        let pending = &mut self.pending;
        let Some(count) = tasks::threads(pending, &mut self.directory) else { return };
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
                images.all_mut().for_each(Code::end_cycle);
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
        let freed_bytes = CHANGES.with(|| {
            let (slot, unreachable) = CODE.with(|images| {
                let mut slots = 0..images.slots();
                slots.find_map(|slot| Some((slot, images.code_mut(slot)?.unreachable()?)))
            })?;
            let bytes = unreachable.poison();
            CODE.with(|images| {
                if let Some(code) = images.code_mut(slot) {
                    code.free(&unreachable);
                }
            });
            Some(bytes)
        });
        let Some(freed_bytes) = freed_bytes else { return };
        bytes += freed_bytes;
    }
}

impl Drop for Reclaimer {
    fn drop(&mut self) {
        if self.cycle.is_some() {
            CODE.with(|images| images.all_mut().for_each(Code::abandon_cycle));
        }
    }
}

/// Whether it is time to find copies that can be freed.
pub fn wants_cycle(images: &Images) -> bool {
    images.all().any(Code::wants_cycle)
}

/// Whether some image needs places at once.
pub fn is_hurried(images: &Images) -> bool {
    images.all().any(Code::is_hurried)
}

/// Layouts for which there is room in the image that has the least of it, if copies cannot be freed
/// any more.
pub fn places_left(images: &Images) -> Option<u32> {
    blocked::blocked()?;
    images.all().filter_map(Code::places_left).min()
}

/// Whether some image could have another layout if one of its old ones were freed.
pub fn lacks_places(images: &Images) -> bool {
    blocked::blocked().is_none() && images.all().filter_map(Code::places_left).any(|left| left == 0)
}

/// Begins a cycle. Writes where there are copies, and returns in how many ranges; nothing if none
/// can be freed.
fn begin_cycle(images: &mut Images, extents: &mut [Range<usize>]) -> Option<usize> {
    let (mut count, mut all_white) = (0, 0);
    for code in images.all_mut() {
        let Some((white, extent)) = code.begin_cycle() else { continue };
        all_white += white;
        *extents.get_mut(count)? = extent;
        count += 1;
    }
    (all_white > 0).then_some(count)
}

/// Times that threads were made to wait so that they could be seen quiescent, and how long they
/// did, in nanoseconds. Written by the maintenance task alone.
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
        blocked: blocked::blocked().map(Blocked::text),
    }
}

/// In a forked child: nobody waits, and what was counted was the parent's.
pub fn become_child() {
    safepoint::reset();
    signal_stacks::become_child();
    PAUSES.store(0, Ordering::Relaxed);
    PAUSE_NS.store(0, Ordering::Relaxed);
}
