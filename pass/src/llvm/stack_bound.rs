//! Whether a function compares where the stack is with an address, or a distance, from elsewhere:
//! how programs bound their own recursion.
//!
//! ```text
//! if (base - &here > 256 * 1024)       the distance of an address in the frame from a kept one
//! if ((char *)&here < limit)           an address in the frame and a kept one
//! return __builtin_frame_address(0);   for such a comparison elsewhere
//! ```
//!
//! A guess: from it follow a default, the room for pads of such a program, and what is shown to the
//! user. Pointers into a variable that are compared with its end are no such thing, as long as it
//! can be seen that both are of the frame.

use super::{Callee, Function, Instruction, Kind};
use llvm_sys::core::{
    LLVMGetArgOperand, LLVMGetFirstUse, LLVMGetICmpPredicate, LLVMGetInstructionOpcode,
    LLVMGetNextUse, LLVMGetNumOperands, LLVMGetOperand, LLVMGetUser, LLVMIsAAllocaInst,
    LLVMIsAArgument, LLVMIsAConstantExpr, LLVMIsAGlobalVariable, LLVMIsAInstruction,
    LLVMIsAStoreInst,
};
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::ops::BitOr;

/// How many values are looked at for one comparison: more than compilers put between an address
/// and that.
const MAX_VALUES: u32 = 64;

/// What a value may be made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Origin {
    /// An address in this frame.
    frame: bool,
    /// What was kept elsewhere, or passed.
    kept: bool,
    /// The distance between the two.
    distance: bool,
}

const NOTHING: Origin = Origin { frame: false, kept: false, distance: false };
const FRAME: Origin = Origin { frame: true, ..NOTHING };
const KEPT: Origin = Origin { kept: true, ..NOTHING };
const DISTANCE: Origin = Origin { distance: true, ..NOTHING };

impl BitOr for Origin {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            frame: self.frame || other.frame,
            kept: self.kept || other.kept,
            distance: self.distance || other.distance,
        }
    }
}

impl Origin {
    /// Of the difference of two values.
    fn less(self, other: Self) -> Self {
        let apart = |one: Self, two: Self| one.frame && !one.kept && two.kept && !two.frame;
        if self.distance || other.distance || apart(self, other) || apart(other, self) {
            DISTANCE
        } else if self.frame && other.frame {
            NOTHING
        } else {
            self | other
        }
    }
}

impl Function {
    /// Whether it looks as if the function bounded the stack by addresses.
    pub(crate) fn bounds_its_stack(self) -> bool {
        let mut instructions = self.blocks().flat_map(super::Block::instructions);
        instructions.any(|instruction| {
            instruction.compares_with_frame() || instruction.returns_frame_address()
        })
    }
}

impl Instruction {
    fn compares_with_frame(self) -> bool {
        // SAFETY: a live instruction; comparisons have two operands.
        unsafe {
            if LLVMGetInstructionOpcode(self.raw()) != LLVMOpcode::LLVMICmp
                || matches!(
                    LLVMGetICmpPredicate(self.raw()),
                    LLVMIntPredicate::LLVMIntEQ | LLVMIntPredicate::LLVMIntNE
                )
            {
                return false;
            }
            let [one, other] =
                [0, 1].map(|side| origin(LLVMGetOperand(self.raw(), side), &mut { MAX_VALUES }));
            one.less(other).distance
        }
    }

    fn returns_frame_address(self) -> bool {
        // SAFETY: a live instruction, which has an operand where one is asked for.
        unsafe {
            self.kind() == Kind::Return && self.has_operands() && {
                let returned = origin(LLVMGetOperand(self.raw(), 0), &mut { MAX_VALUES });
                returned.frame && !returned.kept
            }
        }
    }
}

/// What a value is made of; `left` is how many more are looked at.
///
/// # Safety
/// A live value.
unsafe fn origin(value: LLVMValueRef, left: &mut u32) -> Origin {
    // SAFETY: the caller's promise; the indices are below the number of operands of what is asked.
    unsafe {
        if *left == 0 {
            return NOTHING;
        }
        *left -= 1;
        let operands = LLVMGetNumOperands(value).unsigned_abs();
        let mut of = |index| origin(LLVMGetOperand(value, index), left);
        if !LLVMIsAArgument(value).is_null() || !LLVMIsAGlobalVariable(value).is_null() {
            return KEPT;
        }
        if LLVMIsAInstruction(value).is_null() {
            return if LLVMIsAConstantExpr(value).is_null() { NOTHING } else { of(0) };
        }
        match LLVMGetInstructionOpcode(value) {
            LLVMOpcode::LLVMAlloca => FRAME,
            LLVMOpcode::LLVMPtrToInt
            | LLVMOpcode::LLVMPtrToAddr
            | LLVMOpcode::LLVMIntToPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMFreeze
            // What is added to an address by an index, or shifted out of a distance, is no address.
            | LLVMOpcode::LLVMLShr
            | LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMSDiv
            | LLVMOpcode::LLVMUDiv
            | LLVMOpcode::LLVMGetElementPtr => of(0),
            LLVMOpcode::LLVMSub => of(0).less(of(1)),
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMPHI => {
                (0..operands).map(of).fold(NOTHING, |sum, one| sum | one)
            }
            LLVMOpcode::LLVMSelect => of(1) | of(2),
            LLVMOpcode::LLVMLoad => loaded(LLVMGetOperand(value, 0), left),
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => called(value, left),
            _ => NOTHING,
        }
    }
}

/// What lies in a variable of the frame is what was stored to it; if that is an array or a
/// structure nothing is known.
///
/// # Safety
/// A live value that is loaded from.
unsafe fn loaded(from: LLVMValueRef, left: &mut u32) -> Origin {
    // SAFETY: the caller's promise; users of a live value are live, and stores have two operands.
    unsafe {
        if LLVMIsAAllocaInst(from).is_null() {
            let place = origin(from, left);
            return if place.frame { NOTHING } else { KEPT };
        }
        let mut found = NOTHING;
        let mut next = LLVMGetFirstUse(from);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if !LLVMIsAStoreInst(user).is_null() && LLVMGetOperand(user, 1) == from {
                found = found | origin(LLVMGetOperand(user, 0), left);
            }
            next = LLVMGetNextUse(next);
        }
        found
    }
}

/// # Safety
/// A live call.
unsafe fn called(value: LLVMValueRef, left: &mut u32) -> Origin {
    // SAFETY: the caller's promise; the indices are below the number of arguments.
    unsafe {
        let call = Instruction::new(value);
        let mut of = |index| origin(LLVMGetArgOperand(value, index), left);
        match call.callee() {
            Callee::Intrinsic(name) => {
                let is = |known: &[&str]| known.iter().any(|known| name.starts_with(known));
                if is(&["frameaddress", "sponentry", "addressofreturnaddress", "read_register"]) {
                    FRAME
                } else if is(&["abs", "ptrmask", "launder", "strip"]) {
                    of(0)
                } else if is(&["umin", "umax", "smin", "smax", "usub", "uadd"]) {
                    of(0) | of(1)
                } else {
                    NOTHING
                }
            }
            Callee::Assembly(text, _) if text.contains("rsp") => FRAME,
            Callee::Assembly(..) => NOTHING,
            // It may return what it was given, as strchr(3) does.
            Callee::Direct | Callee::Indirect | Callee::Constant => {
                let given = (0..call.arguments()).map(of).fold(NOTHING, |sum, one| sum | one);
                if given.frame { NOTHING } else { KEPT }
            }
        }
    }
}
