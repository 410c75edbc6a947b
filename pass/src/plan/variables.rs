//! Which variables must lie where they lie in a plain program, as seen from the caller's frame.
//!
//! A program may note where a variable is and ask in a later call, by the same caller, whether it
//! is there again: coroutines tell so whether a call of C lies between them (Tcl's "C stack busy"),
//! collectors and guards of the stack whether it has grown. So a variable whose address escapes
//! keeps its distance from the caller's frame whatever the pad is.

use super::{Body, has_constant_size};
use crate::llvm::raw;
use inkwell::values::{InstructionOpcode, InstructionValue};

impl<'ctx> Body<'ctx> {
    /// The variables on the stack, and whether they have their place when the frame is taken.
    pub(super) fn variables(&self) -> impl Iterator<Item = (InstructionValue<'ctx>, bool)> {
        self.blocks.iter().enumerate().flat_map(|(number, block)| {
            block
                .get_instructions()
                .filter(|instruction| instruction.get_opcode() == InstructionOpcode::Alloca)
                .map(move |variable| (variable, number == 0 && has_constant_size(variable)))
        })
    }

    /// Whether the address of a variable escapes: a pad of copies has to lie below it.
    pub(super) fn variables_escape(&self) -> bool {
        self.variables().any(|(variable, _)| raw::escapes(variable))
    }

    /// Whether the address of a variable escapes that is taken from the stack when the code gets
    /// there: it lies below a pad that is taken before.
    pub(super) fn moving_variables_escape(&self) -> bool {
        self.variables().any(|(variable, is_fixed)| !is_fixed && raw::escapes(variable))
    }
}
