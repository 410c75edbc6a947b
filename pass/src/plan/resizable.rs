//! Which frames may have another size in a copy: those that the code generator lays out once and
//! for all, and whose function reaches nothing above them but by offsets that stand in its
//! instructions.
//!
//! The link step sees those instructions and has the last word. What it cannot see is what an
//! address is of that is computed: here it is, so a function that could compute one above its frame
//! is left out.

use super::calls::{LIKE_C, fit_registers};
use super::{Body, STACK_ALIGNMENT, alignment};
use crate::llvm::{Attributes, Callee, Width, raw};
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode as Opcode, InstructionValue};

/// `coldcc` (`llvm/IR/CallingConv.h`): the callee keeps all registers, and the stack-room check of
/// a copy uses one.
const COLD: u32 = 9;

/// Intrinsics that tell a function where its frame lies, or change the stack pointer.
const FRAME_INTRINSICS: [&str; 14] = [
    "stacksave",
    "stackrestore",
    "frameaddress",
    "returnaddress",
    "addressofreturnaddress",
    "sponentry",
    "eh.dwarf.cfa",
    "eh.return",
    "eh.unwind.init",
    "read_register",
    "read_volatile_register",
    "write_register",
    "get.dynamic.area.offset",
    "va_start",
];

impl Body<'_> {
    /// Whether the frame may have another size in a copy.
    pub(super) fn is_resizable(&self) -> bool {
        let function = self.function;
        // Probes touch each page of a frame, whose pages they count when they are compiled.
        let probed = function.text_attribute("probe-stack").is_some();
        let realigned = function.text_attribute("stackrealign").is_some();
        let knows_its_frame = self.calls.iter().any(|(_, callee)| match callee {
            Callee::Intrinsic(name) => FRAME_INTRINSICS.iter().any(|known| name.starts_with(known)),
            _ => false,
        });
        // The labels that assembly jumps to may be written down for others.
        let jumps = self.calls.iter().any(|(call, _)| call.may_jump());
        !probed
            && !realigned
            && !jumps
            && !knows_its_frame
            && function.get_call_conventions() != COLD
            && self.reaches_its_arguments_directly()
            && self.has_fixed_frame()
    }

    /// Whether no address is computed of what the caller passes on the stack, if it passes anything
    /// there.
    fn reaches_its_arguments_directly(&self) -> bool {
        let function = self.function;
        let in_memory = ["byval", "inalloca", "preallocated"];
        let parameters = function.get_param_iter().map(|parameter| Width::of(Some(parameter)));
        !function.get_type().is_var_arg()
            && !in_memory.iter().any(|attribute| function.any_parameter_has(attribute))
            && (fit_registers(parameters) || self.leaves_arguments_on_stack())
    }

    /// Whether arguments on the stack stay there and are read from there: the caller takes them
    /// away, and none is a variable. (Code generation lets the variable that an argument is stored
    /// to be the argument itself, on the stack, whose address may then be computed.)
    fn leaves_arguments_on_stack(&self) -> bool {
        LIKE_C.contains(&self.function.get_call_conventions())
            && !self.instructions().any(stores_argument_to_variable)
    }

    /// Whether all variables have their place in the frame when it is taken, and need no more than
    /// its alignment.
    fn has_fixed_frame(&self) -> bool {
        self.variables()
            .all(|(variable, is_fixed)| is_fixed && alignment(variable) <= STACK_ALIGNMENT)
    }
}

/// Whether an instruction stores an argument of the function, as it was passed, to a variable of
/// the function's.
fn stores_argument_to_variable(instruction: InstructionValue<'_>) -> bool {
    let is_argument = |value| raw::value_kind(value) == LLVMValueKind::LLVMArgumentValueKind;
    instruction.get_opcode() == Opcode::Store
        && raw::operand(&instruction, 0).is_some_and(is_argument)
        && raw::operand(&instruction, 1).is_some_and(is_in_variable)
}

/// Whether an address is computed from that of a variable alone.
fn is_in_variable(address: BasicValueEnum<'_>) -> bool {
    let Some(instruction) = address.as_instruction_value() else { return false };
    match instruction.get_opcode() {
        Opcode::Alloca => true,
        Opcode::GetElementPtr
        | Opcode::AddrSpaceCast
        | Opcode::BitCast
        | Opcode::IntToPtr
        | Opcode::PtrToAddr
        | Opcode::PtrToInt
        | Opcode::SExt
        | Opcode::Trunc
        | Opcode::ZExt => raw::operand(&instruction, 0).is_some_and(is_in_variable),
        _ => false,
    }
}
