//! The allocator that the program has without szc: where heap randomization is switched off, or
//! another malloc was linked in, requests go there. It is the C library's, or that of a library in
//! front of it (`-ljemalloc`, `LD_PRELOAD`).

use core::ffi::{CStr, c_int};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::arch::{self, WeakSymbol};
use szc_sys::next::{Function, next_symbol, symbol_in};
use szc_sys::os;

/// A function of the allocator: its name, the C library's own name for it where that is used, and
/// where it is.
struct Served<F> {
    name: &'static CStr,
    libcs: Option<WeakSymbol>,
    /// Its address in a library in front of the C library; 0 where there is none.
    in_front: AtomicUsize,
    function: PhantomData<F>,
}

type OfBytes = unsafe extern "C" fn(usize) -> *mut u8;
type OfTwoNumbers = unsafe extern "C" fn(usize, usize) -> *mut u8;
type Free = unsafe extern "C" fn(*mut u8);
type Realloc = unsafe extern "C" fn(*mut u8, usize) -> *mut u8;
type PosixMemalign = unsafe extern "C" fn(*mut *mut u8, usize, usize) -> c_int;

// SAFETY: the types are those that malloc(3) and posix_memalign(3) say, in all that follows.
static MALLOC: Served<OfBytes> = unsafe { Served::new(c"malloc", WeakSymbol::LibcMalloc) };
// SAFETY: as above.
static FREE: Served<Free> = unsafe { Served::new(c"free", WeakSymbol::LibcFree) };
// SAFETY: as above.
static CALLOC: Served<OfTwoNumbers> = unsafe { Served::new(c"calloc", WeakSymbol::LibcCalloc) };
// SAFETY: as above.
static REALLOC: Served<Realloc> = unsafe { Served::new(c"realloc", WeakSymbol::LibcRealloc) };
// SAFETY: as above.
static MEMALIGN: Served<OfTwoNumbers> =
    unsafe { Served::new(c"memalign", WeakSymbol::LibcMemalign) };
// Of the C library these do what memalign(3) does; a library in front of it may define any of them
// without that.
// SAFETY: as above.
static POSIX_MEMALIGN: Served<PosixMemalign> = unsafe { Served::in_front(c"posix_memalign") };
// SAFETY: as above.
static ALIGNED_ALLOC: Served<OfTwoNumbers> = unsafe { Served::in_front(c"aligned_alloc") };
// SAFETY: as above.
static VALLOC: Served<OfBytes> = unsafe { Served::in_front(c"valloc") };
// SAFETY: as above.
static PVALLOC: Served<OfBytes> = unsafe { Served::in_front(c"pvalloc") };

/// File name of glibc.
const LIBC: &CStr = c"libc.so.6";

impl<F: Function> Served<F> {
    /// # Safety
    /// Both names must be those of functions of this type.
    const unsafe fn new(name: &'static CStr, libcs: WeakSymbol) -> Self {
        let in_front = AtomicUsize::new(0);
        Self { name, libcs: Some(libcs), in_front, function: PhantomData }
    }

    /// # Safety
    /// The name must be that of a function of this type.
    const unsafe fn in_front(name: &'static CStr) -> Self {
        Self { name, libcs: None, in_front: AtomicUsize::new(0), function: PhantomData }
    }

    fn address(&self) -> usize {
        match (self.in_front.load(Ordering::Relaxed), self.libcs) {
            (0, Some(libcs)) => arch::weak_symbol(libcs),
            (address, _) => address,
        }
    }

    fn get(&self) -> Option<F> {
        let address = self.address();
        // SAFETY: the promise of whoever named it.
        (address != 0).then(|| unsafe { F::at(address) })
    }

    fn exists(&self) -> bool {
        self.address() != 0
    }

    /// Makes it the next definition of its name.
    fn use_next(&self) {
        self.in_front.store(next_symbol(self.name), Ordering::Relaxed);
    }

    /// Makes it the next definition of its name, unless that is the C library's, which would take
    /// from its heap what the library is to free; without that, the library's memalign serves.
    fn use_next_of_library(&self) {
        let next = next_symbol(self.name);
        if next != symbol_in(LIBC, self.name) {
            self.in_front.store(next, Ordering::Relaxed);
        }
    }
}

/// Whether there is one. Static programs whose malloc is the runtime's have none.
pub fn exists() -> bool {
    MALLOC.exists() && FREE.exists() && CALLOC.exists() && REALLOC.exists() && MEMALIGN.exists()
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
    MALLOC.use_next();
    FREE.use_next();
    CALLOC.use_next();
    REALLOC.use_next();
    MEMALIGN.use_next();
    POSIX_MEMALIGN.use_next_of_library();
    ALIGNED_ALLOC.use_next_of_library();
    VALLOC.use_next_of_library();
    PVALLOC.use_next_of_library();
    true
}

/// malloc(3) of that allocator.
pub fn malloc(bytes: usize) -> *mut u8 {
    // SAFETY: any number of bytes may be asked for.
    MALLOC.get().map_or(os::null(), |malloc| unsafe { malloc(bytes) })
}

/// calloc(3) of that allocator.
pub fn calloc(count: usize, bytes: usize) -> *mut u8 {
    // SAFETY: as in `malloc`.
    CALLOC.get().map_or(os::null(), |calloc| unsafe { calloc(count, bytes) })
}

/// memalign(3) of that allocator.
pub fn memalign(alignment: usize, bytes: usize) -> *mut u8 {
    // SAFETY: as in `malloc`; it says itself what is no alignment.
    MEMALIGN.get().map_or(os::null(), |memalign| unsafe { memalign(alignment, bytes) })
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
    // SAFETY: the caller's promise.
    POSIX_MEMALIGN.get().map(|function| unsafe { function(result, alignment, bytes) })
}

/// aligned_alloc(3) of a library in front of the C library; nothing if there is none.
pub fn aligned_alloc(alignment: usize, bytes: usize) -> Option<*mut u8> {
    // SAFETY: as in `memalign`.
    ALIGNED_ALLOC.get().map(|function| unsafe { function(alignment, bytes) })
}

/// valloc(3) of a library in front of the C library; nothing if there is none.
pub fn valloc(bytes: usize) -> Option<*mut u8> {
    // SAFETY: as in `malloc`.
    VALLOC.get().map(|function| unsafe { function(bytes) })
}

/// pvalloc(3) of a library in front of the C library; nothing if there is none.
pub fn pvalloc(bytes: usize) -> Option<*mut u8> {
    // SAFETY: as in `malloc`.
    PVALLOC.get().map(|function| unsafe { function(bytes) })
}

/// free(3) of that allocator.
///
/// # Safety
/// As free(3).
pub unsafe fn free(pointer: *mut u8) {
    if let Some(free) = FREE.get() {
        // SAFETY: the caller's promise.
        unsafe { free(pointer) };
    }
}

/// realloc(3) of that allocator.
///
/// # Safety
/// As realloc(3).
pub unsafe fn realloc(pointer: *mut u8, bytes: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    REALLOC.get().map_or(os::null(), |realloc| unsafe { realloc(pointer, bytes) })
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
    unsafe { Realloc::at(address)(pointer, bytes) }
}

/// malloc_usable_size(3) of that allocator.
///
/// # Safety
/// As malloc_usable_size(3).
pub unsafe fn usable_size(pointer: *mut u8) -> usize {
    use szc_sys::next::MALLOC_USABLE_SIZE as NEXT;
    match NEXT.get() {
        // SAFETY: the caller's promise.
        Some(usable) => unsafe { usable(pointer.cast()) },
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
