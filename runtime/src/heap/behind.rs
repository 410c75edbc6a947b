//! The allocator that the program has without szc: where heap randomization is switched off, or
//! another malloc was linked in, requests go there. It is the C library's, or that of a library in
//! front of it (`-ljemalloc`, `LD_PRELOAD`).

use crate::arch::{self, WeakSymbol};
use crate::next::{next_symbol, symbol_in};
use crate::os;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A function of the allocator: its name, the C library's own name for it where that is used, and
/// where it is.
struct Function {
    name: &'static CStr,
    libcs: Option<WeakSymbol>,
    /// Its address in a library in front of the C library; 0 where there is none.
    in_front: AtomicUsize,
}

static MALLOC: Function = Function::new(c"malloc", WeakSymbol::LibcMalloc);
static FREE: Function = Function::new(c"free", WeakSymbol::LibcFree);
static CALLOC: Function = Function::new(c"calloc", WeakSymbol::LibcCalloc);
static REALLOC: Function = Function::new(c"realloc", WeakSymbol::LibcRealloc);
static MEMALIGN: Function = Function::new(c"memalign", WeakSymbol::LibcMemalign);
// Of the C library these do what memalign(3) does; a library in front of it may define any of them
// without that.
static POSIX_MEMALIGN: Function = Function::in_front(c"posix_memalign");
static ALIGNED_ALLOC: Function = Function::in_front(c"aligned_alloc");
static VALLOC: Function = Function::in_front(c"valloc");
static PVALLOC: Function = Function::in_front(c"pvalloc");

/// File name of glibc.
const LIBC: &CStr = c"libc.so.6";

impl Function {
    const fn new(name: &'static CStr, libcs: WeakSymbol) -> Self {
        Self { name, libcs: Some(libcs), in_front: AtomicUsize::new(0) }
    }

    const fn in_front(name: &'static CStr) -> Self {
        Self { name, libcs: None, in_front: AtomicUsize::new(0) }
    }

    fn address(&self) -> usize {
        match (self.in_front.load(Ordering::Relaxed), self.libcs) {
            (0, Some(libcs)) => arch::weak_symbol(libcs),
            (address, _) => address,
        }
    }
}

/// Whether there is one. Static programs whose malloc is the runtime's have none.
pub fn exists() -> bool {
    [&MALLOC, &FREE, &CALLOC, &REALLOC, &MEMALIGN].iter().all(|function| function.address() != 0)
}

/// Whether the program's malloc is the C library's: in a static program, whose C library's object
/// was linked in for another of its functions.
pub fn is_linked_in() -> bool {
    let malloc = arch::weak_symbol(WeakSymbol::LibcMalloc);
    malloc != 0 && malloc == arch::weak_symbol(WeakSymbol::Malloc)
}

/// Looks for a library with an allocator in front of the C library, which serves from now on if
/// there is one: each function by the next definition of its name, as without szc; aligned requests
/// by whatever of their names the library defines. Whether there is.
pub fn finds_a_library() -> bool {
    let next = next_symbol(MALLOC.name);
    if next == 0 || next == arch::weak_symbol(WeakSymbol::LibcMalloc) {
        return false;
    }
    let of_requests = [&MALLOC, &FREE, &CALLOC, &REALLOC, &MEMALIGN];
    let aligned = [&POSIX_MEMALIGN, &ALIGNED_ALLOC, &VALLOC, &PVALLOC];
    for function in of_requests {
        function.in_front.store(next_symbol(function.name), Ordering::Relaxed);
    }
    for function in aligned {
        // The C library's own would take from its heap what the library is to free; without that,
        // the library's memalign serves.
        let next = next_symbol(function.name);
        if next != symbol_in(LIBC, function.name) {
            function.in_front.store(next, Ordering::Relaxed);
        }
    }
    true
}

/// malloc(3) of that allocator.
pub fn malloc(bytes: usize) -> *mut u8 {
    let address = MALLOC.address();
    // SAFETY: `exists` was true: the address is that of a function of this type.
    unsafe {
        let malloc: unsafe extern "C" fn(usize) -> *mut u8 = core::mem::transmute(address);
        malloc(bytes)
    }
}

