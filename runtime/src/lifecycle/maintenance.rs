//! The task that begins a new epoch at every interval.
//!
//! It shares the program's memory and nothing else: no descriptors, no directory, no signals, and
//! libc does not know of it, so that `__libc_single_threaded` stays true and no system call of the
//! program is ever interrupted. Rules of this file: no libc, no thread-local storage.

use super::footprint::Footprint;
use super::pace::Pace;
use super::requests::{self, Request};
use super::round::{LOOK_NS, Round};
use super::suspension::Sleep;
pub use super::suspension::leave_for_good;
use super::{children, late, suspension};
use crate::arch;
use crate::facts::FACTS;
use crate::os;
use crate::reclaim::{self, Reclaimer};
use crate::settings::Clock;
use crate::stack;
use crate::state::{self, CHANGES, CODE};
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use szc_abi::text::parse_decimal;
use szc_sys::os::Lock;

const STACK_BYTES: usize = 128 << 10;

/// Flags of clone(2).
const CLONE_VM: usize = 0x100;
const CLONE_FS: usize = 0x200;
const CLONE_FILES: usize = 0x400;
const CLONE_SIGHAND: usize = 0x800;
const CLONE_THREAD: usize = 0x1_0000;
const CLONE_SETTLS: usize = 0x8_0000;

/// The task has its own table of descriptors.
static OWN_FILES: AtomicBool = AtomicBool::new(false);

/// The task's stack. The next one gets it when it has ended.
static STACK: AtomicPtr<u8> = AtomicPtr::new(os::null());

/// Held while a program that asks for a layout makes the task.
static ASKING: Lock = Lock::new();

/// The most parts of a GC cycle for which a program waits that asks for a layout where there is no
/// place for one, and the time between two of them.
const MAX_STEPS: u32 = 32;
const STEP_NS: u64 = 200_000;

/// There is something that moves: starts the task if layouts follow by time. The program runs on
/// with one layout if that fails.
pub fn start() -> Result<(), os::Errno> {
    state::has_layout();
    suspension::note_process();
    if ticks() && suspension::want() { spawn() } else { Ok(()) }
}

/// Starts the task if there was nothing to do for it up to now.
pub fn wake() {
    // Without it the library keeps its first layout.
    let _ = if !suspension::is_noted() {
        start()
    } else if ticks() && suspension::want() {
        spawn()
    } else {
        Ok(())
    };
}

/// Starts the task, if this process may have one, because the program asks for a layout.
pub fn wake_for_request() {
    let before = os::signal_mask(2, Some(u64::MAX));
    ASKING.with(|| {
        if suspension::is_own_process() && suspension::want() {
            // Without it the program keeps its layout.
            let _ = spawn();
        }
    });
    if let Ok(before) = before {
        let _ = os::signal_mask(2, Some(before));
    }
}

/// Makes the task of a child that was to get it late, if it is due.
#[inline]
pub fn look_whether_due() {
    if late::is_postponed() {
        make_if_due();
    }
}

#[cold]
#[inline(never)]
fn make_if_due() {
    // In a child that shares the memory nobody else runs.
    if !suspension::is_own_process() {
        return;
    }
    let before = os::signal_mask(2, Some(u64::MAX));
    if late::take_due() && !state::is_frozen() {
        children::note_grown();
        // Without it the child keeps its layout.
        let _ = start();
    }
    if let Ok(before) = before {
        let _ = os::signal_mask(2, Some(before));
    }
}

fn interval_ns() -> u64 {
    FACTS.get().map_or(0, |facts| u64::from(facts.interval_ms) * 1_000_000)
}

/// Whether layouts follow by time.
fn ticks() -> bool {
    FACTS.get().is_some_and(|facts| facts.interval_ms != 0)
}

/// Carries a call out while the task is not there.
pub fn without_task<T>(call: impl FnOnce() -> T) -> T {
    suspension::without_task(call, || {
        // Without it the program keeps its layout.
        let _ = spawn();
    })
}

/// Makes the task, which has been noted as wanted.
fn spawn() -> Result<(), os::Errno> {
    let result = stack().and_then(make);
    suspension::made(result);
    result.map(drop)
}

