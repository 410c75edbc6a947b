//! The allocator that the program has without szc: where heap randomization is switched off, or another
//! malloc was linked in, requests go there.

use crate::arch::{self, WeakSymbol};
use crate::next::Next;
use crate::os;
use core::ffi::c_void;

/// Whether there is one. Static programs whose malloc is the runtime's have none.
pub fn exists() -> bool {
    let all = [
        WeakSymbol::LibcMalloc,
        WeakSymbol::LibcFree,
        WeakSymbol::LibcCalloc,
        WeakSymbol::LibcRealloc,
        WeakSymbol::LibcMemalign,
    ];
    all.into_iter().all(|symbol| arch::weak_symbol(symbol) != 0)
}

/// Whether the program's malloc is the C library's: in a static program, whose C library's object was linked in for
/// another of its functions.
pub fn is_linked_in() -> bool {
    let malloc = arch::weak_symbol(WeakSymbol::LibcMalloc);
    malloc != 0 && malloc == arch::weak_symbol(WeakSymbol::Malloc)
}

/// malloc(3) of the C library.
pub fn malloc(bytes: usize) -> *mut u8 {
    let address = arch::weak_symbol(WeakSymbol::LibcMalloc);
    // SAFETY: `exists` was true: the address is that of a function of this type.
    unsafe {
        let malloc: unsafe extern "C" fn(usize) -> *mut u8 = core::mem::transmute(address);
        malloc(bytes)
    }
}

/// calloc(3) of the C library.
pub fn calloc(count: usize, bytes: usize) -> *mut u8 {
    let address = arch::weak_symbol(WeakSymbol::LibcCalloc);
    // SAFETY: as in `malloc`.
    unsafe {
        let calloc: unsafe extern "C" fn(usize, usize) -> *mut u8 = core::mem::transmute(address);
        calloc(count, bytes)
    }
}

/// memalign(3) of the C library.
pub fn memalign(alignment: usize, bytes: usize) -> *mut u8 {
    let address = arch::weak_symbol(WeakSymbol::LibcMemalign);
    // SAFETY: as in `malloc`.
    unsafe {
        let memalign: unsafe extern "C" fn(usize, usize) -> *mut u8 = core::mem::transmute(address);
        memalign(alignment, bytes)
    }
}

/// free(3) of the C library.
///
/// # Safety
/// As free(3).
pub unsafe fn free(pointer: *mut u8) {
    let address = arch::weak_symbol(WeakSymbol::LibcFree);
    // SAFETY: as in `malloc`, and the caller's promise.
    unsafe {
        let free: unsafe extern "C" fn(*mut u8) = core::mem::transmute(address);
        free(pointer);
    }
}

/// realloc(3) of the C library.
///
/// # Safety
/// As realloc(3).
pub unsafe fn realloc(pointer: *mut u8, bytes: usize) -> *mut u8 {
    let address = arch::weak_symbol(WeakSymbol::LibcRealloc);
    // SAFETY: as in `malloc`, and the caller's promise.
    unsafe {
        let realloc: unsafe extern "C" fn(*mut u8, usize) -> *mut u8 =
            core::mem::transmute(address);
        realloc(pointer, bytes)
    }
}

/// realloc(3) of whoever has the name: where the program brings its own, reallocarray(3) uses that.
///
/// # Safety
/// As realloc(3).
pub unsafe fn current_realloc(pointer: *mut u8, bytes: usize) -> *mut u8 {
    let address = arch::weak_symbol(WeakSymbol::Realloc);
    if address == 0 {
        return os::null();
    }
    // SAFETY: the address is that of realloc(3), and the caller's promise.
    unsafe {
        let realloc: unsafe extern "C" fn(*mut u8, usize) -> *mut u8 =
            core::mem::transmute(address);
        realloc(pointer, bytes)
    }
}

/// malloc_usable_size(3) of the C library.
///
/// # Safety
/// As malloc_usable_size(3).
pub unsafe fn usable_size(pointer: *mut u8) -> usize {
    static NEXT: Next = Next::new(c"malloc_usable_size");
    match NEXT.get() {
        // SAFETY: the next definition has this type.
        Some(address) => unsafe {
            let usable: unsafe extern "C" fn(*mut c_void) -> usize = core::mem::transmute(address);
            usable(pointer.cast())
        },
        // A static program: glibc's word in front of a block holds its size and three flags, of which the second
        // says that the block was mapped on its own and has two such words.
        // SAFETY: the block is glibc's.
        None if !pointer.is_null() => unsafe {
            let word = pointer.sub(size_of::<usize>()).cast::<usize>().read();
            (word & !7) - if word & 2 != 0 { 16 } else { 8 }
        },
        None => 0,
    }
}
