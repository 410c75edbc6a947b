//! Frees old copies of functions that nobody can reach any more.
//!
//! A GC cycle makes all old layouts white, scans every thread's stack once at a moment when it is
//! quiescent, marks what the stack refers to, and frees the rest. Why that is enough is in
//! runtime/DESIGN.md, "Reclaiming". Everything here runs on the maintenance task; threads of the
//! program run on meanwhile, and are asked to wait at the safepoint only if they are never
//! quiescent by themselves.

pub mod blocked;
mod cycle;
mod memory_scan;
mod pause;
pub mod safepoint;
pub mod signal_stacks;
mod snapshot;
pub mod stack_bounds;
mod stack_scan;
pub mod stacks;
mod third_party;

use crate::images::Images;
use crate::state::{CHANGES, CODE};
use blocked::Blocked;
use core::ops::Range;
use cycle::{DIRECTORY_BYTES, MAX_THREADS, abandon_cycle, begin_cycle, end_cycle, mark};
pub use cycle::{is_hurried, wants_cycle};
use snapshot::Snapshots;
use stack_scan::{Copies, Evidence};
use szc_code::MAX_IMAGES;
use szc_code::code::Code;
use szc_sys::os::{self, Array, tasks};
use third_party::ThirdPartyCode;

/// Words of a stack that are read at a time.
const STACK_WORDS: usize = 8192;

/// Shortest and longest time that threads wait at the safepoint.
const MIN_PAUSE_NS: u64 = 250_000;
const MAX_PAUSE_NS: u64 = 4_000_000;

/// Threads pass at least so many times as long as they wait; less if no place is free.
const OPEN_TIMES: u64 = 50;
const OPEN_TIMES_IF_HURRIED: u64 = 10;

/// Bytes that are filled with traps in one go.
const FREED_AT_A_TIME_BYTES: usize = 4 << 20;

/// The part of the maintenance task that frees copies.
pub struct Reclaimer {
    /// Number of the maintenance task, and its stack.
    own: u32,
    stack: Range<usize>,
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
    /// Where stacks may lie anywhere.
    snapshots: Option<Snapshots>,
}

impl Reclaimer {
    /// Made by the maintenance task itself, which has that stack. Nothing if there is not enough
    /// memory.
    pub fn new(stack: Range<usize>) -> Option<Self> {
        let own = tasks::thread_id();
        os::sleep_exactly();
        // SAFETY: numbers and ranges of numbers.
        unsafe {
            Some(Self {
                own,
                stack,
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
                snapshots: None,
            })
        }
    }

    /// Does a part of the work; called once in each interval. `separate` says whether every child
    /// has copies of its own.
    pub fn step(&mut self, separate: impl Fn() -> bool) {
        let is_blocked = blocked::blocked().is_some();
        let by_snapshot = blocked::other_stacks().is_some()
            || snapshot::is_time() && CODE.with(|images| needs_snapshots(images));
        if !is_blocked && by_snapshot {
            self.step_by_snapshot(separate);
        } else if !is_blocked {
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
                if done && blocked::blocked().is_none() && blocked::other_stacks().is_none() {
                    self.end(separate);
                }
            }
        }
        free_some();
    }

    /// A whole cycle by a snapshot of all memory, if it is time for one.
    fn step_by_snapshot(&mut self, separate: impl Fn() -> bool) {
        if self.cycle.take().is_some() {
            CODE.with(abandon_cycle);
        }
        if self.snapshots.is_none() {
            self.snapshots = Snapshots::new(self.own, self.stack.clone());
        }
        if let Some(snapshots) = &mut self.snapshots
            && snapshot::is_time()
            && CODE.with(|images| wants_cycle(images))
        {
            match unfiltered(self.own, self.filters) {
                Ok(()) => snapshots.cycle(&mut self.words, separate),
                Err(reason) => blocked::block(reason),
            }
        }
    }

    fn begin(&mut self) {
        if let Err(reason) = unfiltered(self.own, self.filters) {
            return blocked::block(reason);
        }
        let extents = CODE.with(|images| begin_cycle(images, &mut self.extents, false));
        if extents.is_none() {
            return CODE.with(abandon_cycle);
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
            None => CODE.with(abandon_cycle),
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
                stack_scan::scan(thread, &copies, &mut self.words, mark)
            };
            if evidence == Evidence::None {
                self.pending[left] = thread;
                left += 1;
            }
        }
        self.pending_count = left;
    }

    /// Stops threads that call anything, until all have been seen or they wait too long.
    fn pause(&mut self) {
        let patience_ns = self.pause_ns;
        let taken_ns = pause::pause(patience_ns, || {
            self.scan();
            self.pending_count == 0
        });
        let Some(taken_ns) = taken_ns else { return };
        let hurried = CODE.with(|images| is_hurried(images));
        let open_times = if hurried { OPEN_TIMES_IF_HURRIED } else { OPEN_TIMES };
        self.next_pause_ns = os::monotonic_ns() + taken_ns * open_times;
        self.pause_ns = if self.pending_count == 0 {
            MIN_PAUSE_NS
        } else {
            (2 * patience_ns).min(MAX_PAUSE_NS)
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
        if CODE.with(|images| end_cycle(images, separate)) {
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
            CODE.with(abandon_cycle);
        }
    }
}

