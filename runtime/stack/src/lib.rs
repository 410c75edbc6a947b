//! Stack randomization, the runtime's half: pad tables and their refills, and the reserve for pads.
//!
//! The compiler pass emits the code that moves a frame; `szc_abi::stack` says what it reads.
//! Source: Curtsinger and Berger, "STABILIZER" (2013), section 4.2.4.
#![cfg_attr(not(test), no_std)]
// Addresses are words; the runtime supports 64-bit targets only.
#![allow(clippy::cast_possible_truncation)]

mod first_pad;
mod growth;
pub mod pad_range;
pub mod pad_reserve;
pub mod pads;
pub mod threads;

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use first_pad::{SEED, first_pad};
pub use growth::growth;
use pad_range::Above;
use pad_reserve::AboveFrames;
use pads::Tables;
use szc_abi::stack::{FunctionRecord, Growth};
use szc_sys::arch::{pads::sections, prologue, weak_main};
use szc_sys::os;

/// What the log says about the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackCounts {
    /// Functions whose frames get pads.
    pub functions: u64,
    /// Mean of their pads, in bytes: of those in the current copies and of the tables' entries.
    pub mean_pad_bytes: u64,
    /// Times that the tables were filled anew.
    pub refills: u64,
    /// Bytes of the main thread's stack in which frames get pads.
    pub room_bytes: u64,
}

/// A larger frame of `main` counts as one of so many bytes, which a stack seldom has.
const MAX_MAIN_FRAME_BYTES: usize = 64 << 20;

/// The pad reserves, if nothing was said, in KiB.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Reserves {
    main: u32,
    thread: u32,
}

impl Reserves {
    /// About 120 frames of the main thread: interpreters run most of their calls that deep. A
    /// larger one gained nothing more. Threads have smaller stacks, and 30 frames.
    const DEFAULT: Self = Self { main: 256, thread: 64 };

    /// In programs that seem to bound their stack by addresses: what they may use is theirs.
    const OF_BOUNDED_STACKS: Self = Self { main: 16, thread: 16 };

    /// What was said holds for every stack.
    const fn all(kib: u32) -> Self {
        Self { main: kib, thread: kib }
    }
}

/// A library that seems to bound the stack by addresses may make the reserves smaller. Written at
/// start, and by whoever attaches that library.
static MAY_NARROW: AtomicBool = AtomicBool::new(false);

/// What such a library takes from the main thread's reserve, in bytes. Written at start.
static NARROWED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The epoch whose tables are in place. Written by the maintenance task alone.
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// Refills of this process: a forked child goes on with its parent's epoch, and counts anew.
static REFILLS: AtomicU64 = AtomicU64::new(0);

/// Starts stack randomization: fills the tables of epoch 0 and makes a pad reserve on the main
/// thread's stack, which calls this: so many KiB, of which 0 are as good as no `pads`, or as many
/// as the program bears.
///
/// Without `pads` the tables stay as they are linked, all zero, and frames lie where they would;
/// the reserve is made all the same, because a frame that could get a pad takes more than a plain
/// one.
///
/// Whether the stack is randomized: false also if no function of the program is padded.
pub fn start(pads: bool, reserve_kib: Option<u32>, seed: u64, above_frames: AboveFrames) -> bool {
    if padded_functions() == 0 {
        return false;
    }
    let of_program = default_reserves(records());
    let is_wide = reserve_kib.is_none() && of_program == Reserves::DEFAULT;
    MAY_NARROW.store(is_wide, Ordering::Relaxed);
    let reserves = reserve_kib.map_or(of_program, Reserves::all);
    let pads = pads && reserves.main > 0;
    os::look_at_memory_limits();
    SEED.store(seed, Ordering::Relaxed);
    growth::raise_to(growth_of(records()));
    if pads {
        Tables::of_image().fill(seed, 0);
    }
    let of_main = frame_bytes_of(weak_main());
    if let Some(range) = pad_reserve::make(in_bytes(reserves.main) + of_main, above_frames) {
        let kept = in_bytes(Reserves::OF_BOUNDED_STACKS.main) + of_main;
        // The limits may have allowed less than was wanted.
        let checked = above_frames.arguments - range.for_checks().low;
        NARROWED_BYTES.store(checked.saturating_sub(kept), Ordering::Relaxed);
        pad_range::enter(range.for_checks(), Above::Nothing, first_pad(0));
        pad_reserve::remember_main_state();
    }
    threads::start(in_bytes(reserves.thread));
    pads
}

/// The epoch whose tables are in place.
pub fn epoch() -> u64 {
    EPOCH.load(Ordering::Relaxed)
}

/// Fills the tables anew while threads read them; on the maintenance task. `others` fills those of
/// libraries for the epoch that it is given.
pub fn refill(others: impl FnOnce(u64)) {
    let epoch = epoch() + 1;
    Tables::of_image().fill(SEED.load(Ordering::Relaxed), epoch);
    others(epoch);
    EPOCH.store(epoch, Ordering::Relaxed);
    REFILLS.fetch_add(1, Ordering::Relaxed);
}

/// The counts up to now. `copies`: how many functions get pads from the current copies, and the sum
/// of those.
pub fn counts(copies: (u64, u64)) -> StackCounts {
    let tables = with_flags(FunctionRecord::FLAG_PADDED);
    let sum = copies.1 + tables * Tables::of_image().mean_bytes();
    StackCounts {
        functions: copies.0 + tables,
        mean_pad_bytes: sum.checked_div(copies.0 + tables).unwrap_or(0),
        refills: REFILLS.load(Ordering::Relaxed),
        room_bytes: pad_reserve::bytes(),
    }
}

