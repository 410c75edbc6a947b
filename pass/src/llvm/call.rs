//! Calls: what is called, how, and with which arguments.

use super::attributes::kind;
use super::call_instruction::Call;
use super::{block, raw};
use inkwell::attributes::AttributeLoc;
use inkwell::values::{
    BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, LLVMTailCallKind, PointerValue,
};

/// What a call calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function of LLVM's own, without the `llvm.` of its name.
    Intrinsic(String),
    /// A function that the call names.
    Direct,
    /// One defined elsewhere that neither reads nor writes memory.
    Constant,
    /// The value of a pointer.
    Indirect,
    /// Inline assembly: its text and its constraints.
    Assembly(String, String),
}

/// What a value is to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// An integer of so many bits.
    Integer(u32),
    Pointer,
    /// Everything else.
    Other,
}

impl<'ctx> Call<'ctx> {
    /// The function that makes the call.
    pub(crate) fn caller(self) -> FunctionValue<'ctx> {
        block(self.instruction()).get_parent().expect("the pass keeps blocks in their functions")
    }

    /// What the call returns, if that is a pointer.
    pub(crate) fn result(self) -> Option<PointerValue<'ctx>> {
        pointer(self.site())
    }

    fn site(self) -> CallSiteValue<'ctx> {
        raw::call_site(self)
    }

    /// What it calls.
    pub(crate) fn callee(self) -> Callee {
        if let Some((text, constraints)) = raw::assembly(self) {
            return Callee::Assembly(text, constraints);
        }
        let Some(function) = raw::called_function(self) else { return Callee::Indirect };
        if function.get_intrinsic_id() != 0 {
            let name = function.get_name().to_str().unwrap_or("");
            return Callee::Intrinsic(name.trim_start_matches("llvm.").to_owned());
        }
        let constant = function.as_global_value().is_declaration() && is_memoryless(function);
        if constant { Callee::Constant } else { Callee::Direct }
    }

    /// The name of the function that the call names.
    pub(crate) fn callee_name(self) -> Option<String> {
        raw::called_function(self)?.get_name().to_str().ok().map(str::to_owned)
    }

    /// The number of the call's calling convention.
    pub(crate) fn convention(self) -> u32 {
        self.site().get_call_convention()
    }

    /// Whether it is inline assembly that may jump (`callbr`).
    pub(crate) fn may_jump(self) -> bool {
        self.instruction().get_opcode() == InstructionOpcode::CallBr
    }

    /// Whether it may become a jump.
    pub(crate) fn is_tail(self) -> bool {
        self.instruction().get_tail_call_kind() == Ok(LLVMTailCallKind::LLVMTailCallKindTail)
    }

    /// Whether it has to become a jump.
    pub(crate) fn is_musttail(self) -> bool {
        self.instruction().get_tail_call_kind() == Ok(LLVMTailCallKind::LLVMTailCallKindMustTail)
    }

    /// Keeps code generation from making a jump of a call, unless the program must have one. An
    /// `invoke` or `callbr` never becomes one.
    pub(crate) fn forbid_tail_call(self) {
        if self.instruction().get_opcode() == InstructionOpcode::Call && !self.is_musttail() {
            self.site().set_tail_call_kind(LLVMTailCallKind::LLVMTailCallKindNoTail);
        }
    }

    /// Number of arguments.
    pub(crate) fn arguments(self) -> u32 {
        self.site().count_arguments()
    }

    /// An argument; none if there is no such argument, or inkwell has no type for it.
    pub(crate) fn argument(self, index: u32) -> Option<BasicValueEnum<'ctx>> {
        (index < self.arguments()).then(|| raw::operand(&self.instruction(), index)).flatten()
    }

    /// Whether an argument is passed in this way (`byval`, `sret`, …).
    pub(crate) fn passes(self, argument: u32, attribute: &str) -> bool {
        let place = AttributeLoc::Param(argument);
        self.site().get_enum_attribute(place, kind(attribute)).is_some()
    }

    /// Alignment, in bytes, of an argument that may lie on the stack at the call: that of its type,
    /// or of what a `byval` argument points to.
    pub(crate) fn argument_alignment(self, index: u32) -> u32 {
        let layout = raw::data_layout(self.caller());
        let attribute =
            |name| self.site().get_enum_attribute(AttributeLoc::Param(index), kind(name));
        let Some(by_value) = attribute("byval") else {
            let passed = self.argument(index);
            return passed.map_or(u32::MAX, |value| layout.get_abi_alignment(&value.get_type()));
        };
        match attribute("align") {
            Some(said) => u32::try_from(said.get_enum_value()).unwrap_or(u32::MAX),
            None => layout.get_abi_alignment(&by_value.get_type_value()),
        }
    }

    /// What an argument is to the machine.
    pub(crate) fn argument_width(self, index: u32) -> Width {
        Width::of(self.argument(index))
    }
}

impl Width {
    /// What a value is to the machine.
    pub(crate) fn of(value: Option<BasicValueEnum<'_>>) -> Self {
        match value {
            Some(BasicValueEnum::IntValue(value)) => {
                Self::Integer(value.get_type().get_bit_width())
            }
            Some(BasicValueEnum::PointerValue(_)) => Self::Pointer,
            _ => Self::Other,
        }
    }
}

/// What a call returns, if that is a pointer.
pub(crate) fn pointer<'ctx>(call: CallSiteValue<'ctx>) -> Option<PointerValue<'ctx>> {
    call.try_as_basic_value().basic()?.try_into().ok()
}

/// The number that a value is, if it is a constant of at most 64 bits.
pub(crate) fn constant(value: Option<BasicValueEnum<'_>>) -> Option<u64> {
    match value? {
        BasicValueEnum::IntValue(value) => value.get_zero_extended_constant(),
        _ => None,
    }
}

/// Whether a function is known to neither read nor write memory (`memory(none)`).
fn is_memoryless(function: FunctionValue<'_>) -> bool {
    let memory = function.get_enum_attribute(AttributeLoc::Function, kind("memory"));
    memory.is_some_and(|allowed| allowed.get_enum_value() == 0)
}
