//! `llvm::Instruction`, as far as the pass looks at instructions.

use super::{Block, Function, Value};
use llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMGetAlignment, LLVMGetArgOperand, LLVMGetBasicBlockParent,
    LLVMGetCallSiteEnumAttribute, LLVMGetCalledValue, LLVMGetEnumAttributeKindForName,
    LLVMGetEnumAttributeValue, LLVMGetGlobalParent, LLVMGetInlineAsmAsmString,
    LLVMGetInlineAsmConstraintString, LLVMGetInstructionCallConv, LLVMGetInstructionOpcode,
    LLVMGetInstructionParent, LLVMGetIntTypeWidth, LLVMGetIntrinsicID, LLVMGetNextInstruction,
    LLVMGetNumArgOperands, LLVMGetNumOperands, LLVMGetOperand, LLVMGetTailCallKind,
    LLVMGetTypeAttributeValue, LLVMGetTypeKind, LLVMGetValueName2, LLVMIsAAllocaInst,
    LLVMIsAArgument, LLVMIsACastInst, LLVMIsAConstantInt, LLVMIsAFunction,
    LLVMIsAGetElementPtrInst, LLVMIsAInlineAsm, LLVMIsAStoreInst, LLVMSetTailCallKind, LLVMTypeOf,
};
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::target::{LLVMABIAlignmentOfType, LLVMGetModuleDataLayout};
use llvm_sys::{LLVMOpcode, LLVMTailCallKind, LLVMTypeKind};

unsafe extern "C" {
    /// In `shim/register.cpp`.
    fn szc_pass_escapes(variable: LLVMValueRef) -> bool;
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Instruction(LLVMValueRef);

/// Kinds of instructions that the pass tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `call`, `invoke` and `callbr`.
    Call,
    Alloca,
    /// What has to stay at the start of its block.
    Phi,
    LandingPad,
    /// `catchswitch`, `catchpad`, `cleanuppad`.
    Funclet,
    Return,
    Branch,
    Switch,
    /// `indirectbr`: a computed `goto`.
    IndirectBranch,
    /// `unreachable` and `resume`: from here nothing returns to the caller.
    DeadEnd,
    /// `udiv`, `sdiv`, `urem`, `srem`.
    Division,
    /// `frem`.
    FloatRemainder,
    Other,
}

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

impl Instruction {
    /// # Safety
    /// A live instruction.
    pub(super) unsafe fn new(instruction: LLVMValueRef) -> Self {
        Self(instruction)
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.0
    }

    pub(crate) fn kind(self) -> Kind {
        // SAFETY: the instruction is live.
        match unsafe { LLVMGetInstructionOpcode(self.0) } {
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr => Kind::Call,
            LLVMOpcode::LLVMAlloca => Kind::Alloca,
            LLVMOpcode::LLVMPHI => Kind::Phi,
            LLVMOpcode::LLVMLandingPad => Kind::LandingPad,
            LLVMOpcode::LLVMCatchSwitch | LLVMOpcode::LLVMCatchPad | LLVMOpcode::LLVMCleanupPad => {
                Kind::Funclet
            }
            LLVMOpcode::LLVMRet => Kind::Return,
            LLVMOpcode::LLVMBr => Kind::Branch,
            LLVMOpcode::LLVMSwitch => Kind::Switch,
            LLVMOpcode::LLVMIndirectBr => Kind::IndirectBranch,
            LLVMOpcode::LLVMUnreachable | LLVMOpcode::LLVMResume => Kind::DeadEnd,
            LLVMOpcode::LLVMUDiv
            | LLVMOpcode::LLVMSDiv
            | LLVMOpcode::LLVMURem
            | LLVMOpcode::LLVMSRem => Kind::Division,
            LLVMOpcode::LLVMFRem => Kind::FloatRemainder,
            _ => Kind::Other,
        }
    }

    /// Whether it is inline assembly that may jump (`callbr`).
    pub(crate) fn is_jumping_call(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { LLVMGetInstructionOpcode(self.0) == LLVMOpcode::LLVMCallBr }
    }

    /// The next one of its block.
    pub(crate) fn next(self) -> Option<Instruction> {
        // SAFETY: the instruction is live.
        let next = unsafe { LLVMGetNextInstruction(self.0) };
        (!next.is_null()).then_some(Self(next))
    }

    /// Its result.
    pub(crate) fn result(self) -> Value {
        // SAFETY: the instruction is live.
        unsafe { Value::new(self.0) }
    }

