//! What the functions of malloc's family do: sizes, alignments and errors as in glibc 2.36 and
//! POSIX.

use super::chunk::{self, STATE_ALIGNED};
use super::draws::LARGE_UNIT;
use super::large::{Freed, LARGE};
use super::random::Random;
use super::server::{Server, heap_grew, own_heap, server, with_any_heap};
use super::size_class::{GRAIN_BYTES, SMALL_MAX_BYTES, block_bytes, class_of};
use super::thread::ThreadHeap;
use super::{boot, fallback, map, refusal, sites};
use core::ffi::c_int;
use core::sync::atomic::Ordering;
use szc_sys::os::{self, PAGE_BYTES};
use szc_sys::{arch, errno};

const ENOMEM: c_int = 12;
const EINVAL: c_int = 22;
/// Alignment of all blocks: that of `max_align_t`.
const ALIGNMENT: usize = 16;
/// `PTRDIFF_MAX`: larger blocks do not exist.
const MAX_BYTES: usize = isize::MAX as usize;

/// Null, with errno set.
#[cold]
fn no_memory() -> *mut u8 {
    errno::set(ENOMEM);
    os::null()
}

/// malloc(3).
#[inline]
pub fn malloc(bytes: usize) -> *mut u8 {
    if bytes <= SMALL_MAX_BYTES
        && let Some(heap) = own_heap()
    {
        let block = heap.allocate(class_of(bytes), heap_grew);
        return if block.is_null() { no_memory() } else { block };
    }
    malloc_slowly(bytes)
}

#[cold]
#[inline(never)]
fn malloc_slowly(bytes: usize) -> *mut u8 {
    if server() == Server::Fallback {
        return fallback::malloc(bytes);
    }
    note_large(bytes, arch::pads::stack_pointer());
    let (block, _) = aligned(ALIGNMENT, bytes);
    if block.is_null() { no_memory() } else { block }
}

/// Counts a request for a large block, if such requests are.
fn note_large(bytes: usize, stack: usize) {
    if bytes > SMALL_MAX_BYTES {
        // SAFETY: of a function that the program called, or one that such a function called.
        unsafe { sites::note(LARGE_UNIT, stack) };
    }
}

/// A block of the heap, or of the arena before start, at a multiple of `alignment` (a power of
/// two); null if there is none. And whether it is all zeros.
fn aligned(alignment: usize, bytes: usize) -> (*mut u8, bool) {
    let none = (os::null(), false);
    if bytes > MAX_BYTES || alignment > MAX_BYTES {
        return none;
    }
    if server() == Server::Boot {
        if let Some(block) = boot::allocate(bytes, alignment) {
            return (block, true);
        }
        let mut random = Random::new(os::monotonic_ns());
        return LARGE.allocate(bytes, alignment, &mut random).unwrap_or(none);
    }
    let from_heap = |heap: &ThreadHeap| {
        let room = bytes + if alignment > ALIGNMENT { alignment } else { 0 };
        if room <= SMALL_MAX_BYTES {
            return (small(heap, alignment, room), false);
        }
        let found = heap.with_random(LARGE_UNIT, |random| LARGE.allocate(bytes, alignment, random));
        if found.is_some() {
            heap.count_large();
        }
        found.unwrap_or(none)
    };
    with_any_heap(from_heap).unwrap_or(none)
}

fn small(heap: &ThreadHeap, alignment: usize, room: usize) -> *mut u8 {
    let class = class_of(room);
    let block = heap.allocate(class, heap_grew);
    let distance = block.addr().next_multiple_of(alignment) - block.addr();
    if block.is_null() || distance == 0 {
        return block;
    }
    // SAFETY: the room is the request and the alignment, so the pointer lies in the block; it is in
    // another grain, because alignments that blocks do not have by themselves are those of grains
    // and more.
    unsafe {
        let pointer = block.add(distance);
        chunk::hold_inside(block, pointer, class);
        pointer
    }
}