/// Memory for the task's stack.
fn stack() -> Result<*mut u8, os::Errno> {
    let last = STACK.load(Ordering::Relaxed);
    if !last.is_null() && !suspension::is_there() {
        return Ok(last);
    }
    let memory = os::map_anonymous(STACK_BYTES)?;
    // The lowest page catches an overflow.
    // SAFETY: the memory was mapped a moment ago, and nobody else knows it.
    unsafe {
        os::protect(memory, os::PAGE_BYTES, os::PROT_NONE)
            .inspect_err(|_| os::unmap(memory, STACK_BYTES))?;
    }
    STACK.store(memory, Ordering::Relaxed);
    Ok(memory)
}

fn make(memory: *mut u8) -> Result<u32, os::Errno> {
    // The highest bytes are the thread block that fs points to.
    // SAFETY: the memory is a stack that nobody uses.
    let (stack_top, thread_block) = unsafe {
        let block = memory.add(STACK_BYTES - 256);
        block.cast::<*mut u8>().write(block);
        (block.cast::<c_void>(), block.cast::<c_void>())
    };
    let before = os::signal_mask(2, Some(u64::MAX))?;
    let shared = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
    let own_files = !arch::is_simulated();
    OWN_FILES.store(own_files, Ordering::Relaxed);
    let flags = if own_files { shared } else { shared | CLONE_FS | CLONE_FILES };
    // SAFETY: the stack and the block are the task's alone; it shares the address space.
    let result = unsafe { arch::clone_task(flags, stack_top, run, thread_block) };
    os::signal_mask(2, Some(before))?;
    u32::try_from(result).map_err(|_| os::Errno(result as i32))
}

/// Starts the task of a forked child, which has copies of its own, if its parent had one.
pub fn restart() {
    suspension::become_child();
    ASKING.reset();
    children::become_child();
    late::become_child();
    if state::layout() == 0 || state::is_frozen() {
        return;
    }
    if ticks() && children::end_soon() {
        late::postpone(interval_ns());
    } else {
        // Without it the child keeps its layout.
        let _ = start();
    }
}

/// Body of the task.
extern "C" fn run() -> ! {
    if OWN_FILES.load(Ordering::Relaxed) {
        // A pipe of the program that stayed open here would never end for its reader.
        if os::close_all().is_err() {
            suspension::want_no_more();
            os::exit_task(0);
        }
        os::leave_directory();
    }
    os::set_task_name(c"szc");
    // Reclaiming opens files, which must not be the program's.
    let mut may_reclaim = OWN_FILES.load(Ordering::Relaxed);
    let mut reclaimer = None;
    let pads = FACTS.get().is_some_and(|facts| facts.stack);
    let clock = FACTS.get().map_or(Clock::Wall, |facts| facts.clock);
    let is_child = children::is_child();
    let mut pace = Pace::new(interval_ns(), clock, is_child);
    let footprint = Footprint::new(interval_ns());
    footprint.watch_start();
    let mut next_look = os::monotonic_ns() + LOOK_NS;
    let mut epochs = Round::new();
    let ticks = ticks();
    let (mut next_due, mut asked) = (None, None);
    // What a child's parent has left it goes on sharing until then: to free it takes pages.
    let mut has_had_round = !is_child;
    loop {
        let retry = epochs.next_try();
        let next = retry.unwrap_or_else(|| {
            let due = || if ticks { pace.next() } else { os::monotonic_ns() + LOOK_NS };
            *next_due.get_or_insert_with(due)
        });
        let sleep = suspension::sleep_until(next, retry.is_none());
        let frozen = state::is_frozen();
        if frozen {
            suspension::goes();
        }
        if sleep == Sleep::Leave || frozen {
            drop(reclaimer);
            os::exit_task(0);
        }
        let is_over = sleep == Sleep::Over;
        if is_over && ticks {
            children::note_grown();
        }
        if is_over && next > next_look {
            next_look = next + LOOK_NS;
            if let Some(code) = code_of_ended_program() {
                os::exit_task(code);
            }
        }
        if retry.is_none() {
            next_due = next_due.filter(|_| !is_over);
            asked = requests::take();
        }
        let goes_by_time = ticks && is_over && !requests::are_paused();
        let begins = retry.is_some() || asked.is_some() || (goes_by_time && pace.begins());
        if !begins {
            footprint.look();
            if !goes_by_time || !has_had_round {
                continue;
            }
        }
        has_had_round = true;
        if asked.is_some() && retry.is_none() {
            may_reclaim = find_places(&mut reclaimer, may_reclaim);
        }
        if begins && !epochs.begin() {
            give_up_late(&mut asked, &epochs);
            continue;
        }
        if begins && asked.is_none() {
            let (hurried, scarcity) =
                CODE.with(|images| (reclaim::is_hurried(images), reclaim::scarcity(images)));
            pace.round_over(!hurried, scarcity);
        }
        // Not before it is needed: many children end soon, and who waits for one waits for the
        // files that are open in /proc.
        may_reclaim = step(&mut reclaimer, may_reclaim);
        footprint.look();
        if pads && begins {
            stack::refill(refill_libraries);
        }
        if let Some(request) = asked.take() {
            // Whoever asked calls what it finds, and on any processor.
            os::synchronize_cores();
            requests::answer(request);
        }
        if !pads && CHANGES.with(is_quiescent) {
            drop(reclaimer);
            os::exit_task(0);
        }
    }
}

