//! Symbols of other code that a program may or may not have: undefined weak references are null.
//!
//! Rust has no weak references of its own on the stable toolchain, so the words that the linker or
//! the loader fills in are written in assembly.

use core::arch::global_asm;

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

unsafe extern "C" {
    static szc_rt_weak_dlsym: usize;
    static szc_rt_weak_dlerror: usize;
    static szc_rt_weak_dlopen: usize;
    static szc_rt_weak_iterate_images: usize;
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

/// Address of `dlsym`, 0 in programs without it.
#[must_use]
pub fn weak_dlsym() -> usize {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_dlsym }
}

/// Address of `dlerror`, 0 in programs without it.
#[must_use]
pub fn weak_dlerror() -> usize {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_dlerror }
}

/// Address of `dlopen`, 0 in programs without it.
#[must_use]
pub fn weak_dlopen() -> usize {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_weak_dlopen }
}

/// Address of `dl_iterate_phdr`, 0 in programs without it.
#[must_use]
pub fn weak_iterate_images() -> usize {
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
