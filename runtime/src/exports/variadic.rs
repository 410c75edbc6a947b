//! x86-64: functions of libc that take any number of arguments. The runtime looks at a call and
//! lets it go on where it was meant to, without a frame of its own between; and what libc's do, for
//! programs in which there is none behind.
//!
//! Sources: System V ABI AMD64 supplement (A.2.1 for system calls); syscall(2).

use super::returned;
use core::arch::global_asm;
use core::ffi::c_int;
use szc_sys::arch::{nr, syscall};

/// A function that takes any number of arguments: looks at the first two and goes on in libc's
/// function with all of them.
macro_rules! looks_on {
    ($name:literal, $look:path) => {
        global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            ".p2align 4",
            concat!($name, ":"),
            ".cfi_startproc",
            "push rdi",
            ".cfi_adjust_cfa_offset 8",
            "push rsi",
            ".cfi_adjust_cfa_offset 8",
            "push rdx",
            ".cfi_adjust_cfa_offset 8",
            "push rcx",
            ".cfi_adjust_cfa_offset 8",
            "push r8",
            ".cfi_adjust_cfa_offset 8",
            "push r9",
            ".cfi_adjust_cfa_offset 8",
            "push rax", // al: number of vector registers with arguments
            ".cfi_adjust_cfa_offset 8",
            "call {look}",
            "mov r11, rax",
            "pop rax",
            ".cfi_adjust_cfa_offset -8",
            "pop r9",
            ".cfi_adjust_cfa_offset -8",
            "pop r8",
            ".cfi_adjust_cfa_offset -8",
            "pop rcx",
            ".cfi_adjust_cfa_offset -8",
            "pop rdx",
            ".cfi_adjust_cfa_offset -8",
            "pop rsi",
            ".cfi_adjust_cfa_offset -8",
            "pop rdi",
            ".cfi_adjust_cfa_offset -8",
            "jmp r11",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            look = sym $look,
        );
    };
}

looks_on!("szc_rt_shared_frames_makecontext", super::stacks::before_makecontext);
looks_on!("szc_rt_frames_clone", super::children::before_clone);
looks_on!("szc_rt_frames_prctl", crate::filters::before_prctl);
looks_on!("szc_rt_frames_syscall", crate::filters::before_syscall);

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
    fn szc_rt_clone_child();
    fn szc_rt_system_call(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    static szc_rt_own_clone: Clone;
}

/// What a system call that failed returns in C.
extern "C" fn failed(result: isize) -> isize {
    returned(result) as isize
}

// First code of a child of clone(2) that has memory of its own. It ends with the program's start
// routine: libc would end this thread alone, and the maintenance task would be left.
global_asm!(
    ".text",
    ".globl szc_rt_clone_child",
    ".hidden szc_rt_clone_child",
    ".type szc_rt_clone_child, @function",
    ".p2align 4",
    "szc_rt_clone_child:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {enter}", // rdi: what clone was given; the pair comes back in rax and rdx
    "mov rdi, rdx",
    "call rax",
    "mov edi, eax",
    "mov eax, {exit_group}",
    "syscall",
    "ud2",
    ".cfi_endproc",
    ".size szc_rt_clone_child, . - szc_rt_clone_child",
    enter = sym crate::announced::enter_child,
    exit_group = const nr::EXIT_GROUP,
);

/// Address of the first code of a child of clone(2).
#[must_use]
pub fn clone_child() -> usize {
    szc_rt_clone_child as *const () as usize
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
