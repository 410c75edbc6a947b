//! x86-64: how a copy is entered. Words in front of bodies, stubs for what is not there yet, and
//! the code that saves a call's registers while the resolver finds its target.
//!
//! What changes while threads run is one instruction, all of whose bytes lie in one aligned word of
//! 8 bytes, and it changes by one store of that word: no thread can stand inside it, and every
//! fetch finds one of its forms (AMD64 APM volume 2, 7.6.1: naturally aligned stores of up to 8
//! bytes are safe for asynchronous cross-modification). There are two kinds:
//!
//! ```text
//! head      the word in front of the copy is entered, and is the instruction
//! opening   the copy, or its check, is entered at its first instruction; one of the first, behind pushes of one byte,
//!           becomes a jump of 2 bytes to a detour, which undoes the pushes and jumps on
//! ```
//!
//! A stub moves the stack pointer before it pushes anything: one half of a split function may jump
//! to the other half with data of its own in the red zone below the stack pointer.

use super::{TRAP, displacement};
use core::arch::{asm, global_asm};
use szc_abi::{Movable, PLACEMENT_GRAIN_BYTES, SLOT_HEAD_BYTES};

/// Bytes of the word that changes at once.
pub const WORD_BYTES: usize = SLOT_HEAD_BYTES as usize;

/// Such a word, its first byte the lowest. Words are put together by shifts: copying a number of
/// bytes that is not known to the compiler would call the program's `memcpy`.
pub type Word = u64;

/// `nop dword ptr [rax+rax+0]` of 8 bytes: the head of a copy that is entered. What is in front may
/// go on here, too.
pub const OPEN_HEAD: Word = Word::from_le_bytes([0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00]);

/// Bytes of `jmp rel32`.
pub(super) const JUMP_BYTES: usize = 5;

// Where the instruction of an opening lies: in the first word of a body, which begins on the grain.
const _: () = assert!(
    (Movable::MAX_DETOUR_PUSHES + Movable::DETOUR_JUMP_BYTES) as usize <= WORD_BYTES
        && Movable::MAX_DETOUR_PUSHES as usize + JUMP_BYTES <= WORD_BYTES
        && (PLACEMENT_GRAIN_BYTES as usize).is_multiple_of(WORD_BYTES)
);

