//! The heap's machine code: hints to the cache, and blocks copied and set to zero.

use super::{copy_bytes, fill_bytes};
use core::arch::asm;

/// Starts to bring the cache line of an address from memory, whether the address is valid or not.
#[inline]
pub fn prefetch(address: *const u8) {
    // SAFETY: a hint, which reads nothing.
    unsafe {
        asm!(
            "prefetcht0 byte ptr [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly),
        );
    }
}

/// Copies whole words of 16 bytes, without calling `memcpy`: at least `bytes`, and at most 15 more.
///
/// # Safety
/// Both ranges must be valid for the bytes rounded up to words, and must not overlap.
#[inline]
pub unsafe fn copy_words(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes > 1024 {
        // SAFETY: the caller's promise.
        unsafe { copy_bytes(to, from, bytes) };
        return;
    }
    // SAFETY: the caller's promise; the loop ends with the word in which the last byte lies.
    // Without bytes it copies a word, too, so it is not entered.
    unsafe {
        asm!(
            "test {left}, {left}",
            "je 3f",
            "2:",
            "movups {word}, xmmword ptr [{from}]",
            "movups xmmword ptr [{to}], {word}",
            "add {from}, 16",
            "add {to}, 16",
            "sub {left}, 16",
            "ja 2b",
            "3:",
            word = out(xmm_reg) _,
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            left = inout(reg) bytes => _,
            options(nostack),
        );
    }
}

/// Zeroes grains of 32 bytes, which begin at a multiple of 16, without calling `memset`.
///
/// # Safety
/// The grains must be valid for writing.
#[inline]
pub unsafe fn zero_grains(start: *mut u8, grains: usize) {
    if grains > 32 {
        // SAFETY: the caller's promise.
        unsafe { fill_bytes(start, 0, grains * 32) };
        return;
    }
    // SAFETY: the caller's promise; the loop ends behind the last grain, and there is at least one.
    unsafe {
        asm!(
            "xorps {zero}, {zero}",
            "2:",
            "movups xmmword ptr [{at}], {zero}",
            "movups xmmword ptr [{at} + 16], {zero}",
            "add {at}, 32",
            "cmp {at}, {end}",
            "jb 2b",
            zero = out(xmm_reg) _,
            at = inout(reg) start => _,
            end = in(reg) start.add(grains * 32),
            options(nostack),
        );
    }
}