/// A part of the work of freeing copies, if there is any to do. Whether copies may be freed.
fn step(reclaimer: &mut Option<Reclaimer>, may_reclaim: bool) -> bool {
    let mut may_reclaim = may_reclaim;
    if may_reclaim && reclaimer.is_none() && CODE.with(|images| reclaim::wants_cycle(images)) {
        let stack = STACK.load(Ordering::Relaxed) as usize;
        *reclaimer = Reclaimer::new(stack..stack + STACK_BYTES);
        may_reclaim = reclaimer.is_some();
    }
    if let Some(reclaimer) = reclaimer {
        reclaimer.step(children::all_are_separate);
    }
    may_reclaim
}

/// Frees copies for a program that waits for a layout for which there is no place, if that is soon
/// done. Whether copies may be freed.
fn find_places(reclaimer: &mut Option<Reclaimer>, may_reclaim: bool) -> bool {
    let mut may_reclaim = may_reclaim;
    for _ in 0..MAX_STEPS {
        if !may_reclaim || !CODE.with(|images| reclaim::lacks_places(images)) {
            break;
        }
        may_reclaim = step(reclaimer, may_reclaim);
        os::sleep_until(os::monotonic_ns() + STEP_NS);
    }
    may_reclaim
}

/// Answers who asked for a layout that waits for a child for long: the program goes on in the old
/// one, and the new one follows when it can.
fn give_up_late(asked: &mut Option<Request>, epochs: &Round) {
    if epochs.waits_for_long()
        && let Some(request) = asked.take()
    {
        requests::answer(request);
    }
}

/// The exit code of the main thread if all threads of the program have ended, each by itself: then
/// this task alone keeps the process. (Reads `/proc/self/stat`: state, number of threads and exit
/// status, fields 3, 20 and 52 of proc(5).)
fn code_of_ended_program() -> Option<i32> {
    let mut buffer = [0; 512];
    let file = os::File::open(c"/proc/self/stat", os::OPEN_READ).ok()?;
    let length = file.read(&mut buffer).ok()?;
    exit_code_in(buffer.get(..length)?)
}

fn exit_code_in(stat: &[u8]) -> Option<i32> {
    // The name before these fields may contain anything, the fields behind it no parenthesis.
    let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = stat[end_of_name + 1..].split(|&byte| byte == b' ').skip(1);
    if fields.next() != Some(b"Z") || fields.nth(16) != Some(b"2") {
        return None;
    }
    // As waitpid(2) gives it; 0 if the kernel does not tell.
    let status = fields.nth(31).unwrap_or(b"0").trim_ascii_end();
    Some((parse_decimal(status).unwrap_or(0) >> 8 & 0xff) as i32)
}

/// Fills the pad tables of all libraries anew.
fn refill_libraries(epoch: u64) {
    CHANGES.with(|| {
        for slot in 0..CODE.with(|images| images.slots()) {
            let tables = CODE.with(|images| images.library_mut(slot)?.tables_in_use());
            if let Some((tables, seed)) = tables {
                tables.fill(seed, epoch);
            }
        }
    });
}

/// Whether there is nothing left to do, for good or until a library is attached.
fn is_quiescent() -> bool {
    let rests = CODE.with(|images| images.are_quiescent());
    if rests {
        suspension::want_no_more();
    }
    rests
}