/// In a forked child: what was counted was the parent's.
pub fn become_child() {
    os::reset_number(&REFILLS);
    os::remember_process();
}

/// Functions of the program whose frames get pads, by themselves or by their copies.
fn padded_functions() -> u64 {
    with_flags(FunctionRecord::FLAG_PADDED | FunctionRecord::FLAG_RESIZABLE)
}

/// Whether functions of the program get pads from tables.
pub fn has_tables() -> bool {
    with_flags(FunctionRecord::FLAG_PADDED) > 0
}

/// Whether functions of the program get pads from their copies, if it has some.
pub fn has_resizable_frames() -> bool {
    with_flags(FunctionRecord::FLAG_RESIZABLE) > 0
}

/// A library is there with functions between these addresses: threads that begin from now on, and
/// the main one, have stacks for its frames, too.
pub fn expect_frames_of(functions: usize, functions_end: usize) {
    let bytes = functions_end.saturating_sub(functions);
    if bytes == 0 {
        return;
    }
    // SAFETY: the linker's bounds of a section that is loaded and that nobody writes.
    let records = unsafe { core::slice::from_raw_parts(functions as *const u8, bytes) };
    if growth::raise_to(growth_of(records)) {
        pad_reserve::growth_reserve_was_raised();
    }
    let bounds = count(records, FunctionRecord::FLAG_BOUNDS_STACK) > 0;
    if bounds && MAY_NARROW.swap(false, Ordering::Relaxed) {
        pad_reserve::narrow(NARROWED_BYTES.load(Ordering::Relaxed));
        threads::start(in_bytes(Reserves::OF_BOUNDED_STACKS.thread));
    }
}

/// The program's records.
fn records() -> &'static [u8] {
    let sections = sections();
    let bytes = sections.functions_end as usize - sections.functions as usize;
    if bytes == 0 {
        return &[];
    }
    // SAFETY: the linker's bounds of a section that is loaded and that nobody writes.
    unsafe { core::slice::from_raw_parts(sections.functions, bytes) }
}

/// What a function of the program takes of the stack for its variables, if that is much. Nothing of
/// it may have been written yet.
fn frame_bytes_of(function: usize) -> usize {
    let first = sections().functions as usize;
    let record =
        records().chunks_exact(FunctionRecord::BYTES).enumerate().find_map(|(at, bytes)| {
            let record = FunctionRecord::read(bytes)?;
            let entry =
                (first + at * FunctionRecord::BYTES).wrapping_add_signed(record.entry as isize);
            (entry == function).then_some(record)
        });
    let Some(record) = record else { return 0 };
    // SAFETY: code generation wrote the record beside the function, whose size it holds.
    let code = unsafe { core::slice::from_raw_parts(function as *const u8, record.size as usize) };
    prologue::frame_bytes(code).min(MAX_MAIN_FRAME_BYTES)
}

/// Number of functions of the program with any of these flags.
fn with_flags(flags: u16) -> u64 {
    count(records(), flags)
}

/// Number of encoded records with any of these flags.
fn count(records: &[u8], flags: u16) -> u64 {
    decode(records).filter(|record| record.flags & flags != 0).count() as u64
}

fn in_bytes(kib: u32) -> usize {
    (kib as usize) << 10
}

/// The pad reserves of a program with these records.
fn default_reserves(records: &[u8]) -> Reserves {
    match count(records, FunctionRecord::FLAG_BOUNDS_STACK) {
        0 => Reserves::DEFAULT,
        _ => Reserves::OF_BOUNDED_STACKS,
    }
}

/// The largest growth of a frame.
fn growth_of(records: &[u8]) -> Growth {
    decode(records).map(|record| record.growth()).max().unwrap_or(Growth::Half)
}

fn decode(records: &[u8]) -> impl Iterator<Item = FunctionRecord> + '_ {
    records.chunks_exact(FunctionRecord::BYTES).filter_map(FunctionRecord::read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_with_a_flag_are_counted_and_others_are_not() {
        let record = |flags| FunctionRecord { entry: 4, size: 9, flags, stay: 0 }.encode();
        let records = [record(1), record(0), record(4), record(2)].concat();
        assert_eq!(count(&records, 3), 2);
        assert_eq!(count(&records, 2), 1);
        assert_eq!(count(&[], 3), 0);
    }

    #[test]
    fn one_frame_that_may_be_larger_is_what_stacks_are_made_for() {
        let record = |flags| FunctionRecord { entry: 4, size: 9, flags, stay: 0 }.encode();
        assert_eq!(growth_of(&[]), Growth::Half);
        assert_eq!(growth_of(&[record(0), record(5), record(6)].concat()), Growth::Half);
        assert_eq!(growth_of(&[record(1), record(6)].concat()), Growth::Twice);
        assert_eq!(growth_of(&[record(10), record(6)].concat()), Growth::Twice);
        assert_eq!(growth_of(&[record(1), record(2), record(6)].concat()), Growth::Tenfold);
    }

    #[test]
    fn a_program_that_bounds_its_stack_has_a_smaller_reserve() {
        let record = |flags| FunctionRecord { entry: 4, size: 9, flags, stay: 0 }.encode();
        let bounds = FunctionRecord::FLAG_BOUNDS_STACK;
        assert_eq!(default_reserves(&[record(1), record(6)].concat()), Reserves::DEFAULT);
        let of_bounded = default_reserves(&[record(1), record(6 | bounds)].concat());
        assert_eq!(of_bounded, Reserves::OF_BOUNDED_STACKS);
    }
}
