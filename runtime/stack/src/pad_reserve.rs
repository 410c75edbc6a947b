//! The pad reserve of the main thread's stack: any recursion that fits without szc must fit with
//! it, also one that ends itself by the distance of addresses. So the reserve is small: it bounds
//! what all pads together take.
//!
//! ```text
//! end of the stack ─┬─ arguments, environment
//!                   │  what `main` takes, and the pad reserve: checked frames get pads (256 KiB)
//!       low, floor ─┤
//!                   │  pads of frames that follow a checked one without a check
//!                   │  growth reserve: three times the limit or more, for frames without pads
//!           lowest ─┴─ the kernel extended the mapping down to here
//! ```
//!
//! The kernel lets a stack grow up to the soft limit, which the program sees and its children
//! inherit. So the limit is raised for one moment, in which the kernel is made to touch the lowest
//! page: the mapping then has its full length, costs memory only where it is used, and ends like
//! any stack: an overflow is a SIGSEGV. A frame without a pad can still be larger than a plain
//! one (`szc_abi::stack::Growth`). Hence the growth reserve.
//!
//! If the hard limit forbids that, the stack is extended as far as the limit goes, and memory is
//! mapped below it.
//!
//! No reserve, and so no pads: if the limit of the address space is too low or something lies below
//! the stack. Where the limit is 1 GiB or more, or there is none, the kernel extends the stack as
//! it goes.

use super::growth::growth;
use super::pad_range::{self, PadRange};
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use szc_abi::stack::{Growth, PadState, UNCHECKED_BYTES};
use szc_sys::arch::{
    self,
    pads::{pad_state, stack_pointer, thread_pointer},
};
use szc_sys::os::limits::{
    self, LIMIT_ADDRESS_BYTES, LIMIT_STACK_BYTES, Limits, exchange_limits, limit,
};
use szc_sys::os::{
    self, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MAP_NORESERVE, MAP_PRIVATE, PAGE_BYTES, PROT_NONE,
    PROT_READ, PROT_WRITE, null,
};

/// A smaller pad reserve than this is not worth having, unless it was asked for.
const MIN_RESERVE_BYTES: usize = 64 << 10;

/// The growth reserve in units of the stack limit: more than frames grow.
const GROWTH_LIMITS: usize = 3;

/// The same if there are frames of which the link step could not take the room out again.
const ROOMY_GROWTH_LIMITS: usize = 11;

/// From this limit on, the pad reserve is a small part of it and the mapping is left as it is.
const AMPLE_LIMIT_BYTES: usize = 1 << 30;

/// The part of a limited address space that both reserves may take.
const ADDRESS_SPACE_SHARE: usize = 16;

/// What no thread may touch below a stack that was mapped by hand: as much as the kernel keeps
/// clear.
const GUARD_BYTES: usize = 1 << 20;

/// Left below the stack pointer when a stack is cut off: as much as the kernel gives a new program,
/// and the pads that frames which have begun may still lead to.
const KEPT_BYTES: usize = (128 << 10) + UNCHECKED_BYTES as usize;

/// Bounds of the pad reserve; 0 if there is none. Written at start.
static LOW: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// How far down there is memory for the stack; 0 if that is the kernel's to say. Changed only by
/// who holds [`EXTENDING`].
static LOWEST: AtomicUsize = AtomicUsize::new(0);

/// Somebody changes the stack limit.
static EXTENDING: AtomicBool = AtomicBool::new(false);

/// The main thread's state, null until it has a pad reserve.
static MAIN_STATE: AtomicPtr<PadState> = AtomicPtr::new(null());

/// Bytes of the pad reserve.
pub fn bytes() -> u64 {
    (END.load(Ordering::Relaxed) - LOW.load(Ordering::Relaxed)) as u64
}

/// What the kernel and the loader have put above all frames of the main thread's stack.
#[derive(Clone, Copy, Debug)]
pub struct AboveFrames {
    /// The vector of arguments, the lowest of it.
    pub arguments: usize,
    /// The vector of the environment.
    pub environment: usize,
    /// The program's path, which ends the stack, or 0.
    pub file: usize,
}

/// Makes a pad reserve on the stack of the calling thread, the main one: so many bytes in which a
/// check gives pads, or fewer.
pub fn make(checked_bytes: usize, above: AboveFrames) -> Option<PadRange> {
    // Valgrind has a stack of its own making, which does not grow for the kernel.
    if arch::is_simulated() {
        return None;
    }
    let limits = exchange_limits(0, LIMIT_STACK_BYTES, None).ok()?;
    let wanted = checked_bytes + UNCHECKED_BYTES as usize;
    let reserve_bytes = if limits.soft >= AMPLE_LIMIT_BYTES as u64 {
        wanted
    } else {
        find_reserve(wanted, above, limits)?
    };
    let range = PadRange { low: above.arguments - reserve_bytes, end: above.environment };
    LOW.store(range.low, Ordering::Relaxed);
    END.store(range.end, Ordering::Relaxed);
    if let Some(lowest) = lowest() {
        keep_small_pages(lowest, above.file);
    }
    Some(range)
}

