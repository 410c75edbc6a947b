//! Mappings of memory: `mmap(2)` and its relatives.

use super::errno::{EINVAL, Errno, check};
use crate::arch::{nr, syscall};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

/// The pages may not be touched.
pub const PROT_NONE: usize = 0;
/// They may be read.
pub const PROT_READ: usize = 1;
/// They may be written.
pub const PROT_WRITE: usize = 2;
/// They may be executed.
pub const PROT_EXEC: usize = 4;
/// What is written, other mappings of the object see.
pub const MAP_SHARED: usize = 1;
/// What is written, nobody else sees.
pub const MAP_PRIVATE: usize = 2;
/// Exactly there, in place of what is there.
pub const MAP_FIXED: usize = 0x10;
/// Memory of no file.
pub const MAP_ANONYMOUS: usize = 0x20;
/// The kernel does not set memory aside.
pub const MAP_NORESERVE: usize = 0x4000;
/// Exactly there, if nothing is.
pub const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

/// Bytes of a page; x86-64 has no other base size.
pub const PAGE_BYTES: usize = 4096;

/// `mmap(2)`.
///
/// # Safety
/// With `MAP_FIXED` whatever was mapped there is gone; the caller must own that range.
pub unsafe fn map(
    address: usize,
    bytes: usize,
    protection: usize,
    flags: usize,
    descriptor: i32,
    offset: usize,
) -> Result<*mut u8, Errno> {
    let descriptor = descriptor as isize as usize;
    // SAFETY: the caller's promise covers MAP_FIXED; otherwise the kernel picks unused addresses.
    let result =
        unsafe { syscall(nr::MMAP, [address, bytes, protection, flags, descriptor, offset]) };
    check(result).map(|address| address as *mut u8)
}

/// Private zeroed memory that takes space only where it is touched.
pub fn map_anonymous(bytes: usize) -> Result<*mut u8, Errno> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: without MAP_FIXED nothing existing is touched.
    unsafe { map(0, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) }
}

/// The same, of which the kernel knows that all may be touched: it refuses what it could never
/// provide, as it does where libc asks (`proc(5)`, `overcommit_memory`).
pub fn map_accounted(bytes: usize) -> Result<*mut u8, Errno> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS;
    // SAFETY: without MAP_FIXED nothing existing is touched.
    unsafe { map(0, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) }
}

/// Addresses that are to be used by nobody else.
pub(super) const UNUSED: usize = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Keeps addresses where nothing is from being used, without memory.
pub fn map_inaccessible(bytes: usize) -> Result<*mut u8, Errno> {
    // SAFETY: without MAP_FIXED nothing existing is touched.
    unsafe { map(0, bytes, PROT_NONE, UNUSED, -1, 0) }
}

/// `munmap(2)`.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn unmap(address: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { syscall(nr::MUNMAP, [address as usize, bytes, 0, 0, 0, 0]) };
}

/// `munmap(2)` where it may fail: a part in the middle of an area needs an area more, of which
/// there is a limited number.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn try_unmap(address: *mut u8, bytes: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    check(unsafe { syscall(nr::MUNMAP, [address as usize, bytes, 0, 0, 0, 0]) }).map(drop)
}

/// `mprotect(2)`.
///
/// # Safety
/// Users of the range must agree with the new protection.
pub unsafe fn protect(address: *mut u8, bytes: usize, protection: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    check(unsafe { syscall(nr::MPROTECT, [address as usize, bytes, protection, 0, 0, 0]) })
        .map(drop)
}

/// Leaves a range out of core dumps (`MADV_DONTDUMP`).
pub fn leave_out_of_dumps(address: *mut u8, bytes: usize) {
    let dont_dump = 16;
    // SAFETY: changes only what a core dump holds.
    unsafe { syscall(nr::MADVISE, [address as usize, bytes, dont_dump, 0, 0, 0]) };
}

/// Takes a range into core dumps again that was left out (`MADV_DODUMP`).
pub fn take_into_dumps(address: *mut u8, bytes: usize) {
    let do_dump = 17;
    // SAFETY: changes only what a core dump holds.
    unsafe { syscall(nr::MADVISE, [address as usize, bytes, do_dump, 0, 0, 0]) };
}

/// Keeps a range in pages of the base size (`MADV_NOHUGEPAGE`).
pub fn advise_small_pages(address: *mut u8, bytes: usize) {
    let no_huge_page = 15;
    // SAFETY: changes only how the kernel backs the range; kernels without huge pages refuse.
    unsafe { syscall(nr::MADVISE, [address as usize, bytes, no_huge_page, 0, 0, 0]) };
}

/// Whether all of a range of pages can be read (`MADV_POPULATE_READ`, Linux 5.14). Older kernels do
/// not tell, and then it can.
pub fn is_readable(start: usize, bytes: usize) -> bool {
    let populate_read = 22;
    let own = (&raw const populate_read) as usize & !(PAGE_BYTES - 1);
    let populate = |start, bytes| {
        // SAFETY: changes only which pages are in memory.
        check(unsafe { syscall(nr::MADVISE, [start, bytes, populate_read, 0, 0, 0]) }).is_ok()
    };
    populate(start, bytes) || !populate(own, PAGE_BYTES)
}