/// free(3).
///
/// # Safety
/// As free(3); pointers that are not the program's to free end it.
#[inline]
pub unsafe fn free(pointer: *mut u8) {
    if map::is_chunk(pointer.addr())
        && let Some(heap) = own_heap()
    {
        // SAFETY: the pointer lies in a chunk.
        unsafe { heap.free(pointer) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { free_slowly(pointer) };
    }
}

#[cold]
#[inline(never)]
unsafe fn free_slowly(pointer: *mut u8) {
    // SAFETY: the caller's promise, in both.
    unsafe { if is_fallback(pointer) { fallback::free(pointer) } else { free_elsewhere(pointer) } }
}

/// Whether a pointer of the program's, or null, is the fallback allocator's: that serves, and the
/// few blocks from before the start lie in the arena. Programs whose heap is switched off ask at
/// each call.
fn is_fallback(pointer: *mut u8) -> bool {
    server() == Server::Fallback && !boot::contains(pointer) && !LARGE.has_any()
}

/// Frees a block that is not in this thread's reach at once.
#[inline(never)]
unsafe fn free_elsewhere(pointer: *mut u8) {
    if pointer.is_null() || boot::contains(pointer) {
        return;
    }
    if map::is_chunk(pointer.addr()) {
        // SAFETY: the pointer lies in a chunk. Without memory for a heap the block is lost.
        with_any_heap(|heap| unsafe { heap.free(pointer) });
        return;
    }
    if LARGE.has_any() {
        match LARGE.free(pointer) {
            Freed::Now => {
                with_any_heap(ThreadHeap::count_large_free);
                return;
            }
            Freed::Before => refusal::refuse_freed(pointer),
            Freed::Unknown => {}
        }
    }
    if server() == Server::Fallback {
        // SAFETY: the caller's promise.
        unsafe { fallback::free(pointer) };
        return;
    }
    refusal::refuse_foreign(pointer)
}

/// calloc(3).
pub fn calloc(count: usize, bytes: usize) -> *mut u8 {
    let Some(total) = count.checked_mul(bytes) else { return no_memory() };
    if server() == Server::Fallback {
        return fallback::calloc(count, bytes);
    }
    if total <= SMALL_MAX_BYTES {
        let block = malloc(total);
        if !block.is_null() {
            // SAFETY: the block has room for as many bytes, and whole grains.
            unsafe { arch::zero_grains(block, total.div_ceil(GRAIN_BYTES).max(1)) };
        }
        return block;
    }
    note_large(total, arch::pads::stack_pointer());
    let (block, zeroed) = aligned(ALIGNMENT, total);
    if block.is_null() {
        return no_memory();
    }
    if !zeroed {
        // SAFETY: the block has room for as many bytes.
        unsafe { arch::fill_bytes(block, 0, total) };
    }
    block
}

/// realloc(3).
///
/// # Safety
/// As realloc(3).
pub unsafe fn realloc(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        return malloc(bytes);
    }
    // SAFETY: the caller's promise, in all that follows.
    unsafe {
        if is_fallback(pointer) {
            return fallback::realloc(pointer, bytes);
        }
        let Some(usable) = own_usable(pointer) else {
            if server() == Server::Fallback {
                return fallback::realloc(pointer, bytes);
            }
            refusal::refuse(pointer)
        };
        if bytes == 0 {
            free(pointer);
            return os::null();
        }
        if bytes > MAX_BYTES {
            return no_memory();
        }
        let is_large = !map::is_chunk(pointer.addr()) && !boot::contains(pointer);
        if !is_large {
            // What fits and uses at least half stays where it is.
            if bytes <= usable && (bytes >= usable / 2 || usable <= GRAIN_BYTES) {
                return pointer;
            }
        } else if bytes > SMALL_MAX_BYTES {
            let resized = with_any_heap(|heap| {
                heap.with_random(LARGE_UNIT, |random| LARGE.resize(pointer, bytes, random))
            });
            let alone = || LARGE.resize(pointer, bytes, &mut Random::new(os::monotonic_ns()));
            if let Some(resized) = resized.unwrap_or_else(alone) {
                return resized;
            }
            if bytes <= usable {
                return pointer;
            }
        }
        let moved = malloc(bytes);
        if moved.is_null() {
            // glibc never fails to make a block smaller.
            return if bytes <= usable { pointer } else { moved };
        }
        // Blocks consist of whole words.
        arch::copy_words(moved, pointer, usable.min(bytes));
        free(pointer);
        moved
    }
}

