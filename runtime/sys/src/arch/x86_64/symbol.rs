//! x86-64: dlsym(3), which tells by its caller's address behind which image it is to search. So the
//! call is made here, by a function that is a part of the program's image and never moves.
//!
//! Sources: dlsym(3), "RTLD_NEXT"; System V ABI AMD64 supplement, 3.2.2.

use super::weak::has_dlsym;
use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_void};

// Not left by a jump: dlsym's caller would be this one's caller.
global_asm!(
    ".text",
    ".globl szc_rt_symbol_of",
    ".hidden szc_rt_symbol_of",
    ".type szc_rt_symbol_of, @function",
    ".p2align 4",
    "szc_rt_symbol_of:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call qword ptr [rip + szc_rt_weak_dlsym]", // handle and name, as they came
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size szc_rt_symbol_of, . - szc_rt_symbol_of",
);

unsafe extern "C" {
    fn szc_rt_symbol_of(handle: *mut c_void, name: *const c_char) -> usize;
}

/// Address of a symbol, as dlsym(3) finds it for the program's image; 0 if it finds none, and in
/// programs without dlsym(3).
///
/// # Safety
/// The handle must be `RTLD_NEXT`, `RTLD_DEFAULT`, or one of dlopen(3).
#[must_use]
pub unsafe fn symbol_of(handle: *mut c_void, name: &CStr) -> usize {
    if !has_dlsym() {
        return 0;
    }
    // SAFETY: there is a dlsym(3), the name ends with NUL, and the handle is the caller's promise.
    unsafe { szc_rt_symbol_of(handle, name.as_ptr()) }
}