/// calloc(3) of that allocator.
pub fn calloc(count: usize, bytes: usize) -> *mut u8 {
    let address = CALLOC.address();
    // SAFETY: as in `malloc`.
    unsafe {
        let calloc: unsafe extern "C" fn(usize, usize) -> *mut u8 = core::mem::transmute(address);
        calloc(count, bytes)
    }
}

/// memalign(3) of that allocator.
pub fn memalign(alignment: usize, bytes: usize) -> *mut u8 {
    let address = MEMALIGN.address();
    // SAFETY: as in `malloc`.
    unsafe {
        let memalign: unsafe extern "C" fn(usize, usize) -> *mut u8 = core::mem::transmute(address);
        memalign(alignment, bytes)
    }
}

/// posix_memalign(3) of a library in front of the C library; nothing if there is none.
///
/// # Safety
/// As posix_memalign(3).
pub unsafe fn posix_memalign(
    result: *mut *mut u8,
    alignment: usize,
    bytes: usize,
) -> Option<c_int> {
    let address = POSIX_MEMALIGN.address();
    // SAFETY: the next definition has this type, and the caller's promise.
    (address != 0).then(|| unsafe {
        let function: unsafe extern "C" fn(*mut *mut u8, usize, usize) -> c_int =
            core::mem::transmute(address);
        function(result, alignment, bytes)
    })
}

/// aligned_alloc(3) of a library in front of the C library; nothing if there is none.
pub fn aligned_alloc(alignment: usize, bytes: usize) -> Option<*mut u8> {
    let address = ALIGNED_ALLOC.address();
    // SAFETY: the next definition has this type.
    (address != 0).then(|| unsafe {
        let function: unsafe extern "C" fn(usize, usize) -> *mut u8 = core::mem::transmute(address);
        function(alignment, bytes)
    })
}

/// valloc(3) of a library in front of the C library; nothing if there is none.
pub fn valloc(bytes: usize) -> Option<*mut u8> {
    in_pages(&VALLOC, bytes)
}

/// pvalloc(3) of a library in front of the C library; nothing if there is none.
pub fn pvalloc(bytes: usize) -> Option<*mut u8> {
    in_pages(&PVALLOC, bytes)
}

fn in_pages(function: &Function, bytes: usize) -> Option<*mut u8> {
    let address = function.address();
    // SAFETY: the next definition has this type.
    (address != 0).then(|| unsafe {
        let function: unsafe extern "C" fn(usize) -> *mut u8 = core::mem::transmute(address);
        function(bytes)
    })
}

/// free(3) of that allocator.
///
/// # Safety
/// As free(3).
pub unsafe fn free(pointer: *mut u8) {
    let address = FREE.address();
    // SAFETY: as in `malloc`, and the caller's promise.
    unsafe {
        let free: unsafe extern "C" fn(*mut u8) = core::mem::transmute(address);
        free(pointer);
    }
}

/// realloc(3) of that allocator.
///
/// # Safety
/// As realloc(3).
pub unsafe fn realloc(pointer: *mut u8, bytes: usize) -> *mut u8 {
    let address = REALLOC.address();
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

/// malloc_usable_size(3) of that allocator.
///
/// # Safety
/// As malloc_usable_size(3).
pub unsafe fn usable_size(pointer: *mut u8) -> usize {
    use crate::next::MALLOC_USABLE_SIZE as NEXT;
    match NEXT.get() {
        // SAFETY: the next definition has this type.
        Some(address) => unsafe {
            let usable: unsafe extern "C" fn(*mut c_void) -> usize = core::mem::transmute(address);
            usable(pointer.cast())
        },
        // A static program: glibc's word in front of a block holds its size and three flags, of
        // which the second says that the block was mapped on its own and has two such words.
        // SAFETY: the block is glibc's.
        None if !pointer.is_null() => unsafe {
            let word = pointer.sub(size_of::<usize>()).cast::<usize>().read();
            (word & !7) - if word & 2 != 0 { 16 } else { 8 }
        },
        None => 0,
    }
}
