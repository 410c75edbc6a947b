//! The type of calls: an instruction of which that is known, so that `raw` may rely on it.

use inkwell::values::{InstructionOpcode, InstructionValue};

/// A `call`, `invoke` or `callbr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call<'ctx>(InstructionValue<'ctx>);

impl<'ctx> Call<'ctx> {
    /// The call that an instruction is.
    pub(crate) fn of(instruction: InstructionValue<'ctx>) -> Option<Self> {
        use InstructionOpcode::{Call, CallBr, Invoke};
        matches!(instruction.get_opcode(), Call | Invoke | CallBr).then_some(Self(instruction))
    }

    /// The instruction that the call is.
    pub(crate) fn instruction(self) -> InstructionValue<'ctx> {
        self.0
    }
}