/// A detour at `at`, which undoes the pushes that a body begins with and goes on at a target.
/// Without pushes it is a head that leads on. The target must be within reach, as all of the arena
/// is.
#[must_use]
pub fn detour(at: usize, target: usize, body: Word, pushes: u32) -> Word {
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

/// The beginning of a body at `at`, whose first bytes are these, once it is left for its detour
/// behind so many pushes.
#[must_use]
pub fn left(at: usize, body: Word, pushes: u32, detour: usize) -> Word {
    let behind = at + (pushes + Movable::DETOUR_JUMP_BYTES) as usize;
    let displacement = detour.wrapping_sub(behind) as u8;
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
const RED_ZONE_BYTES: usize = 128;

/// Bytes of stack, below what the code here saves, that the resolver may use. The lowest of them is
/// touched while signals are still open, so that a stack that overflows here does so as in any
/// call.
pub const RESOLVER_STACK_BYTES: usize = 1344;

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

/// How the rules of a stub differ from those at an entry (`DW_CFA_…`): behind its first
/// instruction, red zone and return address lie above the stack pointer.
pub const STUB_RULES: [u8; 4] = {
    let cfa = RED_ZONE_BYTES + 8;
    let after_first = 0x40 | STUB_CALL_AT as u8;
    assert!(STUB_CALL_AT < 0x40 && cfa >> 14 == 0);
    [after_first, 0x0e, cfa as u8 & 0x7f | 0x80, (cfa >> 7) as u8]
};

// szc_rt_stub is the pattern of all stubs: each slot of a region has one, and is known by its
// address. szc_rt_resolve is entered from stubs alone: [rsp] is an address in the stub, and behind
// the red zone lies what the program called with. To the program this is an instruction that
// changes nothing: all registers and flags are kept, because compilers know which ones a function
// of their own leaves alone (gcc's -fipa-ra). The upper parts of vector registers are kept because
// no code of the runtime has instructions that write them.
global_asm!(
    ".text",
    ".globl szc_rt_stub",
    ".hidden szc_rt_stub",
    ".type szc_rt_stub, @function",
    ".p2align 4",
    "szc_rt_stub:",
    ".cfi_startproc",
    "lea rsp, [rsp - {red_zone}]",
    ".cfi_adjust_cfa_offset {red_zone}",
    // Through a pointer within reach: a library may lie far from the program, whose part this is.
    "call qword ptr [rip + szc_rt_stub]",
    ".cfi_endproc",
    ".p2align 4, 0xcc",
    ".size szc_rt_stub, . - szc_rt_stub",
    //
    ".globl szc_rt_resolve",
    ".hidden szc_rt_resolve",
    ".type szc_rt_resolve, @function",
    ".p2align 4",
    "szc_rt_resolve:",
    ".cfi_startproc",
    // To unwinders the program called this: its return address lies above stub and red zone.
    ".cfi_def_cfa_offset {entry_cfa}",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "pushfq",
    // Flags as the kernel starts a program with: forwards, no alignment checks, and no single
    // steps, whose signal would find itself blocked.
    "push 2",
    "popfq",
    "push rax", // number of vector registers of a variadic call
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10", // static chain
    "push r11",
    "lea rsp, [rsp - 256]",
    "and rsp, -16",
    "movaps [rsp], xmm0",
    "movaps [rsp + 16], xmm1",
    "movaps [rsp + 32], xmm2",
    "movaps [rsp + 48], xmm3",
    "movaps [rsp + 64], xmm4",
    "movaps [rsp + 80], xmm5",
    "movaps [rsp + 96], xmm6",
    "movaps [rsp + 112], xmm7",
    "movaps [rsp + 128], xmm8",
    "movaps [rsp + 144], xmm9",
    "movaps [rsp + 160], xmm10",
    "movaps [rsp + 176], xmm11",
    "movaps [rsp + 192], xmm12",
    "movaps [rsp + 208], xmm13",
    "movaps [rsp + 224], xmm14",
    "movaps [rsp + 240], xmm15",
    "lea rsp, [rsp - {stack}]",
    "mov al, [rsp]",
    "lea rsp, [rsp + {stack}]",
    "mov rdi, [rbp + 8]",
    "lea rsi, [rbp + 8]",
    "call szc_rt_resolve_call",
    "mov [rbp + 8], rax",
    "movaps xmm0, [rsp]",
    "movaps xmm1, [rsp + 16]",
    "movaps xmm2, [rsp + 32]",
    "movaps xmm3, [rsp + 48]",
    "movaps xmm4, [rsp + 64]",
    "movaps xmm5, [rsp + 80]",
    "movaps xmm6, [rsp + 96]",
    "movaps xmm7, [rsp + 112]",
    "movaps xmm8, [rsp + 128]",
    "movaps xmm9, [rsp + 144]",
    "movaps xmm10, [rsp + 160]",
    "movaps xmm11, [rsp + 176]",
    "movaps xmm12, [rsp + 192]",
    "movaps xmm13, [rsp + 208]",
    "movaps xmm14, [rsp + 224]",
    "movaps xmm15, [rsp + 240]",
    "lea rsp, [rbp - 80]",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rax",
    "popfq",
    "pop rbp",
    ".cfi_def_cfa rsp, {entry_cfa}",
    ".cfi_restore rbp",
    // To the target, and back above the red zone, in one instruction: a signal in between would
    // find either all of it done or nothing.
    "ret {red_zone}",
    ".cfi_endproc",
    ".size szc_rt_resolve, . - szc_rt_resolve",
    red_zone = const RED_ZONE_BYTES,
    entry_cfa = const RED_ZONE_BYTES + 16,
    stack = const RESOLVER_STACK_BYTES,
);

unsafe extern "C" {
    fn szc_rt_stub();
    fn szc_rt_resolve();
}

/// Address of the stubs' pattern, whose unwind information holds for all of them.
#[must_use]
pub fn stub_pattern() -> usize {
    szc_rt_stub as *const () as usize
}

/// What the pointer of an image's stubs holds.
#[must_use]
pub fn resolver() -> usize {
    szc_rt_resolve as *const () as usize
}

/// The stub that lies at `at` and enters the resolver through `pointer`; nothing if the pointer is
/// out of its reach.
#[must_use]
pub fn stub(at: usize, pointer: usize) -> Option<[u8; STUB_BYTES]> {
    // SAFETY: the pattern is as long as a stub, in text that stays mapped, and is not movable.
    let mut bytes = unsafe { (stub_pattern() as *const [u8; STUB_BYTES]).read() };
    let end = STUB_FIELD_OFFSET + 4;
    let field = displacement(at + end, pointer)?;
    bytes[STUB_FIELD_OFFSET..end].copy_from_slice(&field.to_le_bytes());
    Some(bytes)
}

/// Whether the processor keeps a second stack of return addresses (CET), which the resolver's last
/// instruction would contradict. Linkers mark a program for it only if each of its objects is
/// marked, and the runtime's is not.
#[must_use]
pub fn has_shadow_stack() -> bool {
    let pointer: usize;
    // SAFETY: where there is no shadow stack the instruction is a nop and rax stays 0.
    unsafe {
        asm!(
            ".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8", // rdsspq rax
            inlateout("rax") 0usize => pointer,
            options(nomem, nostack, preserves_flags),
        );
    }
    pointer != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands in for the resolver, which these tests do not enter.
    #[unsafe(no_mangle)]
    extern "C" fn szc_rt_resolve_call(address: usize, _goes_on_at: *mut usize) -> usize {
        address
    }

    #[test]
    fn a_head_leads_on_forwards_and_backwards() {
        let head = |target| detour(0x1008, target, 0, 0).to_le_bytes();
        assert_eq!(head(0x110d), [0xe9, 0, 1, 0, 0, 0xcc, 0xcc, 0xcc]);
        assert_eq!(head(0x100d - 2), [0xe9, 0xfe, 0xff, 0xff, 0xff, 0xcc, 0xcc, 0xcc]);
    }

    #[test]
    fn a_detour_undoes_the_last_push_first() {
        // push %rbp; push %rbx; mov %edi, %ebx; …: pop %rbx; pop %rbp; jmp
        let body = Word::from_le_bytes([0x55, 0x53, 0x89, 0xfb, 1, 2, 3, 4]);
        let word = detour(0x1008, 0x110f, body, 2);
        assert_eq!(word.to_le_bytes(), [0x5b, 0x5d, 0xe9, 0, 1, 0, 0, 0xcc]);
        let left = left(0x1010, body, 2, 0x1008);
        assert_eq!(left.to_le_bytes(), [0x55, 0x53, 0xeb, 0xf4, 1, 2, 3, 4]);
        let three = detour(0x1008, 0x1110, body, 3);
        assert_eq!(three.to_le_bytes()[3..], [0xe9, 0, 1, 0, 0]);
        assert_eq!(first_bytes(3), 0xff_ffff);
    }

    #[test]
    fn a_stub_is_the_pattern_with_the_distance_of_its_pointer() {
        let there = stub(0x1_0000, 0x2_0000).unwrap();
        let pattern = stub(stub_pattern(), stub_pattern()).unwrap();
        assert_eq!(there[..STUB_FIELD_OFFSET], pattern[..STUB_FIELD_OFFSET]);
        assert_eq!(
            there[STUB_CALL_AT..STUB_FIELD_OFFSET],
            [0xff, 0x15],
            "the call's field is where it is taken to be"
        );
        assert_eq!(i32::from_le_bytes(*there[7..].first_chunk().unwrap()), 0x1_0000 - 11);
        assert_eq!(there[11..], [0xcc; 5]);
        assert_eq!(stub(0x1_0000, 0x2_0000 + (1 << 32)), None);
    }
}
