//! The instruction by which the compiler pass says where a frame has slack.

use iced_x86::{Code, Instruction, Mnemonic, Register};
use szc_abi::stack::SLACK_MARK;

/// Whether this is that instruction.
#[must_use]
pub(super) fn is_marker(instruction: &Instruction) -> bool {
    let base = instruction.memory_base();
    let says = match instruction.code() {
        Code::Mov_rm32_imm32 => base == Register::RBP && instruction.immediate32() == SLACK_MARK,
        code => {
            code.mnemonic() == Mnemonic::Prefetcht1 && matches!(base, Register::RSP | Register::RBP)
        }
    };
    says && instruction.memory_index() == Register::None
}