/// reallocarray(3).
///
/// # Safety
/// As reallocarray(3).
pub unsafe fn reallocarray(pointer: *mut u8, count: usize, bytes: usize) -> *mut u8 {
    match count.checked_mul(bytes) {
        // SAFETY: the caller's promise.
        Some(total) => unsafe { fallback::current_realloc(pointer, total) },
        None => no_memory(),
    }
}

/// memalign(3). glibc rounds alignments up to a power of two.
pub fn memalign(alignment: usize, bytes: usize) -> *mut u8 {
    if server() == Server::Fallback {
        return fallback::memalign(alignment, bytes);
    }
    if alignment <= ALIGNMENT {
        return malloc(bytes);
    }
    let Some(alignment) = alignment.checked_next_power_of_two() else {
        errno::set(EINVAL);
        return os::null();
    };
    let (block, _) = aligned(alignment, bytes);
    if block.is_null() { no_memory() } else { block }
}

/// aligned_alloc(3), which is memalign(3) in glibc 2.36.
pub fn aligned_alloc(alignment: usize, bytes: usize) -> *mut u8 {
    let in_front =
        if server() == Server::Fallback { fallback::aligned_alloc(alignment, bytes) } else { None };
    in_front.unwrap_or_else(|| memalign(alignment, bytes))
}

/// posix_memalign(3): an error number, or 0.
///
/// # Safety
/// The result must be valid for writing.
pub unsafe fn posix_memalign(result: *mut *mut u8, alignment: usize, bytes: usize) -> c_int {
    if server() == Server::Fallback
        // SAFETY: the caller's promise.
        && let Some(found) = unsafe { fallback::posix_memalign(result, alignment, bytes) }
    {
        return found;
    }
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let block = memalign(alignment, bytes);
    if block.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller's promise.
    unsafe { *result = block };
    0
}

/// valloc(3).
pub fn valloc(bytes: usize) -> *mut u8 {
    let in_front = if server() == Server::Fallback { fallback::valloc(bytes) } else { None };
    in_front.unwrap_or_else(|| memalign(PAGE_BYTES, bytes))
}

/// pvalloc(3): whole pages.
pub fn pvalloc(bytes: usize) -> *mut u8 {
    if server() == Server::Fallback
        && let Some(found) = fallback::pvalloc(bytes)
    {
        return found;
    }
    match bytes.checked_next_multiple_of(PAGE_BYTES) {
        Some(bytes) => memalign(PAGE_BYTES, bytes),
        None => no_memory(),
    }
}

/// malloc_usable_size(3).
///
/// # Safety
/// As malloc_usable_size(3).
pub unsafe fn usable_size(pointer: *mut u8) -> usize {
    if pointer.is_null() {
        return 0;
    }
    // SAFETY: the caller's promise, in all that follows.
    unsafe {
        if is_fallback(pointer) {
            return fallback::usable_size(pointer);
        }
        match own_usable(pointer) {
            Some(bytes) => bytes,
            None if server() == Server::Fallback => fallback::usable_size(pointer),
            None => refusal::refuse(pointer),
        }
    }
}

/// Bytes that a block of the heap or the arena may use; nothing if the pointer is in neither.
///
/// # Safety
/// As malloc_usable_size(3); a pointer into a chunk that is not the program's ends it.
unsafe fn own_usable(pointer: *mut u8) -> Option<usize> {
    // SAFETY: the caller's promise, and what the map says.
    unsafe {
        if map::is_chunk(pointer.addr()) {
            let state = chunk::state(pointer).load(Ordering::Relaxed);
            let class = usize::from((state & !STATE_ALIGNED).wrapping_sub(1));
            let phase = if state & STATE_ALIGNED == 0 { refusal::block_phase() } else { 0 };
            if class >= super::size_class::CLASSES || pointer.addr() % GRAIN_BYTES != phase {
                refusal::refuse(pointer);
            }
            let inside = if state & STATE_ALIGNED == 0 {
                0
            } else {
                pointer.addr() - chunk::holder_of(pointer, refusal::block_phase()).addr()
            };
            return Some(block_bytes(class) - inside);
        }
        if boot::contains(pointer) {
            return Some(boot::bytes(pointer));
        }
        if LARGE.has_any() { LARGE.usable(pointer) } else { None }
    }
}
