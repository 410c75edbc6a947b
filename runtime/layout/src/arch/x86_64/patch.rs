//! x86-64: how a copy is entered, and how calls of it are retargeted by a patch of one word. Stubs
//! for what is not there yet.
//!
//! What changes while threads run is one instruction, all of whose bytes lie in one aligned word of
//! 8 bytes, and it changes by one store of that word: no thread can stand inside it, and every
//! fetch finds one of its forms (AMD64 APM volume 2, 7.6.1: naturally aligned stores of up to 8
//! bytes are safe for asynchronous cross-modification). There are two kinds:
//!
//! ```text
//! patchable entry   the word in front of the copy is entered, and is the instruction
//! hot-patch point   the copy, or its stack-room check, is entered at its first instruction; one of
//!                   the first, behind pushes of one byte, becomes a jump of 2 bytes to an undo
//!                   trampoline, which undoes the pushes and jumps on
//! ```
//!
//! A stub moves the stack pointer before it pushes anything: one half of a split function may jump
//! to the other half with data of its own in the red zone below the stack pointer.

use super::{TRAP, displacement};
use szc_abi::{Movable, PATCHABLE_ENTRY_BYTES, PLACEMENT_GRAIN_BYTES};

/// Bytes of the word that changes at once.
pub const WORD_BYTES: usize = PATCHABLE_ENTRY_BYTES as usize;

/// Such a word, its first byte the lowest. Words are put together by shifts: copying a number of
/// bytes that is not known to the compiler would call the program's `memcpy`.
pub type Word = u64;

/// `nop dword ptr [rax+rax+0]` of 8 bytes: the patchable entry of a copy that is
/// resolved. What is in front may go on here, too.
pub const RESOLVED_ENTRY: Word =
    Word::from_le_bytes([0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00]);

/// Bytes of `jmp rel32`.
pub(super) const JUMP_BYTES: usize = 5;

// Where a hot-patch point lies: in the first word of a body, which begins on the grain.
const _: () = assert!(
    (Movable::MAX_UNDONE_PUSHES + Movable::HOT_PATCH_BYTES) as usize <= WORD_BYTES
        && Movable::MAX_UNDONE_PUSHES as usize + JUMP_BYTES <= WORD_BYTES
        && (PLACEMENT_GRAIN_BYTES as usize).is_multiple_of(WORD_BYTES)
);

/// An undo trampoline at `at`, which undoes the pushes that a body begins with and goes on at a
/// target. Without pushes it is a patchable entry that is forwarded. The target must be within
/// reach, as all of the arena is.
#[must_use]
pub fn undo_trampoline(at: usize, target: usize, body: Word, pushes: u32) -> Word {
    /// What `pop` of a register has more than `push` of it.
    const POP_FROM_PUSH: Word = 8;
    const TRAPS: Word = Word::from_le_bytes([TRAP; WORD_BYTES]);
    let pop = |push| (body >> (8 * push) & 0xff) + POP_FROM_PUSH;
    let pops = (0..pushes).fold(0, |pops, push| pops << 8 | pop(push));
    let behind = at + pushes as usize + JUMP_BYTES;
    let displacement = target.wrapping_sub(behind) as u32;
    let jump = 0xe9 | Word::from(displacement) << 8; // jmp rel32
    pops | (jump | TRAPS << (8 * JUMP_BYTES)) << (8 * pushes)
}

/// The beginning of a body at `at`, whose first bytes are these, once its hot-patch point, behind
/// so many pushes, leads to the undo trampoline.
#[must_use]
pub fn retargeted(at: usize, body: Word, pushes: u32, trampoline: usize) -> Word {
    let behind = at + (pushes + Movable::HOT_PATCH_BYTES) as usize;
    let displacement = trampoline.wrapping_sub(behind) as u8;
    let jump = 0xeb | Word::from(displacement) << 8; // jmp rel8
    with_bytes(body, jump << (8 * pushes), 0xffff << (8 * pushes))
}

/// A word with the bytes of another where the mask has ones.
#[must_use]
pub fn with_bytes(word: Word, other: Word, mask: Word) -> Word {
    word & !mask | other & mask
}

/// A mask of the first bytes of a word, fewer than all.
#[must_use]
pub fn first_bytes(bytes: u32) -> Word {
    (1 << (8 * bytes)) - 1
}

/// Bytes of a stub, the rest of the last instruction's grain included.
pub const STUB_BYTES: usize = 16;

/// Bytes that the System V ABI lets a function use below its stack pointer.
pub const RED_ZONE_BYTES: usize = 128;

