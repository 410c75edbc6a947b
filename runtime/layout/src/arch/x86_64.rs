//! x86-64: fields of instructions, and jumps through a pointer.
//!
//! Source: Intel SDM volume 2.

pub mod fde;
pub mod injected;
pub mod patch;
pub mod stack_check;

/// `int3`: fills what holds no code.
pub const TRAP: u8 = 0xcc;

/// The displacement of a PC-relative field that ends at `end` and means `target`.
///
/// Nothing if the target is out of reach.
#[inline]
#[must_use]
pub fn displacement(end: usize, target: usize) -> Option<i32> {
    i32::try_from(target.wrapping_sub(end).cast_signed()).ok()
}

/// `jmp *disp32(%rip)` at `at`, through the pointer at `pointer`.
#[inline]
#[must_use]
pub fn entry_jump(at: usize, pointer: usize) -> Option<[u8; szc_abi::ENTRY_JUMP_BYTES]> {
    let [a, b, c, d] = displacement(at + szc_abi::ENTRY_JUMP_BYTES, pointer)?.to_le_bytes();
    Some([
        0xff, 0x25, // jmp *disp32(%rip)
        a, b, c, d,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_jump_reaches_its_pointer_and_refuses_what_is_too_far() {
        assert_eq!(entry_jump(0x1000, 0x1106), Some([0xff, 0x25, 0, 1, 0, 0]));
        assert_eq!(entry_jump(0x1000, 0x1_8000_1006), None);
    }
}
