//! x86-64: functions of libc that take any number of arguments. The runtime looks at a call and
//! lets it go on where it was meant to, without a frame of its own between.
//!
//! Source: System V ABI AMD64 supplement.

use core::arch::global_asm;
use szc_sys::arch::nr;

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