/// Bytes of stack, below what the code here saves, that the resolver may use. The lowest of them is
/// touched while signals are still open, so that a stack that overflows here does so as in any
/// call.
pub const RESOLVER_STACK_BYTES: usize = 1600;

/// Offset of the mark in a stub, a byte that nobody executes.
pub const STUB_MARK_AT: usize = STUB_BYTES - 1;

/// The mark of a new stub: the trap that fills it up.
pub const STUB_UNMARKED: u8 = 0xcc;

/// Offset of the displacement in a stub, which is its last field.
const STUB_FIELD_OFFSET: usize = 7;

/// Offset of the call in a stub: from there on the red zone is kept.
pub const STUB_CALL_AT: usize = STUB_FIELD_OFFSET - 2;

/// The stack pointer of a call that came to a stub, whose own call has pushed to this address.
#[must_use]
pub fn stack_pointer_at_stub(pushed_at: usize) -> usize {
    pushed_at + 8 + RED_ZONE_BYTES
}

/// How the FDE of a stub differs from that of an entry (`DW_CFA_…`): behind its first
/// instruction, red zone and return address lie above the stack pointer.
pub const STUB_CFA: [u8; 4] = {
    let cfa = RED_ZONE_BYTES + 8;
    let after_first = 0x40 | STUB_CALL_AT as u8;
    assert!(STUB_CALL_AT < 0x40 && cfa >> 14 == 0);
    [after_first, 0x0e, cfa as u8 & 0x7f | 0x80, (cfa >> 7) as u8]
};

/// The bytes of every stub, with a call through a pointer that lies at the stub itself.
const STUB: [u8; STUB_BYTES] = [
    0x48,
    0x8d,
    0x64,
    0x24,
    RED_ZONE_BYTES.wrapping_neg() as u8, // lea -RED_ZONE_BYTES(%rsp), %rsp
    0xff,
    0x15,
    (STUB_FIELD_OFFSET + 4).wrapping_neg() as u8,
    0xff,
    0xff,
    0xff, // call *STUB(%rip)
    TRAP,
    TRAP,
    TRAP,
    TRAP,
    TRAP,
];

/// The stub that lies at `at` and enters the resolver through `pointer`; nothing if the pointer is
/// out of its reach.
#[must_use]
pub fn stub(at: usize, pointer: usize) -> Option<[u8; STUB_BYTES]> {
    let mut bytes = STUB;
    let end = STUB_FIELD_OFFSET + 4;
    let field = displacement(at + end, pointer)?;
    bytes[STUB_FIELD_OFFSET..end].copy_from_slice(&field.to_le_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patchable_entry_is_forwarded_forwards_and_backwards() {
        let entry = |target| undo_trampoline(0x1008, target, 0, 0).to_le_bytes();
        assert_eq!(entry(0x110d), [0xe9, 0, 1, 0, 0, 0xcc, 0xcc, 0xcc]);
        assert_eq!(entry(0x100d - 2), [0xe9, 0xfe, 0xff, 0xff, 0xff, 0xcc, 0xcc, 0xcc]);
    }

    #[test]
    fn an_undo_trampoline_undoes_the_last_push_first() {
        // push %rbp; push %rbx; mov %edi, %ebx; …: pop %rbx; pop %rbp; jmp
        let body = Word::from_le_bytes([0x55, 0x53, 0x89, 0xfb, 1, 2, 3, 4]);
        let word = undo_trampoline(0x1008, 0x110f, body, 2);
        assert_eq!(word.to_le_bytes(), [0x5b, 0x5d, 0xe9, 0, 1, 0, 0, 0xcc]);
        let patched = retargeted(0x1010, body, 2, 0x1008);
        assert_eq!(patched.to_le_bytes(), [0x55, 0x53, 0xeb, 0xf4, 1, 2, 3, 4]);
        let three = undo_trampoline(0x1008, 0x1110, body, 3);
        assert_eq!(three.to_le_bytes()[3..], [0xe9, 0, 1, 0, 0]);
        assert_eq!(first_bytes(3), 0xff_ffff);
    }

    #[test]
    fn a_stub_calls_through_its_pointer_if_that_is_within_reach() {
        let there = stub(0x1_0000, 0x2_0000).unwrap();
        assert_eq!(there[STUB_CALL_AT..STUB_FIELD_OFFSET], [0xff, 0x15]);
        assert_eq!(i32::from_le_bytes(*there[7..].first_chunk().unwrap()), 0x1_0000 - 11);
        assert_eq!(there[11..], [0xcc; 5]);
        assert_eq!(stub(0x1_0000, 0x2_0000 + (1 << 32)), None);
    }
}
