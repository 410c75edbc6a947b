//! What instructions do to the stack pointer, by a quick look at each, which leaves few functions
//! to be followed.

use crate::instructions::is_constant;
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// What was seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackPointerUse {
    /// Set it to something new, perhaps.
    sets: bool,
    /// Set the frame pointer to something new, or use that register for something else.
    sets_frame: bool,
    /// Set it from the frame pointer.
    sets_from_frame: bool,
}

impl StackPointerUse {
    /// Takes an instruction into account.
    pub fn add(&mut self, instruction: &Instruction) {
        let is = |register: Register, full: Register| register.full_register() == full;
        let is_pointer = |register| is(register, Register::RSP) || is(register, Register::RBP);
        let target = instruction.op0_register();
        let is_new = match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Sub | Mnemonic::And => {
                false
            }
            Mnemonic::Pop => is(target, Register::RSP),
            Mnemonic::Add => !is_constant(instruction.op1_kind()),
            // A frame pointer is set from the stack pointer.
            Mnemonic::Mov if target == Register::RBP => instruction.op1_register() != Register::RSP,
            Mnemonic::Lea => {
                let base = instruction.memory_base();
                self.sets_from_frame |= is(target, Register::RSP) && is(base, Register::RBP);
                !(is_pointer(base) && instruction.memory_index() == Register::None)
            }
            Mnemonic::Leave => {
                self.sets_from_frame = true;
                false
            }
            Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => {
                self.sets = true;
                false
            }
            Mnemonic::Xchg | Mnemonic::Xadd => {
                let other = instruction.op1_register();
                self.sets |= is(other, Register::RSP);
                self.sets_frame |= is(other, Register::RBP);
                true
            }
            _ => instruction.op0_kind() == OpKind::Register,
        };
        self.sets |= is_new && is(target, Register::RSP);
        self.sets_frame |= is_new && is(target, Register::RBP);
    }

    /// Whether it may become something that it was not before.
    #[must_use]
    pub fn may_switch(self) -> bool {
        self.sets || self.sets_frame && self.sets_from_frame
    }
}
