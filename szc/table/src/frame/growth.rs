//! How much larger than without szc a frame is that gets no pad, judged by the instructions that
//! take it. The runtime makes threads' stacks larger by that, so too much costs address space, and
//! too little a recursion.

use super::marker::is_marker;
use crate::instructions::decoder;
use iced_x86::{Code, FlowControl, Instruction, Mnemonic, Register};
use szc_abi::stack::{FunctionRecord, Growth, RESIZABLE_BYTES};

/// Bytes of a return address or a register.
const WORD: u64 = 8;

/// Alignment that slack or a frame pointer may cost.
const ALIGNMENT: u64 = 8;

/// The growth of a frame that has the slack which the compiler pass has added.
pub(super) fn with_slack(code: &[u8]) -> Growth {
    if !instructions(code).any(|instruction| is_marker(&instruction)) {
        // What it was made for is in code that is not there any more, and so is the slack.
        return Growth::Half;
    }
    beyond(frame_bytes(code), u64::from(RESIZABLE_BYTES) + ALIGNMENT)
}

/// The growth of a frame that may have a frame pointer for the sake of its pad: one from a table,
/// or one below variables whose addresses escape.
pub(super) fn with_frame_pointer(code: &[u8]) -> Growth {
    beyond(frame_bytes(code), WORD + ALIGNMENT)
}

/// What a record has to say of it, if anything.
pub(super) fn flag(growth: Growth) -> Option<u16> {
    match growth {
        Growth::Half => Some(FunctionRecord::FLAG_TIGHT),
        Growth::Twice => Some(FunctionRecord::FLAG_TWICE),
        Growth::Tenfold => None,
    }
}

/// The growth of a frame of so many bytes, some of them added.
fn beyond(bytes: u64, added: u64) -> Growth {
    let own = bytes.saturating_sub(added);
    if bytes * 2 <= own * 3 {
        Growth::Half
    } else if bytes <= own * 2 {
        Growth::Twice
    } else {
        Growth::Tenfold
    }
}

fn instructions(code: &[u8]) -> impl Iterator<Item = Instruction> + '_ {
    decoder(0, code).into_iter()
}

/// Bytes of a frame, at least: the return address, and what the first instructions take that take
/// any.
fn frame_bytes(code: &[u8]) -> u64 {
    let takes = |instruction: &Instruction| {
        let bytes = match instruction.code() {
            Code::Push_r64 => Some(WORD),
            Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32 => Some(instruction.immediate(1)),
            // Of 128 bytes, for which this is shorter.
            Code::Add_rm64_imm8 => Some(instruction.immediate(1).wrapping_neg()),
            _ => None,
        };
        let of_stack =
            instruction.code() == Code::Push_r64 || instruction.op0_register() == Register::RSP;
        bytes.filter(|bytes| of_stack && bytes.cast_signed() > 0)
    };
    let is_between = |instruction: &Instruction| {
        instruction.mnemonic() == Mnemonic::Mov && instruction.flow_control() == FlowControl::Next
    };
    let prologue = instructions(code)
        .skip_while(|instruction| takes(instruction).is_none())
        .take_while(|instruction| takes(instruction).is_some() || is_between(instruction));
    WORD + prologue.filter_map(|instruction| takes(&instruction)).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME_POINTER: &[u8] = &[0x55, 0x48, 0x89, 0xe5]; // push %rbp; mov %rsp, %rbp
    const PUSH_RBX: &[u8] = &[0x53];
    const CALL: &[u8] = &[0xe8, 0, 0, 0, 0];

    fn take(bytes: u32) -> Vec<u8> {
        [&[0x48, 0x81, 0xec][..], &bytes.to_le_bytes()].concat()
    }

    #[test]
    fn the_bytes_of_a_frame_are_those_that_its_first_instructions_take() {
        let tested = [&[0x85, 0xff, 0x74, 0x20][..], PUSH_RBX, &take(16), CALL, PUSH_RBX].concat();
        assert_eq!(frame_bytes(&tested), 32);
        let pointed = [FRAME_POINTER, PUSH_RBX, &[0x48, 0x83, 0xec, 0x18], CALL].concat();
        assert_eq!(frame_bytes(&pointed), 48);
        assert_eq!(frame_bytes(CALL), 8);
    }

    #[test]
    fn a_frame_pointer_doubles_the_smallest_frame_and_hardly_a_larger_one() {
        let of = |bytes| with_frame_pointer(&[FRAME_POINTER, &take(bytes), CALL].concat());
        assert_eq!((of(16), of(32), of(320)), (Growth::Twice, Growth::Half, Growth::Half));
    }

    #[test]
    fn slack_that_is_left_matters_least_in_large_frames() {
        let marker = [0x0f, 0x18, 0x54, 0x24, 0x08]; // prefetcht1 8(%rsp)
        let of = |bytes| with_slack(&[&take(bytes)[..], &marker, CALL].concat());
        let (small, medium, large) = (of(152), of(312), of(600));
        assert_eq!((small, medium, large), (Growth::Tenfold, Growth::Twice, Growth::Half));
        assert_eq!(with_slack(&[&take(24)[..], CALL].concat()), Growth::Half);
    }
}