    /// Its block.
    pub(crate) fn block(self) -> Block {
        // SAFETY: the instruction is live and in a block.
        unsafe { Block::new(LLVMGetInstructionParent(self.0)) }
    }

    /// Its function.
    pub(crate) fn function(self) -> Function {
        // SAFETY: the block is live and in a function.
        unsafe { Function::new(LLVMGetBasicBlockParent(self.block().raw())) }
    }

    /// What the result is to the machine.
    pub(crate) fn width(self) -> Width {
        // SAFETY: the instruction is live.
        unsafe { width(self.0) }
    }

    /// Whether its first operand is the result of `other`; false without operands.
    pub(crate) fn takes(self, other: Instruction) -> bool {
        // SAFETY: the instruction is live, and has an operand where one is asked for.
        unsafe { LLVMGetNumOperands(self.0) > 0 && LLVMGetOperand(self.0, 0) == other.0 }
    }

    /// Whether any operand is the result of `other`.
    pub(crate) fn takes_anywhere(self, other: Instruction) -> bool {
        // SAFETY: the instruction is live; the indices are below its number of operands.
        unsafe {
            (0..LLVMGetNumOperands(self.0).unsigned_abs())
                .any(|index| LLVMGetOperand(self.0, index) == other.0)
        }
    }

    /// Whether it stores an argument of the function, as it was passed, to a variable of the
    /// function's.
    pub(crate) fn stores_argument_to_variable(self) -> bool {
        // SAFETY: the instruction is live; stores have two operands, casts and address computations
        // one at least.
        unsafe {
            if LLVMIsAStoreInst(self.0).is_null()
                || LLVMIsAArgument(LLVMGetOperand(self.0, 0)).is_null()
            {
                return false;
            }
            let mut to = LLVMGetOperand(self.0, 1);
            while !LLVMIsAGetElementPtrInst(to).is_null() || !LLVMIsACastInst(to).is_null() {
                to = LLVMGetOperand(to, 0);
            }
            !LLVMIsAAllocaInst(to).is_null()
        }
    }

    /// Whether it has operands at all.
    pub(crate) fn has_operands(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { LLVMGetNumOperands(self.0) > 0 }
    }
}

/// Calls.
impl Instruction {
    pub(crate) fn callee(self) -> Callee {
        // SAFETY: a live call; the texts are copied before anything can change.
        unsafe {
            let callee = LLVMGetCalledValue(self.0);
            if !LLVMIsAInlineAsm(callee).is_null() {
                let (mut text_length, mut constraints_length) = (0, 0);
                let text = LLVMGetInlineAsmAsmString(callee, &raw mut text_length);
                let constraints =
                    LLVMGetInlineAsmConstraintString(callee, &raw mut constraints_length);
                return Callee::Assembly(
                    super::text(text, text_length).to_owned(),
                    super::text(constraints, constraints_length).to_owned(),
                );
            }
            if LLVMIsAFunction(callee).is_null() {
                return Callee::Indirect;
            }
            if LLVMGetIntrinsicID(callee) == 0 {
                let function = Function::new(callee);
                let constant = !function.is_defined() && function.is_memoryless();
                return if constant { Callee::Constant } else { Callee::Direct };
            }
            let mut length = 0;
            let name = super::text(LLVMGetValueName2(callee, &raw mut length), length);
            Callee::Intrinsic(name.trim_start_matches("llvm.").to_owned())
        }
    }

    /// The number of the call's calling convention.
    pub(crate) fn calling_convention(self) -> u32 {
        // SAFETY: a live call.
        unsafe { LLVMGetInstructionCallConv(self.0) }
    }

    /// Whether it may become a jump.
    pub(crate) fn is_tail(self) -> bool {
        self.tail_kind() == Some(LLVMTailCallKind::LLVMTailCallKindTail)
    }

    /// Whether it has to become a jump.
    pub(crate) fn is_musttail(self) -> bool {
        self.tail_kind() == Some(LLVMTailCallKind::LLVMTailCallKindMustTail)
    }

    /// Keeps code generation from making a jump of a call, unless the program must have one.
    pub(crate) fn keep_as_call(self) {
        if let Some(kind) = self.tail_kind()
            && kind != LLVMTailCallKind::LLVMTailCallKindMustTail
        {
            // SAFETY: the instruction is live and a `call`, as only these have a kind.
            unsafe { LLVMSetTailCallKind(self.0, LLVMTailCallKind::LLVMTailCallKindNoTail) };
        }
    }

