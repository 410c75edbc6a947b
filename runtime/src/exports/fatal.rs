//! x86-64: the entry of the handler that writes the log.
//!
//! Sources: System V ABI AMD64 supplement, 3.2.2 (alignment of the stack); signal(7).

use core::arch::global_asm;

// qemu-user before version 8 enters handlers with a stack that is not aligned as the ABI says,
// where instructions that the compiler relies on fault.
global_asm!(
    ".text",
    ".globl szc_rt_fatal",
    ".hidden szc_rt_fatal",
    ".type szc_rt_fatal, @function",
    ".p2align 4",
    "szc_rt_fatal:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "and rsp, -16",
    "call {fatal}",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size szc_rt_fatal, . - szc_rt_fatal",
    fatal = sym crate::handlers::fatal,
);
