//! x86-64: the first code of a thread that gets pads.

use core::arch::global_asm;
use core::ffi::c_void;

// First code of a thread that gets pads. It jumps to the program's start routine, so that the
// thread's frames, its ends and its result are what they would be without szc.
global_asm!(
    ".text",
    ".globl szc_rt_thread",
    ".hidden szc_rt_thread",
    ".type szc_rt_thread, @function",
    ".p2align 4",
    "szc_rt_thread:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {enter}", // rdi: what pthread_create was given; the pair comes back in rax and rdx
    "mov rdi, rdx",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "jmp rax",
    ".cfi_endproc",
    ".size szc_rt_thread, . - szc_rt_thread",
    enter = sym crate::stack::threads::szc_rt_thread_enter,
);

unsafe extern "C" {
    fn szc_rt_thread(slot: *mut c_void) -> *mut c_void;
}

/// First code of a thread that gets pads; its argument is a slot of `stack::threads`.
#[must_use]
pub fn thread_start() -> usize {
    szc_rt_thread as *const () as usize
}
