//! Profiles of subpaths: one for each thread, in memory of its own, which its blocks write to
//! without a lock, and the file that they go to when the program ends. Before that they can be read
//! from outside.
//!
//! A forked child finds the memory wiped, and begins anew. What a signal's handler executes while
//! its thread writes to the profile is not counted.

use crate::arch;
use crate::os::{self, Errno, File};
use core::ffi::CStr;
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};
use szc_paths::live::{DIRECTORY_MAGIC, DIRECTORY_WORDS, MAX_THREADS, PROFILES_WORD, WORDS_AT};
use szc_paths::{FileHeader, MAX_PATH_BYTES, Shape, begin, block, check, has_begun};
use szc_sys::once::Once;

/// The countdown of a thread without a profile, which never asks again.
const NEVER: usize = usize::MAX >> 1;

/// What profiles are to be like; set at start, if there are to be any.
static WANTED: Once<Wanted> = Once::new();

struct Wanted {
    shape: Shape,
    seed: u64,
    /// Path of the program, which may be gone at its end.
    program: [u8; MAX_PATH_BYTES],
    program_bytes: usize,
}

/// The profiles of all threads, in the order in which they came.
static PROFILES: [AtomicPtr<Profile>; MAX_THREADS] =
    [const { AtomicPtr::new(os::null()) }; MAX_THREADS];

/// Threads that came, with and without a profile.
static THREADS: AtomicU32 = AtomicU32::new(0);

/// What lies in front of a profile's words. All zero bits in a forked child, and at first.
#[repr(C)]
struct Profile {
    /// Twice as many as there were notes; odd while the thread takes one.
    writes: AtomicU32,
}

/// What leads to the profiles from outside of the process.
#[repr(C)]
struct Directory {
    _magic: [u64; 2],
    profiles: AtomicUsize,
}

const _: () = assert!(
    size_of::<Directory>() == DIRECTORY_WORDS * 8
        && offset_of!(Directory, profiles) == PROFILES_WORD * 8
        && size_of::<Profile>() <= WORDS_AT
);

// Used: nothing in here reads its first bytes.
#[used]
static DIRECTORY: Directory = Directory { _magic: DIRECTORY_MAGIC, profiles: AtomicUsize::new(0) };

/// From now on threads get profiles; says whether there can be such profiles. The program's one
/// thread calls.
pub fn start(shape: Shape, seed: u64) -> bool {
    let mut program = [0; MAX_PATH_BYTES];
    let found = os::read_link(c"/proc/self/exe", &mut program).map(<[u8]>::len);
    WANTED.set(Wanted { shape, seed, program, program_bytes: found.unwrap_or_default() });
    DIRECTORY.profiles.store(PROFILES.as_ptr() as usize, Ordering::Release);
    // What ran before may have been told that there are none.
    set_countdown(0);
    let profile = WANTED.get().and_then(attach);
    profile.is_some_and(|profile| {
        // SAFETY: the profile was made a moment ago.
        unsafe { begin(words(profile, shape.words), shape, seed) }.is_ok()
    })
}

/// A block is executed that is known by this address.
pub fn note_block(address: usize) {
    note(|words| block(words, address.wrapping_sub(arch::image_base()) as u32));
}

/// A check is executed.
pub fn note_check() {
    note(check);
}

/// Code that tells is to run until a check if this is 0, and else clean code until the check of
/// that number.
fn set_countdown(checks: u32) {
    arch::set_path_countdown((checks as usize).wrapping_sub(1));
}

