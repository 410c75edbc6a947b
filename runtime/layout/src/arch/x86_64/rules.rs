//! x86-64: unwind rules of the code that copies have in front of their bodies, for unwinders that
//! take rules near that code only, and so cannot be sent to those of the patterns in the program.
//!
//! Sources: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.2 and 6.4.3; System V ABI, figure
//! 3.36 (numbers of registers).

use super::check::FULL_CHECK_BYTES;
use super::entry::{STUB_BYTES, STUB_RULES, WORD_BYTES};
use szc_abi::Movable;

/// Bytes of rules without instructions, and of what all have in common.
const RULES_BYTES: usize = 24;

/// Offset in [`PATTERNS`] of the rules of a head and of checks: the function was called, and has
/// done nothing yet.
pub const FRONT_AT: usize = RULES_BYTES;

/// Offset in [`PATTERNS`] of the rules of a stub: the same, until it leaves the red zone.
pub const STUB_AT: usize = FRONT_AT + RULES_BYTES;

/// Offset of the rules of detours that undo no push, one push, and so on.
const DETOURS_AT: usize = STUB_AT + RULES_BYTES + STUB_RULES.len();

const DETOURS: usize = Movable::MAX_DETOUR_PUSHES as usize + 1;

/// `DW_CFA_def_cfa_offset`, which has one operand here, and `DW_CFA_advance_loc` over one byte.
const CFA_OFFSET: u8 = 0x0e;
const NEXT_BYTE: u8 = 0x41;

/// Bytes of the instructions of a detour's rules: where the stack was at first, and behind each
/// byte.
const DETOUR_RULES_BYTES: usize = (2 + 3 * (DETOURS - 1)).next_multiple_of(4);

/// Offset in [`PATTERNS`] of the rules of a detour that undoes so many pushes. Others have no more
/// bytes.
#[must_use]
pub const fn detour_at(pushes: u32) -> usize {
    DETOURS_AT + pushes as usize * (RULES_BYTES + DETOUR_RULES_BYTES)
}

const PATTERNS_BYTES: usize = detour_at(DETOURS as u32);

/// What all have in common (a CIE), and the rules (FDEs). They name no address, because their place
/// in a search table says where the code is.
pub const PATTERNS: [u8; PATTERNS_BYTES] = {
    let common: [u8; RULES_BYTES] = [
        20, 0, 0, 0, // bytes that follow
        0, 0, 0, 0, // it is a CIE
        1, 0, // version, no augmentation: addresses are absolute words
        1, 0x78, 16, // code by 1, data by -8, return address in register 16
        0x0c, 7, 8, // DW_CFA_def_cfa rsp, 8
        0x90, 1, // DW_CFA_offset return address, 1 * -8
        0, 0, 0, 0, 0, 0, // DW_CFA_nop
    ];
    let mut all = put([0; PATTERNS_BYTES], 0, &common);
    all = rules(all, FRONT_AT, FULL_CHECK_BYTES, &[]);
    all = rules(all, STUB_AT, STUB_BYTES, &STUB_RULES);
    let mut pushes = 0;
    while pushes < DETOURS {
        all = rules(all, detour_at(pushes as u32), WORD_BYTES, &detour_rules(pushes));
        pushes += 1;
    }
    all
};

/// Behind each `pop`, which has one byte, the stack is 8 bytes shorter.
const fn detour_rules(pushes: usize) -> [u8; DETOUR_RULES_BYTES] {
    let mut rules = [0; DETOUR_RULES_BYTES];
    rules[0] = CFA_OFFSET;
    rules[1] = 8 * (pushes as u8 + 1);
    let mut undone = 1;
    while undone <= pushes {
        let at = 3 * undone - 1;
        rules[at] = NEXT_BYTE;
        rules[at + 1] = CFA_OFFSET;
        rules[at + 2] = 8 * (pushes - undone + 1) as u8;
        undone += 1;
    }
    rules
}

/// Adds rules of code of so many bytes at an offset of the patterns.
const fn rules(
    all: [u8; PATTERNS_BYTES],
    at: usize,
    code_bytes: usize,
    instructions: &[u8],
) -> [u8; PATTERNS_BYTES] {
    let mut rules = [0; RULES_BYTES];
    rules[0] = (RULES_BYTES + instructions.len()) as u8 - 4; // bytes that follow
    rules[4] = at as u8 + 4; // back to the CIE
    rules[16] = code_bytes as u8; // behind the start, which nobody reads
    put(put(all, at, &rules), at + RULES_BYTES, instructions)
}

const fn put(mut all: [u8; PATTERNS_BYTES], at: usize, bytes: &[u8]) -> [u8; PATTERNS_BYTES] {
    let mut index = 0;
    while index < bytes.len() {
        all[at + index] = bytes[index];
        index += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_says_after_each_pop_where_the_stack_is() {
        let at = detour_at(2) + RULES_BYTES;
        let expected = [0x0e, 24, 0x41, 0x0e, 16, 0x41, 0x0e, 8, 0, 0, 0, 0];
        assert_eq!(PATTERNS[at..at + DETOUR_RULES_BYTES], expected);
        assert_eq!(PATTERNS[detour_at(0) + RULES_BYTES..][..3], [0x0e, 8, 0]);
        assert_eq!(usize::from(PATTERNS[detour_at(3)]) + 4, RULES_BYTES + DETOUR_RULES_BYTES);
    }
}