/// Notes whose pads end if there is no longer a reserve for them.
pub fn remember_main_state() {
    MAIN_STATE.store(pad_state(), Ordering::Relaxed);
    os::remember_process();
}

/// Whether the calling thread is the main one and has a pad reserve.
fn is_main() -> bool {
    core::ptr::eq(MAIN_STATE.load(Ordering::Relaxed), pad_state())
}

/// Whether this `pthread_t` is that of the main thread and it has a pad reserve: glibc's is the
/// address of the thread's block, from which its state has the same distance in all threads.
pub fn is_of_main(thread: usize) -> bool {
    let main = MAIN_STATE.load(Ordering::Relaxed);
    let distance = (pad_state() as usize).wrapping_sub(thread_pointer());
    !main.is_null() && thread.wrapping_add(distance) == main as usize
}

/// Takes the lowest bytes of the pad reserve away, if the main thread calls: nobody else may change
/// where its frames get pads.
pub fn narrow(bytes: usize) {
    if is_main() {
        LOW.fetch_add(bytes, Ordering::Relaxed);
        pad_range::narrow(bytes);
    }
}

/// The lowest address of the main thread's stack, if it was made longer.
pub fn lowest() -> Option<usize> {
    Some(LOWEST.load(Ordering::Relaxed)).filter(|&lowest| lowest != 0)
}

/// Takes the main thread's pad reserve away, before all memory is locked: what is mapped would be
/// made resident, and counted against a limit. Does not free what may be in use.
pub fn give_up() {
    let main = MAIN_STATE.load(Ordering::Relaxed);
    if main.is_null() {
        return;
    }
    let whole = PadRange { low: LOW.load(Ordering::Relaxed), end: END.load(Ordering::Relaxed) };
    // If there is another stack inside this one, frames may wait below the one that is running.
    let frames_end_here = is_main() && pad_range::current() == whole.for_checks();
    // SAFETY: the main thread's static block is never unmapped.
    unsafe { pad_range::unregister(main) };
    let keep = (stack_pointer() - KEPT_BYTES) & !(PAGE_BYTES - 1);
    if let Some(lowest) = lowest()
        && frames_end_here
        && lowest < keep
    {
        // SAFETY: the only frames on this stack are those that called, and they lie above.
        unsafe { os::unmap(lowest as *mut u8, keep - lowest) };
        LOWEST.store(0, Ordering::Relaxed);
        MAIN_STATE.store(null(), Ordering::Relaxed);
    }
}

/// Sizes of pad reserve to try, from the wanted one down, that leave the address space to the
/// program.
fn sizes(
    wanted: usize,
    growth_reserve: usize,
    address_space: usize,
) -> impl Iterator<Item = usize> {
    let max = (address_space / ADDRESS_SPACE_SHARE).saturating_sub(growth_reserve);
    let min = wanted.min(MIN_RESERVE_BYTES);
    (0..usize::BITS)
        .map(move |halvings| wanted >> halvings)
        .take_while(move |&bytes| bytes >= min)
        .filter(move |&bytes| bytes <= max)
}

/// The growth reserve that this stack limit asks for, in bytes.
fn growth_reserve_bytes(limits: Limits) -> usize {
    let times = match growth() {
        Growth::Half | Growth::Twice => GROWTH_LIMITS,
        Growth::Tenfold => ROOMY_GROWTH_LIMITS,
    };
    (limits.soft as usize).next_multiple_of(PAGE_BYTES) * times
}

/// Makes both reserves and says how large the one for pads is.
fn find_reserve(wanted: usize, above: AboveFrames, limits: Limits) -> Option<usize> {
    let growth_reserve = growth_reserve_bytes(limits);
    let sizes = || sizes(wanted, growth_reserve, limit(LIMIT_ADDRESS_BYTES));
    let lowest = |pads: usize| ((above.arguments - pads) & !(PAGE_BYTES - 1)) - growth_reserve;
    if let Some(pads) = sizes().find(|&pads| extend(lowest(pads), limits)) {
        return Some(pads);
    }
    let stack_end = mapping_end(above.file)?;
    // The kernel takes a part of a page for a whole one.
    let grown = stack_end - (limits.soft as usize & !(PAGE_BYTES - 1));
    // SAFETY: as in `extend`; what is already part of the stack is left alone.
    let reached = limits::is_unmapped(grown) && unsafe { limits::reach(grown) };
    if !reached {
        return None;
    }
    sizes().find(|&pads| map_below(grown, lowest(pads)))
}

