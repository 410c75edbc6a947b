//! x86-64: a function that returns a number, for the test whether changes of code are seen
//! (`code/self_test.rs`).

use core::arch::global_asm;

/// What the function in the runtime's text returns.
pub const FIRST_NUMBER: u32 = 1;

/// The bytes of a function that returns a number, all in one word: `mov $number, %eax; ret`, and
/// `nop`s.
#[must_use]
pub fn returning(number: u32) -> u64 {
    let [a, b, c, d] = number.to_le_bytes();
    u64::from_le_bytes([0xb8, a, b, c, d, 0xc3, 0x90, 0x90])
}

// Such a function in the runtime's own text. Nobody else calls it.
global_asm!(
    ".text",
    ".globl szc_rt_number",
    ".hidden szc_rt_number",
    ".type szc_rt_number, @function",
    ".p2align 3",
    "szc_rt_number:",
    "mov eax, {first}",
    "ret",
    "nop",
    "nop",
    ".size szc_rt_number, . - szc_rt_number",
    first = const FIRST_NUMBER,
);

unsafe extern "C" {
    fn szc_rt_number();
}

/// Address of the function in the runtime's text.
#[must_use]
pub fn in_text() -> usize {
    szc_rt_number as *const () as usize
}

/// Calls the function at an address.
///
/// # Safety
/// The bytes of [`returning`] must be there, and executable.
#[must_use]
#[inline(never)]
pub unsafe fn call(address: usize) -> u32 {
    // SAFETY: the caller's promise: a function of this type.
    unsafe {
        let function: extern "C" fn() -> u32 = core::mem::transmute(address);
        function()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_in_the_text_has_the_bytes_that_are_written_elsewhere() {
        // SAFETY: the function's own bytes, and the function.
        let (word, said) = unsafe { ((in_text() as *const u64).read(), call(in_text())) };
        assert_eq!((word, said), (returning(FIRST_NUMBER), FIRST_NUMBER));
        assert_eq!(in_text() % size_of::<u64>(), 0, "one store changes it");
    }
}
