//! x86-64: what code calls that tells of its blocks: in each, and at a check of a thread whose
//! countdown is below 0.

use crate::paths::{note_block, note_check};
use core::arch::global_asm;

// Called with the convention `preserve_most` of LLVM: all registers but r11 and those of the vector
// unit are the caller's. A block is known by the address that the call returns to. Code may go on
// telling to its next check when nobody wants to know: then the call returns at once.
macro_rules! entry {
    ($entry:literal, $function:literal) => {
        global_asm!(
            ".text",
            concat!(".globl ", $entry),
            concat!(".hidden ", $entry),
            concat!(".type ", $entry, ", @function"),
            ".p2align 4",
            concat!($entry, ":"),
            ".cfi_startproc",
            "cmp qword ptr fs:[szc_path_countdown@TPOFF], 0",
            "js 1f",
            "ret",
            "1:",
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
            concat!("call ", $function),
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
            concat!(".size ", $entry, ", . - ", $entry),
        );
    };
}

entry!("szc_rt_path_block", "szc_rt_path_block_call");
entry!("szc_rt_path_check", "szc_rt_path_check_call");

/// What the entry for blocks calls.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_path_block_call(address: usize) {
    note_block(address);
}

/// What the entry for checks calls.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_path_check_call() {
    note_check();
}