/// Maps what lies between `lowest` and the start of a stack that grows no further, and a guard
/// below.
fn map_below(stack_start: usize, lowest: usize) -> bool {
    let guard = lowest - GUARD_BYTES;
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    // SAFETY: takes unused addresses only.
    let mapped = unsafe { os::map(guard, stack_start - guard, PROT_NONE, flags, -1, 0) };
    let Ok(start) = mapped else { return false };
    let bytes = stack_start - lowest;
    // SAFETY: a mapping of a moment ago. (A kernel older than 4.17 may have put it elsewhere.)
    unsafe {
        let fits = start as usize == guard
            && os::protect(start.add(GUARD_BYTES), bytes, PROT_READ | PROT_WRITE).is_ok();
        if fits {
            LOWEST.store(lowest, Ordering::Relaxed);
        } else {
            os::unmap(start, bytes + GUARD_BYTES);
        }
        fits
    }
}

/// Makes the kernel extend the main thread's stack down to the page at `lowest`. `limits` are put
/// back.
fn extend(lowest: usize, limits: Limits) -> bool {
    let raised = Limits { soft: limits.hard, ..limits };
    if exchange_limits(0, LIMIT_STACK_BYTES, Some(&raised)).is_err() {
        return false;
    }
    // SAFETY: nothing is mapped there. If something else lies between there and the stack, the
    // kernel extends nothing and refuses.
    let reached = limits::is_unmapped(lowest) && unsafe { limits::reach(lowest) };
    let restored = exchange_limits(0, LIMIT_STACK_BYTES, Some(&limits)).is_ok();
    if reached {
        LOWEST.store(lowest, Ordering::Relaxed);
    }
    reached && restored
}

/// A stack that grows page by page never gets huge pages; one that is there at once would, and
/// would be faster and larger in some runs than in others. Done only if both ends of the mapping
/// are known: a part would become a mapping of its own, which libc would take for the whole stack.
fn keep_small_pages(lowest: usize, file: usize) {
    if let Some(end) = mapping_end(file) {
        limits::use_small_pages(lowest, end);
    }
}

/// The end of the main thread's stack, whose last thing but a null word is the program's path
/// (fs/exec.c).
fn mapping_end(file: usize) -> Option<usize> {
    if file == 0 {
        return None;
    }
    // SAFETY: the loader's string.
    let path = unsafe { CStr::from_ptr(file as *const c_char) };
    let end = file + path.to_bytes_with_nul().len() + size_of::<usize>();
    let end = end.next_multiple_of(PAGE_BYTES);
    limits::is_unmapped(end).then_some(end)
}

/// After the growth reserve has become larger: the program has set its stack limit, or frames may
/// grow by more. If it cannot be had the main thread's further frames get no pads.
pub fn growth_reserve_was_raised() {
    // A child that shares the stack (vfork) has limits of its own, which say nothing about it.
    if !os::is_remembered_process() {
        return;
    }
    let main = MAIN_STATE.load(Ordering::Relaxed);
    let lowest = lowest().unwrap_or(usize::MAX);
    let Ok(limits) = exchange_limits(0, LIMIT_STACK_BYTES, None) else { return };
    // An ample limit lets the mapping grow by itself.
    if main.is_null() || limits.soft >= AMPLE_LIMIT_BYTES as u64 {
        return;
    }
    let growth_reserve = growth_reserve_bytes(limits);
    let wanted = LOW.load(Ordering::Relaxed) & !(PAGE_BYTES - 1);
    let wanted = wanted.saturating_sub(growth_reserve);
    if wanted >= lowest {
        return;
    }
    // Acquire and release pair with each other: one at a time puts back the limits that it found.
    let alone =
        EXTENDING.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
    let affordable =
        bytes() as usize + growth_reserve <= limit(LIMIT_ADDRESS_BYTES) / ADDRESS_SPACE_SHARE;
    if !(alone && affordable && extend(wanted, limits)) {
        // SAFETY: the main thread's static block is never unmapped.
        unsafe { pad_range::unregister(main) };
    }
    if alone {
        EXTENDING.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn the_pad_reserve_is_as_large_as_a_limited_address_space_allows() {
        let first = |reserve, space| sizes(64 * MIB, reserve * MIB, space).next();
        assert_eq!(first(24, usize::MAX), Some(64 * MIB));
        assert_eq!(first(24, 1024 * MIB), Some(32 * MIB));
        assert_eq!(first(24, 400 * MIB), Some(MIB));
        assert_eq!(first(24, 384 * MIB), None);
        assert_eq!(sizes(64 * MIB, 0, usize::MAX).last(), Some(MIN_RESERVE_BYTES));
        assert_eq!(sizes(1000, 0, usize::MAX).collect::<Vec<_>>(), [1000]);
    }
}
