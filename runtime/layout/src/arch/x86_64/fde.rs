//! x86-64: a CIE and FDEs of the code that copies have in front of their bodies, for unwinders that
//! take FDEs near that code only, and so cannot be sent to those of the patterns in the program.
//!
//! Sources: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.2 and 6.4.3; System V ABI, figure
//! 3.36 (numbers of registers).

use super::patch::{STUB_BYTES, STUB_CFA, WORD_BYTES};
use super::stack_check::FULL_CHECK_BYTES;
use szc_abi::Movable;

/// Bytes of an FDE without instructions, and of the CIE.
const FDE_BYTES: usize = 24;

/// Offset in [`PATTERNS`] of the FDE of a patchable entry and of checks: the function was called,
/// and has done nothing yet.
pub const FRONT_AT: usize = FDE_BYTES;

/// Offset in [`PATTERNS`] of the FDE of a stub: the same, until it leaves the red zone.
pub const STUB_AT: usize = FRONT_AT + FDE_BYTES;

/// Offset of the FDEs of undo trampolines that undo no push, one push, and so on.
const TRAMPOLINES_AT: usize = STUB_AT + FDE_BYTES + STUB_CFA.len();

const TRAMPOLINES: usize = Movable::MAX_UNDONE_PUSHES as usize + 1;

/// `DW_CFA_def_cfa_offset`, which has one operand here, and `DW_CFA_advance_loc` over one byte.
const CFA_OFFSET: u8 = 0x0e;
const NEXT_BYTE: u8 = 0x41;

/// Bytes of the instructions of an undo trampoline's FDE: where the stack was at first, and behind
/// each byte.
const TRAMPOLINE_INSTRUCTIONS_BYTES: usize = (2 + 3 * (TRAMPOLINES - 1)).next_multiple_of(4);

/// Offset in [`PATTERNS`] of the FDE of an undo trampoline that undoes so many pushes. Others have
/// no more bytes.
#[must_use]
pub const fn undo_trampoline_at(pushes: u32) -> usize {
    TRAMPOLINES_AT + pushes as usize * (FDE_BYTES + TRAMPOLINE_INSTRUCTIONS_BYTES)
}

const PATTERNS_BYTES: usize = undo_trampoline_at(TRAMPOLINES as u32);

/// The CIE, and the FDEs. They name no address, because their place
/// in a search table says where the code is.
pub const PATTERNS: [u8; PATTERNS_BYTES] = {
    let cie: [u8; FDE_BYTES] = [
        20, 0, 0, 0, // bytes that follow
        0, 0, 0, 0, // it is a CIE
        1, 0, // version, no augmentation: addresses are absolute words
        1, 0x78, 16, // code by 1, data by -8, return address in register 16
        0x0c, 7, 8, // DW_CFA_def_cfa rsp, 8
        0x90, 1, // DW_CFA_offset return address, 1 * -8
        0, 0, 0, 0, 0, 0, // DW_CFA_nop
    ];
    let mut all = put([0; PATTERNS_BYTES], 0, &cie);
    all = fde(all, FRONT_AT, FULL_CHECK_BYTES, &[]);
    all = fde(all, STUB_AT, STUB_BYTES, &STUB_CFA);
    let mut pushes = 0;
    while pushes < TRAMPOLINES {
        all = fde(
            all,
            undo_trampoline_at(pushes as u32),
            WORD_BYTES,
            &trampoline_instructions(pushes),
        );
        pushes += 1;
    }
    all
};

/// Behind each `pop`, which has one byte, the stack is 8 bytes shorter.
const fn trampoline_instructions(pushes: usize) -> [u8; TRAMPOLINE_INSTRUCTIONS_BYTES] {
    let mut instructions = [0; TRAMPOLINE_INSTRUCTIONS_BYTES];
    instructions[0] = CFA_OFFSET;
    instructions[1] = 8 * (pushes as u8 + 1);
    let mut undone = 1;
    while undone <= pushes {
        let at = 3 * undone - 1;
        instructions[at] = NEXT_BYTE;
        instructions[at + 1] = CFA_OFFSET;
        instructions[at + 2] = 8 * (pushes - undone + 1) as u8;
        undone += 1;
    }
    instructions
}

/// Adds the FDE of code of so many bytes at an offset of the patterns.
const fn fde(
    all: [u8; PATTERNS_BYTES],
    at: usize,
    code_bytes: usize,
    instructions: &[u8],
) -> [u8; PATTERNS_BYTES] {
    let mut fde = [0; FDE_BYTES];
    fde[0] = (FDE_BYTES + instructions.len()) as u8 - 4; // bytes that follow
    fde[4] = at as u8 + 4; // back to the CIE
    fde[16] = code_bytes as u8; // behind the start, which nobody reads
    put(put(all, at, &fde), at + FDE_BYTES, instructions)
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
    fn an_undo_trampoline_says_after_each_pop_where_the_stack_is() {
        let at = undo_trampoline_at(2) + FDE_BYTES;
        let expected = [0x0e, 24, 0x41, 0x0e, 16, 0x41, 0x0e, 8, 0, 0, 0, 0];
        assert_eq!(PATTERNS[at..at + TRAMPOLINE_INSTRUCTIONS_BYTES], expected);
        assert_eq!(PATTERNS[undo_trampoline_at(0) + FDE_BYTES..][..3], [0x0e, 8, 0]);
        assert_eq!(
            usize::from(PATTERNS[undo_trampoline_at(3)]) + 4,
            FDE_BYTES + TRAMPOLINE_INSTRUCTIONS_BYTES
        );
    }
}