/// Takes note of something in the thread's profile, which answers how long clean code is to run.
fn note(take: impl FnOnce(&mut [u32]) -> u32) {
    let profile = WANTED.get().and_then(|wanted| {
        let known = arch::paths_slot() as *mut Profile;
        let profile = if known.is_null() { attach(wanted) } else { Some(known) };
        profile.map(|profile| (wanted, profile))
    });
    let Some((wanted, profile)) = profile else {
        return arch::set_path_countdown(NEVER);
    };
    // SAFETY: a profile stays mapped.
    let writes = unsafe { &(*profile).writes };
    let before = writes.load(Ordering::Relaxed);
    if before % 2 != 0 {
        // In a signal's handler. The countdown stays: what it interrupted will set it.
        return;
    }
    writes.store(before.wrapping_add(1), Ordering::Relaxed);
    // Only this thread and its signals' handlers write the words while it lives. Who reads them
    // from outside looks for the same even number before and after.
    fence(Ordering::Release);
    // SAFETY: the thread's own profile, which nobody else is writing to.
    let words = unsafe { words(profile, wanted.shape.words) };
    if !has_begun(words) {
        let seed = wanted.seed ^ u64::from(os::process_id()) << 32 ^ profile as u64;
        let _ = begin(words, wanted.shape, seed);
    }
    set_countdown(if has_begun(words) { take(words) } else { 0 });
    writes.store(before.wrapping_add(2), Ordering::Release);
}

/// Gives the calling thread a profile, if there is memory for it.
#[cold]
fn attach(wanted: &Wanted) -> Option<*mut Profile> {
    let number = THREADS.fetch_add(1, Ordering::Relaxed) as usize;
    let place = PROFILES.get(number)?;
    let bytes = WORDS_AT + wanted.shape.words * size_of::<u32>();
    let profile = os::map_wiped_on_fork(bytes).ok()?.cast();
    // Release: who finds it finds it zeroed.
    place.store(profile, Ordering::Release);
    arch::set_paths_slot(profile as usize);
    Some(profile)
}

/// The words of a profile.
///
/// # Safety
/// There are so many, and nobody else writes there.
unsafe fn words<'a>(profile: *mut Profile, count: usize) -> &'a mut [u32] {
    // SAFETY: the caller's promise; WORDS_AT is a multiple of the alignment.
    unsafe { core::slice::from_raw_parts_mut(profile.byte_add(WORDS_AT).cast(), count) }
}

/// Writes the profiles of all threads to a file. Threads that still run may be in the middle of one
/// of theirs, which readers notice or which says a little less.
///
/// # Errors
/// The file takes no more.
pub fn write(path: &CStr, process: u32) -> Result<(), Errno> {
    let Some(wanted) = WANTED.get() else { return Ok(()) };
    let program = wanted.program.get(..wanted.program_bytes).unwrap_or_default();
    let threads = THREADS.load(Ordering::Relaxed);
    let mut header = FileHeader {
        process,
        words: wanted.shape.words as u32,
        unprofiled: threads,
        path_bytes: program.len() as u32,
        ..FileHeader::default()
    };
    for profile in profiles() {
        // SAFETY: a profile stays mapped.
        header.abandoned += unsafe { (*profile).writes.load(Ordering::Relaxed) } % 2;
        header.profiles += 1;
    }
    header.unprofiled -= header.profiles;
    let file = File::open(path, os::OPEN_APPEND)?;
    file.write(bytes_of(&header.words()))?;
    file.write(program)?;
    file.write(&[0; 3][..program.len().next_multiple_of(4) - program.len()])?;
    for profile in profiles() {
        let bytes = wanted.shape.words * size_of::<u32>();
        // SAFETY: a profile stays mapped. Its thread may write to it meanwhile; but nothing here
        // depends on the bytes, which go to the kernel.
        let bytes =
            unsafe { core::slice::from_raw_parts(profile.byte_add(WORDS_AT).cast(), bytes) };
        file.write(bytes)?;
    }
    Ok(())
}

fn profiles() -> impl Iterator<Item = *mut Profile> {
    // Acquire: pairs with the release in `attach`.
    let all = PROFILES.iter().map(|place| place.load(Ordering::Acquire));
    all.filter(|profile| !profile.is_null())
}

/// Words as they lie in memory.
fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: any word is four bytes.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}
