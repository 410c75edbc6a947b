//! The two names by which debuggers learn of code that a program made while it runs: gdb's JIT
//! interface ("Using gdb", chapter 30), which lldb knows as well.
//!
//! Both are weak: a program that makes code itself has its own, and keeps them.

use core::arch::global_asm;

global_asm!(
    ".text",
    ".weak __jit_debug_register_code",
    ".type __jit_debug_register_code, @function",
    ".globl szc_rt_jit_register",
    ".hidden szc_rt_jit_register",
    ".type szc_rt_jit_register, @function",
    ".p2align 4",
    "szc_rt_jit_register:",
    "__jit_debug_register_code:",
    "ret",
    ".size szc_rt_jit_register, . - szc_rt_jit_register",
    ".size __jit_debug_register_code, . - __jit_debug_register_code",
    ".data",
    ".weak __jit_debug_descriptor",
    ".type __jit_debug_descriptor, @object",
    ".globl szc_rt_jit_descriptor",
    ".hidden szc_rt_jit_descriptor",
    ".p2align 3",
    "szc_rt_jit_descriptor:",
    "__jit_debug_descriptor:",
    ".long 1", // version
    ".long 0", // action
    ".quad 0", // relevant entry
    ".quad 0", // first entry
    ".size __jit_debug_descriptor, . - __jit_debug_descriptor",
    ".section .data.rel.ro.szc_rt_weak, \"aw\", @progbits",
    ".p2align 3",
    ".globl szc_rt_jit_names",
    ".hidden szc_rt_jit_names",
    "szc_rt_jit_names:",
    ".quad __jit_debug_register_code",
    ".quad __jit_debug_descriptor",
    ".text",
);

unsafe extern "C" {
    fn szc_rt_jit_register();
    static szc_rt_jit_descriptor: u8;
    static szc_rt_jit_names: [usize; 2];
}

/// `int3`: what a debugger puts where it wants to be told.
const BREAKPOINT: u8 = 0xcc;

/// Address of the runtime's own descriptor, or nothing in a program that has one of its own.
#[must_use]
pub fn debugger_descriptor() -> Option<usize> {
    let own =
        [szc_rt_jit_register as *const () as usize, &raw const szc_rt_jit_descriptor as usize];
    // SAFETY: constants that the loader filled in before any code of the image ran.
    (unsafe { szc_rt_jit_names } == own).then_some(own[1])
}

/// Whether a debugger waits for word of new code.
#[must_use]
pub fn debugger_listens() -> bool {
    // SAFETY: the first byte of a function of this image, which is mapped readable.
    unsafe { (szc_rt_jit_register as *const () as *const u8).read_volatile() == BREAKPOINT }
}

/// Makes a debugger that waits look at the descriptor.
pub fn tell_debugger() {
    // SAFETY: the function does nothing.
    unsafe { szc_rt_jit_register() };
}
