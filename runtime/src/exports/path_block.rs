//! x86-64: what a block calls whose thread's countdown has come to 0, in code that tells of its
//! blocks.

use crate::paths::note_block;
use core::arch::global_asm;

// Called with the convention `preserve_most` of LLVM: all registers but r11 and those of the vector
// unit are the caller's. A block is known by the address that the call returns to.
global_asm!(
    ".text",
    ".globl szc_rt_path_block",
    ".hidden szc_rt_path_block",
    ".type szc_rt_path_block, @function",
    ".p2align 4",
    "szc_rt_path_block:",
    ".cfi_startproc",
    "push rax",
    ".cfi_adjust_cfa_offset 8",
    "push rcx",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "push r9",
    ".cfi_adjust_cfa_offset 8",
    "push r10",
    ".cfi_adjust_cfa_offset 8",
    "push r11", // for the alignment of the stack
    ".cfi_adjust_cfa_offset 8",
    "mov rdi, [rsp + 72]",
    "call szc_rt_path_block_call",
    "pop r11",
    ".cfi_adjust_cfa_offset -8",
    "pop r10",
    ".cfi_adjust_cfa_offset -8",
    "pop r9",
    ".cfi_adjust_cfa_offset -8",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rcx",
    ".cfi_adjust_cfa_offset -8",
    "pop rax",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size szc_rt_path_block, . - szc_rt_path_block",
);

/// What the entry calls.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_path_block_call(address: usize) {
    note_block(address);
}
