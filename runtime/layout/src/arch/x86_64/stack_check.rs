//! x86-64: the stack-room check, whether a frame with a pad has room for it. A check lies in front
//! of the body, and where it does not say enough, it goes on in a full one elsewhere; the contract
//! is that of [`PadState`].

use super::patch::{JUMP_BYTES, WORD_BYTES, Word, with_bytes};
use szc_abi::Movable;
use szc_abi::stack::PadState;

/// Bytes of the check in front of the body of a frame that has a pad, on the grain.
pub const CHECK_BYTES: usize = 16;

/// Offset in a check of its first instruction, at which it is entered; who comes from a patchable
/// entry passes a `nop`.
pub const CHECK_ENTRY_AT: usize = 1;

/// `nop` of one byte.
const NOP: u8 = 0x90;

/// The first bytes of a resolved check: what is in front of the entry, and what becomes a jump when
/// calls go elsewhere.
pub const CHECK_HOT_PATCH_POINT: Word = Word::from_le_bytes([NOP, 0x64, 0x48, 0, 0, 0, 0, 0]);

/// How many those are: the same form as the beginning of a body, what is kept, and a jump behind
/// it.
pub const CHECK_HOT_PATCH_POINT_END: usize = CHECK_ENTRY_AT + Movable::HOT_PATCH_BYTES as usize;

const _: () = assert!(CHECK_HOT_PATCH_POINT_END <= WORD_BYTES);

/// The check at `at`: goes on behind itself if the stack pointer is not below where the thread's
/// frames get pads and nothing else lies above (that is so for the main thread alone), and else at
/// `full`. `state` is the distance of the thread's pad state from the thread pointer.
///
/// Of registers it changes the flags.
#[must_use]
pub fn check(at: usize, full: usize, state: i32) -> [u8; CHECK_BYTES] {
    let floor = state.wrapping_add(PadState::FLOOR_AT as i32).to_le_bytes();
    let branch = (full.wrapping_sub(at + CHECK_BYTES) as u32).to_le_bytes();
    joined([
        &[NOP],
        &[0x64, 0x48, 0x3b, 0x24, 0x25], // cmp %fs:floor, %rsp
        &floor,
        &[0x0f, 0x82], // jb full
        &branch,
    ])
}

/// Bytes of a full check, which is also their grain.
pub const FULL_CHECK_BYTES: usize = 32;

/// Offset in a full check of the word with its last instruction, whose displacement is the last
/// field.
pub const FULL_CHECK_JUMP_AT: usize = FULL_CHECK_BYTES - WORD_BYTES;

/// The full check at `at`: goes on in the body while the stack pointer lies where the thread's
/// frames get pads, and else at `plain`. `state` is as for [`check`].
///
/// Of registers it changes r11, which no convention of the compiler's passes anything in, and
/// flags.
#[must_use]
pub fn full_check(at: usize, body: usize, plain: usize, state: i32) -> [u8; FULL_CHECK_BYTES] {
    let low = state.wrapping_add(PadState::LOW_AT as i32).to_le_bytes();
    let span = state.wrapping_add(PadState::SPAN_AT as i32).to_le_bytes();
    let to = |target: usize, end: usize| (target.wrapping_sub(at + end) as u32).to_le_bytes();
    joined([
        &[0x49, 0x89, 0xe3],             // mov %rsp, %r11
        &[0x64, 0x4c, 0x2b, 0x1c, 0x25], // sub %fs:low, %r11
        &low,
        &[0x64, 0x4c, 0x3b, 0x1c, 0x25], // cmp %fs:span, %r11
        &span,
        &[0x0f, 0x82], // jb body
        &to(body, FULL_CHECK_BYTES - JUMP_BYTES),
        &[0xe9], // jmp plain
        &to(plain, FULL_CHECK_BYTES),
    ])
}

/// The bytes of instructions that have so many.
fn joined<const BYTES: usize, const PARTS: usize>(parts: [&[u8]; PARTS]) -> [u8; BYTES] {
    let mut code = [0; BYTES];
    let mut end = 0;
    for part in parts {
        code[end..end + part.len()].copy_from_slice(part);
        end += part.len();
    }
    debug_assert!(end == BYTES);
    code
}

/// The last word of a full check whose end is here, once it goes on at `plain`. The displacement
/// lies in that word as a whole.
#[must_use]
pub fn full_check_jump(end: usize, plain: usize, word: Word) -> Word {
    let displacement = plain.wrapping_sub(end) as u32;
    with_bytes(word, Word::from(displacement) << 32, 0xffff_ffff << 32)
}

#[cfg(test)]
mod tests {
    use super::super::patch::{first_bytes, retargeted};
    use super::*;

    #[test]
    fn a_check_is_left_at_its_first_instruction() {
        let check = check(0x1010, 0x9000, -40);
        let first = Word::from_le_bytes(*check.first_chunk().unwrap());
        let mask = first_bytes(CHECK_HOT_PATCH_POINT_END as u32);
        assert_eq!(first & mask, CHECK_HOT_PATCH_POINT);
        let patched = retargeted(0x1010, CHECK_HOT_PATCH_POINT, CHECK_ENTRY_AT as u32, 0x1008 + 2);
        assert_eq!(patched.to_le_bytes()[..3], [NOP, 0xeb, 0xf7]);
        assert_eq!(check[10..12], [0x0f, 0x82]);
        assert_eq!(check[12..], (0x9000 - 0x1020u32).to_le_bytes());
    }

    #[test]
    fn the_last_jump_of_a_full_check_changes_in_one_word() {
        let (at, body, stub, unpadded) = (0x8000, 0x1020, 0x5000, 0x9000);
        let [first, last] = [stub, unpadded].map(|plain| full_check(at, body, plain, -40));
        assert_eq!(first[..FULL_CHECK_BYTES - 4], last[..FULL_CHECK_BYTES - 4]);
        let word = |check: [u8; FULL_CHECK_BYTES]| {
            Word::from_le_bytes(*check[FULL_CHECK_JUMP_AT..].first_chunk().unwrap())
        };
        assert_eq!(full_check_jump(at + FULL_CHECK_BYTES, unpadded, word(first)), word(last));
        assert_eq!([first[21], first[22], first[27]], [0x0f, 0x82, 0xe9]);
        let branch = i32::from_le_bytes(*first[23..].first_chunk().unwrap());
        assert_eq!((at + 27).wrapping_add_signed(branch as isize), body);
    }
}
