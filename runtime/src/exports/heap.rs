//! The names of malloc's family. No logic.
//!
//! They have a prefix here, which the driver takes off in programs that asked for a randomized
//! heap; the definitions are then weak, so that a program's own malloc wins. C++'s `new` and
//! `delete` come here by way of the C++ library.

use crate::arch::{self, WeakSymbol};
use crate::{maintenance, next};
use core::arch::global_asm;
use core::ffi::c_int;
use szc_heap::{Linkage, api};

// Two functions get a second, local name, which the driver does not know: by it the runtime finds
// out whether the program's `malloc` is this one.
global_asm!(
    ".text",
    ".globl szc_rt_heap_malloc",
    ".type szc_rt_heap_malloc, @function",
    ".p2align 4",
    "szc_rt_heap_malloc:",
    ".Lszc_own_malloc:",
    ".cfi_startproc",
    "jmp {malloc}",
    ".cfi_endproc",
    ".size szc_rt_heap_malloc, . - szc_rt_heap_malloc",
    ".globl szc_rt_heap_free_aligned_sized",
    ".type szc_rt_heap_free_aligned_sized, @function",
    ".p2align 4",
    "szc_rt_heap_free_aligned_sized:",
    ".Lszc_own_free_aligned_sized:",
    ".cfi_startproc",
    "jmp {free}",
    ".cfi_endproc",
    ".size szc_rt_heap_free_aligned_sized, . - szc_rt_heap_free_aligned_sized",
    ".section .data.rel.ro.szc_rt_own, \"aw\", @progbits",
    ".p2align 3",
    ".globl szc_rt_own_allocator",
    ".hidden szc_rt_own_allocator",
    "szc_rt_own_allocator:",
    ".quad .Lszc_own_malloc",
    ".quad .Lszc_own_free_aligned_sized",
    ".text",
    malloc = sym malloc,
    free = sym free_aligned_sized,
);

unsafe extern "C" {
    static szc_rt_own_allocator: [usize; 2];
}

/// What became of these names in the link.
pub fn linkage() -> Linkage {
    // SAFETY: constants that the loader filled in before any code of the image ran.
    let [own_malloc, own_other] = unsafe { szc_rt_own_allocator };
    let is_linked = arch::weak_symbol(WeakSymbol::FreeAlignedSized) == own_other;
    let is_own_malloc = arch::weak_symbol(WeakSymbol::Malloc) == own_malloc;
    Linkage { is_linked, is_own_malloc, is_hidden: is_linked && is_own_malloc && are_hidden() }
}

/// Whether libraries find other definitions of these names, or none.
fn are_hidden() -> bool {
    let hidden = |name, symbol| next::is_hidden(name, arch::weak_symbol(symbol));
    hidden(c"malloc", WeakSymbol::Malloc) || hidden(c"realloc", WeakSymbol::Realloc)
}

extern "C" fn malloc(bytes: usize) -> *mut u8 {
    api::malloc(bytes)
}

unsafe extern "C" fn free_aligned_sized(pointer: *mut u8, _alignment: usize, _bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { api::free(pointer) }
}

/// free(3).
///
/// # Safety
/// As the manual page says; likewise below.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_free(pointer: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { api::free(pointer) }
}

/// cfree(3), which glibc had up to 2.25.
///
/// # Safety
/// As free(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_cfree(pointer: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { api::free(pointer) }
}

/// free_sized of C23.
///
/// # Safety
/// As free(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_free_sized(pointer: *mut u8, _bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { api::free(pointer) }
}

/// calloc(3).
#[unsafe(no_mangle)]
extern "C" fn szc_rt_heap_calloc(count: usize, bytes: usize) -> *mut u8 {
    maintenance::look_whether_due();
    api::calloc(count, bytes)
}

/// realloc(3).
///
/// # Safety
/// As realloc(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_realloc(pointer: *mut u8, bytes: usize) -> *mut u8 {
    maintenance::look_whether_due();
    // SAFETY: the caller's promise.
    unsafe { api::realloc(pointer, bytes) }
}

/// reallocarray(3).
///
/// # Safety
/// As reallocarray(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_reallocarray(
    pointer: *mut u8,
    count: usize,
    bytes: usize,
) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe { api::reallocarray(pointer, count, bytes) }
}

/// aligned_alloc(3), which is memalign(3) in glibc 2.36.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_heap_aligned_alloc(alignment: usize, bytes: usize) -> *mut u8 {
    api::aligned_alloc(alignment, bytes)
}

/// memalign(3).
#[unsafe(no_mangle)]
extern "C" fn szc_rt_heap_memalign(alignment: usize, bytes: usize) -> *mut u8 {
    api::memalign(alignment, bytes)
}

/// posix_memalign(3).
///
/// # Safety
/// As posix_memalign(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_posix_memalign(
    result: *mut *mut u8,
    alignment: usize,
    bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { api::posix_memalign(result, alignment, bytes) }
}

/// valloc(3).
#[unsafe(no_mangle)]
extern "C" fn szc_rt_heap_valloc(bytes: usize) -> *mut u8 {
    api::valloc(bytes)
}

/// pvalloc(3).
#[unsafe(no_mangle)]
extern "C" fn szc_rt_heap_pvalloc(bytes: usize) -> *mut u8 {
    api::pvalloc(bytes)
}

/// malloc_usable_size(3).
///
/// # Safety
/// As malloc_usable_size(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_heap_malloc_usable_size(pointer: *mut u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { api::usable_size(pointer) }
}
