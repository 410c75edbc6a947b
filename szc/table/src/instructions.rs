//! What several phases ask of single instructions.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpAccess, OpKind, Register};

/// Registers that calls preserve, without the stack pointer (System V ABI, figure 3.4).
pub(crate) const CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// A decoder of the code that lies at `start`.
pub(crate) fn decoder(start: u64, code: &[u8]) -> Decoder<'_> {
    Decoder::with_ip(64, code, start, DecoderOptions::NONE)
}

/// Whether the instruction pushes a return address.
pub(crate) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Whether an operand is a number in the instruction.
pub(crate) fn is_constant(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
            | OpKind::Immediate8to32
            | OpKind::Immediate32
    )
}

/// Whether an access may change what it is of.
pub(crate) fn is_write(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}