    /// The name of the function that a call names.
    pub(crate) fn callee_name(self) -> Option<String> {
        // SAFETY: the instruction is live and a call; what it calls is live as long as it is.
        unsafe {
            let callee = LLVMGetCalledValue(self.0);
            (!LLVMIsAFunction(callee).is_null()).then(|| Function::new(callee).name().to_owned())
        }
    }

    fn tail_kind(self) -> Option<LLVMTailCallKind> {
        // SAFETY: the instruction is live, and only asked if it is a plain call.
        unsafe {
            (LLVMGetInstructionOpcode(self.0) == LLVMOpcode::LLVMCall)
                .then(|| LLVMGetTailCallKind(self.0))
        }
    }

    /// Number of arguments.
    pub(crate) fn arguments(self) -> u32 {
        // SAFETY: a live call.
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    /// Whether an argument is passed in this way (`byval`, `sret`, …).
    pub(crate) fn passes(self, argument: u32, attribute: &str) -> bool {
        // SAFETY: a live call; parameters count from 1 among attributes.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
            !LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind).is_null()
        }
    }

    /// Alignment, in bytes, of an argument that may lie on the stack at the call: that of its type,
    /// or of what a `byval` argument points to.
    pub(crate) fn argument_alignment(self, argument: u32) -> u32 {
        // SAFETY: a live call that has the argument, in a function of a module; parameters count
        // from 1 among attributes.
        unsafe {
            let kind =
                |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute =
                |name: &str| LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind(name));
            let layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(self.function().raw()));
            let by_value = attribute("byval");
            if by_value.is_null() {
                let passed = LLVMTypeOf(LLVMGetArgOperand(self.0, argument));
                return LLVMABIAlignmentOfType(layout, passed);
            }
            let said = attribute("align");
            if said.is_null() {
                LLVMABIAlignmentOfType(layout, LLVMGetTypeAttributeValue(by_value))
            } else {
                u32::try_from(LLVMGetEnumAttributeValue(said)).unwrap_or(u32::MAX)
            }
        }
    }

    /// The value of an argument, if it is known.
    pub(crate) fn constant_argument(self, argument: u32) -> Option<u64> {
        if argument >= self.arguments() {
            return None;
        }
        // SAFETY: a live call that has the argument; up to 64 bits are asked for.
        unsafe {
            let value = LLVMGetArgOperand(self.0, argument);
            constant(value)
        }
    }

    /// What an argument is to the machine.
    pub(crate) fn argument_width(self, argument: u32) -> Width {
        // SAFETY: a live call that has the argument.
        unsafe { width(LLVMGetArgOperand(self.0, argument)) }
    }
}

/// Allocas.
impl Instruction {
    /// Whether it always takes the same number of bytes.
    pub(crate) fn has_constant_size(self) -> bool {
        // SAFETY: a live alloca; its operand is the number of elements.
        unsafe { constant(LLVMGetOperand(self.0, 0)) }.is_some()
    }

    /// Whether its address may be known outside of the function, be compared with another, or
    /// outlive the function; LLVM's alias analysis answers, and says yes when in doubt.
    pub(crate) fn escapes(self) -> bool {
        // SAFETY: a live alloca, which is a pointer.
        unsafe { szc_pass_escapes(self.0) }
    }

    /// Its alignment in bytes.
    pub(crate) fn alignment(self) -> u32 {
        // SAFETY: a live alloca.
        unsafe { LLVMGetAlignment(self.0) }
    }
}

/// # Safety
/// A live value.
unsafe fn constant(value: LLVMValueRef) -> Option<u64> {
    // SAFETY: promised by the caller.
    unsafe {
        let known =
            !LLVMIsAConstantInt(value).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64;
        known.then(|| LLVMConstIntGetZExtValue(value))
    }
}

/// # Safety
/// A live value.
pub(super) unsafe fn width(value: LLVMValueRef) -> Width {
    // SAFETY: promised by the caller.
    unsafe {
        let kind = LLVMTypeOf(value);
        match LLVMGetTypeKind(kind) {
            LLVMTypeKind::LLVMIntegerTypeKind => Width::Integer(LLVMGetIntTypeWidth(kind)),
            LLVMTypeKind::LLVMPointerTypeKind => Width::Pointer,
            _ => Width::Other,
        }
    }
}
