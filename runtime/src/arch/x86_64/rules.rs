//! x86-64: unwind rules of the code that copies have in front of their bodies, for unwinders that take rules near
//! that code only, and so cannot be sent to those of the patterns in the program.
//!
//! Sources: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.2 and 6.4.3; System V ABI, figure 3.36 (numbers
//! of registers).

use super::entry::{FRAME_CHECK_BYTES, STUB_BYTES, STUB_RULES, WORD_BYTES};

/// Offset in [`PATTERNS`] of the rules of a check and an inner head: the function was called, and has done nothing yet.
pub const CHECK_AT: usize = 24;

/// Offset in [`PATTERNS`] of the rules of a stub: the same, until it leaves the red zone.
pub const STUB_AT: usize = 48;

/// What both have in common (a CIE), and the rules of both (two FDEs). They name no address, because their place
/// in a search table says where the code is.
pub const PATTERNS: [u8; 76] = {
    let common: &[u8] = &[
        20, 0, 0, 0, // bytes that follow
        0, 0, 0, 0, // it is a CIE
        1, 0, // version, no augmentation: addresses are absolute words
        1, 0x78, 16, // code by 1, data by -8, return address in register 16
        0x0c, 7, 8, // DW_CFA_def_cfa rsp, 8
        0x90, 1, // DW_CFA_offset return address, 1 * -8
        0, 0, 0, 0, 0, 0, // DW_CFA_nop
    ];
    let check = rules(CHECK_AT, FRAME_CHECK_BYTES + WORD_BYTES, [0; 4], 20);
    let stub = rules(STUB_AT, STUB_BYTES, STUB_RULES, 24);
    let mut all = [0; 76];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < CHECK_AT {
            common[at]
        } else if at < STUB_AT {
            check[at - CHECK_AT]
        } else {
            stub[at - STUB_AT]
        };
        at += 1;
    }
    all
};

/// Rules of code of so many bytes, at an offset of the patterns, of which `bytes` follow the length field.
const fn rules(at: usize, code_bytes: usize, instructions: [u8; 4], bytes: u8) -> [u8; 28] {
    let mut rules = [0; 28];
    rules[0] = bytes;
    rules[4] = at as u8 + 4; // back to the CIE
    rules[16] = code_bytes as u8; // behind the start, which nobody reads
    let mut index = 0;
    while index < 4 {
        rules[24 + index] = instructions[index];
        index += 1;
    }
    rules
}
