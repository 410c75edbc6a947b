//! Which blocks of a function can tell the runtime that they are executed.

use super::{Body, CONVENTIONS, is_funclet};
use crate::llvm::{Attributes, raw};
use inkwell::values::InstructionValue;

impl<'ctx> Body<'ctx> {
    /// Where blocks can tell that they are executed: nowhere in functions in which a call might be
    /// wrong.
    pub(super) fn telling(&self) -> Vec<InstructionValue<'ctx>> {
        let function = self.function;
        let special = ["no_caller_saved_registers", "no_callee_saved_registers"];
        let may_call = CONVENTIONS.contains(&function.get_call_conventions())
            && !function.has("naked")
            && !function.has("presplitcoroutine")
            && !raw::is_collected(function)
            && !special.iter().any(|name| function.text_attribute(name).is_some())
            && !self.instructions().any(is_funclet);
        let blocks = 0..if may_call { self.blocks.len() } else { 0 };
        blocks.filter_map(|block| self.first_movable(block)).collect()
    }
}