/// Whether a range of pages can be written (`MADV_POPULATE_WRITE`, Linux 5.14): a file's pages only
/// while its disk has room for them. Older kernels do not tell, and then it can.
pub fn is_writable(address: *mut u8, bytes: usize) -> bool {
    let populate_write = 23;
    let start = address as usize & !(PAGE_BYTES - 1);
    let bytes = (address as usize + bytes).next_multiple_of(PAGE_BYTES) - start;
    // SAFETY: changes only which pages are in memory.
    let result = check(unsafe { syscall(nr::MADVISE, [start, bytes, populate_write, 0, 0, 0]) });
    !matches!(result, Err(error) if error != EINVAL)
}

/// Gives the memory of a private range back, which reads as zeros afterwards (`MADV_DONTNEED`).
///
/// # Safety
/// Nobody may need what is in the range.
pub unsafe fn release_pages(address: *mut u8, bytes: usize) {
    let dont_need = 4;
    // SAFETY: the caller's promise.
    unsafe { syscall(nr::MADVISE, [address as usize, bytes, dont_need, 0, 0, 0]) };
}

/// Takes the pages of a range out of this process's tables (`MADV_DONTNEED`), so that they no
/// longer count as its memory: they come back, as they were, when they are touched.
///
/// # Safety
/// The range must be mapped shared, or from a file and never written.
pub unsafe fn let_pages_go(address: *mut u8, bytes: usize) {
    // SAFETY: what was written is in the shared object or the file.
    unsafe { release_pages(address, bytes) };
}

/// Gives the memory of a range of a shared object back, which reads as zeros afterwards in all
/// mappings of it (`MADV_REMOVE`).
///
/// # Safety
/// Nobody may need what is in the range.
pub unsafe fn remove_pages(address: *mut u8, bytes: usize) {
    let remove = 9;
    // SAFETY: the caller's promise.
    unsafe { syscall(nr::MADVISE, [address as usize, bytes, remove, 0, 0, 0]) };
}

/// Resizes a private mapping, which may move (`mremap(2)`).
///
/// # Safety
/// The range must be one mapping of the caller's, and nobody may use its old place afterwards.
pub unsafe fn remap(address: *mut u8, old_bytes: usize, bytes: usize) -> Result<*mut u8, Errno> {
    let may_move = 1;
    // SAFETY: the caller's promise.
    let result =
        unsafe { syscall(nr::MREMAP, [address as usize, old_bytes, bytes, may_move, 0, 0]) };
    check(result).map(|address| address as *mut u8)
}

/// Maps the memory of a shared mapping a second time, at `at`, replacing what is mapped there
/// (`mremap(2)`, an old size of 0).
///
/// # Safety
/// The caller must own the range at `at`.
pub unsafe fn double_mapping(address: *mut u8, bytes: usize, at: usize) -> Result<*mut u8, Errno> {
    // SAFETY: the caller's promise.
    unsafe { remap_to(address, 0, bytes, at) }
}

/// `mremap(2)` to `at`, replacing what is mapped there.
///
/// # Safety
/// The caller must own both ranges.
pub unsafe fn remap_to(
    address: *mut u8,
    old_bytes: usize,
    bytes: usize,
    at: usize,
) -> Result<*mut u8, Errno> {
    let may_move_and_fixed = 1 | 2;
    let arguments = [address as usize, old_bytes, bytes, may_move_and_fixed, at, 0];
    // SAFETY: the caller's promise.
    check(unsafe { syscall(nr::MREMAP, arguments) }).map(|address| address as *mut u8)
}

/// Memory that a forked child finds zeroed (`MADV_WIPEONFORK`).
pub fn map_wiped_on_fork(bytes: usize) -> Result<*mut u8, Errno> {
    let memory = map_anonymous(bytes)?;
    let wipe_on_fork = 18;
    // SAFETY: our own mapping of a moment ago, which nobody else knows.
    unsafe {
        check(syscall(nr::MADVISE, [memory as usize, bytes, wipe_on_fork, 0, 0, 0]))
            .inspect_err(|_| unmap(memory, bytes))?;
    }
    Ok(memory)
}

/// `MAP_SHARED` memory that a parent and its forked child both see.
pub fn map_shared(bytes: usize) -> Result<*mut u8, Errno> {
    // SAFETY: without MAP_FIXED nothing existing is touched.
    unsafe { map(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) }
}

/// End of the heap that `brk(2)` manages.
pub fn heap_end() -> usize {
    // SAFETY: 0 changes nothing.
    unsafe { syscall(nr::BRK, [0; 6]).cast_unsigned() }
}

/// Makes a number 0. In a forked child most pages are its parent's until it writes there, and a
/// page of its own takes longer than all else: so only what is another number is written.
pub fn reset_number(number: &AtomicU64) {
    if number.load(Ordering::Relaxed) != 0 {
        number.store(0, Ordering::Relaxed);
    }
}

/// A null pointer of any type.
pub const fn null<T>() -> *mut T {
    null_mut()
}