/// Whether only a snapshot of all memory shows what can be freed.
fn needs_snapshots(images: &Images) -> bool {
    blocked::other_stacks().is_some() || images.all().any(Code::is_full_of_labels)
}

/// How scarce places for layouts are, in the image that has the fewest left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scarcity {
    /// When more may become free, and how many there are to get along with until then.
    pub until: Option<(u64, u32)>,
    /// All that are left, if it is not known whether more will become free.
    pub left: Option<u32>,
}

/// How scarce places are, if copies cannot be freed any more, or only now and then.
pub fn scarcity(images: &Images) -> Option<Scarcity> {
    let is_blocked = blocked::blocked().is_some();
    if !is_blocked && !needs_snapshots(images) {
        return None;
    }
    let least = |left: fn(&Code) -> Option<u32>| images.all().filter_map(left).min();
    let until = least(Code::preferred_places_left).filter(|_| !is_blocked);
    let left = least(Code::places_left).filter(|_| is_blocked || snapshot::has_failed());
    Some(Scarcity { until: until.map(|left| (snapshot::next_ns(), left)), left })
}

/// Whether some image could have another layout if one of its old ones were freed.
pub fn lacks_places(images: &Images) -> bool {
    blocked::blocked().is_none() && images.all().filter_map(Code::places_left).any(|left| left == 0)
}

/// Whether the program has installed no system call filter since the task `own` was made, which had
/// so many.
fn unfiltered(own: u32, before: Option<u64>) -> Result<(), Blocked> {
    match before {
        None => Err(Blocked::Hidden),
        Some(_) if tasks::filters(own) != before => Err(Blocked::Filter),
        Some(_) => Ok(()),
    }
}

/// What the log tells about reclaiming as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that threads were made to wait.
    pub pauses: u64,
    /// How long they did, in nanoseconds.
    pub pause_ns: u64,
    /// Cycles for which all memory was read.
    pub snapshots: u64,
    /// Why references to copies may lie anywhere.
    pub other_stacks: Option<&'static str>,
    /// Why copies are not freed any more.
    pub blocked: Option<&'static str>,
}

/// The counts up to now.
pub fn counts() -> Counts {
    let (pauses, pause_ns) = pause::counts();
    Counts {
        pauses,
        pause_ns,
        snapshots: snapshot::whole(),
        other_stacks: blocked::other_stacks().map(Blocked::text),
        blocked: blocked::blocked().map(Blocked::text),
    }
}

/// In a forked child: nobody waits, and what was counted was the parent's.
pub fn become_child() {
    pause::become_child();
    snapshot::become_child();
    signal_stacks::become_child();
}
