//! Symbols of other code that a program may or may not have: undefined weak references are null.
//!
//! Rust has no weak references of its own on the stable toolchain, so the words that the linker or
//! the loader fills in are written in assembly.

use core::arch::global_asm;
use core::ffi::{c_char, c_int, c_void};

/// The name of the program's first function.
#[cfg(not(test))]
macro_rules! main_symbol {
    () => {
        "main"
    };
}

/// None in unit tests: their own is in this very object, and must not become weak.
#[cfg(test)]
macro_rules! main_symbol {
    () => {
        "szc_rt_no_main"
    };
}

global_asm!(
    ".section .data.rel.ro.szc_rt_weak, \"aw\", @progbits",
    ".p2align 3",
    ".globl szc_rt_weak_dlsym",
    ".hidden szc_rt_weak_dlsym",
    ".weak dlsym",
    "szc_rt_weak_dlsym:",
    ".quad dlsym",
    ".globl szc_rt_weak_dlerror",
    ".hidden szc_rt_weak_dlerror",
    ".weak dlerror",
    "szc_rt_weak_dlerror:",
    ".quad dlerror",
    ".globl szc_rt_weak_dlopen",
    ".hidden szc_rt_weak_dlopen",
    ".weak dlopen",
    "szc_rt_weak_dlopen:",
    ".quad dlopen",
    ".globl szc_rt_weak_iterate_images",
    ".hidden szc_rt_weak_iterate_images",
    ".weak dl_iterate_phdr",
    "szc_rt_weak_iterate_images:",
    ".quad dl_iterate_phdr",
    ".globl szc_rt_weak_find_fde",
    ".hidden szc_rt_weak_find_fde",
    ".weak __real__Unwind_Find_FDE",
    "szc_rt_weak_find_fde:",
    ".quad __real__Unwind_Find_FDE",
    ".globl szc_rt_weak_steps",
    ".hidden szc_rt_weak_steps",
    ".weak _ULx86_64_step",
    ".weak _Ux86_64_step",
    "szc_rt_weak_steps:",
    ".quad _ULx86_64_step",
    ".quad _Ux86_64_step",
    ".globl szc_rt_weak_keeps_code",
    ".hidden szc_rt_weak_keeps_code",
    ".weak szc_keeps_code",
    "szc_rt_weak_keeps_code:",
    ".quad szc_keeps_code",
    ".globl szc_rt_weak_main",
    ".hidden szc_rt_weak_main",
    concat!(".weak ", main_symbol!()),
    "szc_rt_weak_main:",
    concat!(".quad ", main_symbol!()),
    ".globl szc_rt_weak_allocator",
    ".hidden szc_rt_weak_allocator",
    ".weak malloc",
    ".weak realloc",
    ".weak free_aligned_sized",
    ".weak __libc_malloc",
    ".weak __libc_free",
    ".weak __libc_calloc",
    ".weak __libc_realloc",
    ".weak __libc_memalign",
    "szc_rt_weak_allocator:", // in the order of WeakSymbol
    ".quad malloc",
    ".quad realloc",
    ".quad free_aligned_sized",
    ".quad __libc_malloc",
    ".quad __libc_free",
    ".quad __libc_calloc",
    ".quad __libc_realloc",
    ".quad __libc_memalign",
    ".globl szc_rt_weak_streams",
    ".hidden szc_rt_weak_streams",
    ".weak _IO_list_lock",
    ".weak _IO_list_unlock",
    ".weak _IO_list_resetlock",
    "szc_rt_weak_streams:", // in the order of StreamsCall
    ".quad _IO_list_lock",
    ".quad _IO_list_unlock",
    ".quad _IO_list_resetlock",
    ".text",
);

/// dlopen(3).
pub type Dlopen = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
/// dlerror(3).
pub type Dlerror = unsafe extern "C" fn() -> *const c_char;
/// dl_iterate_phdr(3): what it calls, and that function's last argument.
pub type IterateImages = unsafe extern "C" fn(VisitImage, *mut c_void) -> c_int;
/// What dl_iterate_phdr(3) calls: with a `struct dl_phdr_info`, its size, and the last argument.
pub type VisitImage = unsafe extern "C" fn(*const c_void, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    static szc_rt_weak_dlsym: usize;
    static szc_rt_weak_dlerror: Option<Dlerror>;
    static szc_rt_weak_dlopen: Option<Dlopen>;
    static szc_rt_weak_iterate_images: Option<IterateImages>;
    static szc_rt_weak_find_fde: usize;
    static szc_rt_weak_steps: [usize; 2];
    static szc_rt_weak_keeps_code: usize;
    static szc_rt_weak_main: usize;
    static szc_rt_weak_allocator: [usize; 8];
    static szc_rt_weak_streams: [Option<unsafe extern "C" fn()>; 3];
}

/// What glibc lets others do with the lock of its list of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamsCall {
    /// `_IO_list_lock`; its owner may take it again.
    Lock,
    /// `_IO_list_unlock`
    Unlock,
    /// `_IO_list_resetlock`: nobody has it, whoever had.
    Reset,
}

/// Calls such a function, if there is one: a static program without streams has none.
pub fn call_for_streams(call: StreamsCall) {
    // SAFETY: constants that the loader filled in before any code of the image ran; the functions
    // take nothing.
    unsafe {
        if let Some(function) = szc_rt_weak_streams[call as usize] {
            function();
        }
    }
}

/// Functions of the allocator, by whatever name resolution gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakSymbol {
    /// `malloc`: the program's, this runtime's, or the C library's.
    Malloc,
    /// `realloc`, likewise.
    Realloc,
    /// `free_aligned_sized`, likewise.
    FreeAlignedSized,
    /// `__libc_malloc`: the C library's malloc under a name that no program takes.
    LibcMalloc,
    /// `__libc_free`
    LibcFree,
    /// `__libc_calloc`
    LibcCalloc,
    /// `__libc_realloc`
    LibcRealloc,
    /// `__libc_memalign`
    LibcMemalign,
}

/// Address of such a function, 0 in programs without it.
#[must_use]
pub fn weak_symbol(symbol: WeakSymbol) -> usize {
    // SAFETY: constants that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_allocator[symbol as usize] }
}

/// Whether the program has `dlsym`.
pub(super) fn has_dlsym() -> bool {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_dlsym != 0 }
}

/// `dlerror`, if the program has it.
#[must_use]
pub fn weak_dlerror() -> Option<Dlerror> {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_dlerror }
}

/// `dlopen`, if the program has it.
#[must_use]
pub fn weak_dlopen() -> Option<Dlopen> {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_dlopen }
}

/// `dl_iterate_phdr`, if the program has it.
#[must_use]
pub fn weak_iterate_images() -> Option<IterateImages> {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_iterate_images }
}

/// Address of a statically linked `_Unwind_Find_FDE`, 0 if there is none.
#[must_use]
pub fn weak_find_fde() -> usize {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_find_fde }
}

/// Address of `main`, 0 in programs without it.
#[must_use]
pub fn weak_main() -> usize {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_main }
}

/// Whether the program has nongnu.org's libunwind inside.
#[must_use]
pub fn weak_steps() -> bool {
    // SAFETY: constants that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_steps != [0; 2] }
}

/// Whether the program was built to keep its code where it is.
#[must_use]
pub fn keeps_code() -> bool {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_keeps_code != 0 }
}
