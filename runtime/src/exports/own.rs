//! x86-64: what functions of libc that take any number of arguments do, for programs in which there
//! is none behind the runtime's.
//!
//! Sources: System V ABI AMD64 supplement (A.2.1 for system calls); syscall(2).

use super::returned;
use core::arch::global_asm;
use core::ffi::c_int;
use szc_sys::arch::{nr, syscall};

// syscall(2) of a program without a shared libc. Not in Rust, whose frame a child on another stack
// would not find.
global_asm!(
    ".text",
    ".type szc_rt_system_call, @function",
    ".globl szc_rt_system_call",
    ".hidden szc_rt_system_call",
    ".p2align 4",
    "szc_rt_system_call:",
    ".cfi_startproc",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, qword ptr [rsp + 8]",
    "syscall",
    "cmp rax, -4095",
    "jae 2f",
    "ret",
    "2:",
    "mov rdi, rax",
    "jmp {failed}",
    ".cfi_endproc",
    ".size szc_rt_system_call, . - szc_rt_system_call",
    failed = sym failed,
);

// clone(2) of libc under the name that is always there: programs without a shared libc would not
// have it at all if nothing referred to it.
global_asm!(
    ".section .data.rel.ro.szc_rt_clone, \"aw\", @progbits",
    ".p2align 3",
    ".globl szc_rt_own_clone",
    ".hidden szc_rt_own_clone",
    "szc_rt_own_clone:",
    ".quad __clone",
    ".text",
);

unsafe extern "C" {
    fn szc_rt_system_call(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    static szc_rt_own_clone: Clone;
}

/// What a system call that failed returns in C.
extern "C" fn failed(result: isize) -> isize {
    returned(result) as isize
}

/// clone(2) of libc. What stands behind the fourth argument is given only if the flags ask for it.
pub type Clone = unsafe extern "C" fn(usize, usize, c_int, usize, usize, usize, usize) -> c_int;

/// syscall(2), with as many arguments as a call that makes a child takes.
pub type Syscall = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> isize;

/// A syscall(2) that needs no libc but for `errno`.
#[must_use]
pub fn own_syscall() -> Syscall {
    szc_rt_system_call
}

/// Address of a prctl(2) that needs no libc but for `errno`.
#[must_use]
pub fn own_prctl() -> usize {
    prctl as *const () as usize
}

/// libc's clone(2).
#[must_use]
pub fn own_clone() -> Clone {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_own_clone }
}

extern "C" fn prctl(operation: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    // SAFETY: the operation and what it may do to memory are the program's.
    returned(unsafe { syscall(nr::PRCTL, [operation as usize, a, b, c, d, 0]) })
}
