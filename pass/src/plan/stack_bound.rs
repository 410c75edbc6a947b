//! Whether a function compares where the stack is with an address, or a distance, from elsewhere:
//! how programs bound their own recursion.
//!
//! ```text
//! if (base - &here > 256 * 1024)       the distance of an address in the frame from a kept one
//! if ((char *)&here < limit)           an address in the frame and a kept one
//! return __builtin_frame_address(0);   for such a comparison elsewhere
//! ```
//!
//! A guess: from it follow a default, the pad reserve of such a program, and a message to the
//! user. No such thing are pointers into a variable that are compared with its end, as long as it
//! can be seen that both are of the frame, and what asks whether something lies inside of something
//! else: an address held against both ends of a range, or a distance shorter than any stack.
//! Vectorized loops ask that of arrays (LLVM's `LoopAccessAnalysis`), and CPython in a function for
//! tests that nobody calls.

use super::Body;
use crate::llvm::{Call, Callee, raw};
use inkwell::IntPredicate;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode as Opcode, InstructionValue};
use std::ops::BitOr;

/// How many values are looked at for one comparison: more than compilers put between an address
/// and that.
const MAX_VALUES: u32 = 64;

/// No stack is bounded to so many bytes; vectorized loops are not longer.
const SHORT_BYTES: u64 = 1024;

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

impl Body<'_> {
    /// Whether it looks as if the function bounded the stack by addresses.
    pub(super) fn bounds_stack(&self) -> bool {
        self.instructions().any(|at| compares_with_frame(at) || returns_frame_address(at))
    }
}

fn compares_with_frame(instruction: InstructionValue<'_>) -> bool {
    let predicate = instruction.get_icmp_predicate();
    if matches!(predicate, None | Some(IntPredicate::EQ | IntPredicate::NE)) {
        return false;
    }
    let [one, other] = sides(instruction);
    one.less(other).distance && !is_short(instruction) && !is_one_of_two_ends(instruction)
}

fn sides(comparison: InstructionValue<'_>) -> [Origin; 2] {
    [0, 1].map(|index| origin(raw::operand(&comparison, index), &mut { MAX_VALUES }))
}

/// Whether a distance in bytes is compared with a short one.
fn is_short(comparison: InstructionValue<'_>) -> bool {
    let [distance, bound] = [0, 1].map(|index| raw::operand(&comparison, index));
    let is_distance = distance
        .and_then(|value| value.as_instruction_value())
        .is_some_and(|value| value.get_opcode() == Opcode::Sub);
    let Some(BasicValueEnum::IntValue(bound)) = bound else { return false };
    is_distance && bound.get_zero_extended_constant().is_some_and(|bytes| bytes <= SHORT_BYTES)
}

/// Whether the answer is joined with that of a comparison in the other direction.
fn is_one_of_two_ends(comparison: InstructionValue<'_>) -> bool {
    let Some(below) = is_frame_below(comparison) else { return false };
    let joins = |user: &InstructionValue<'_>| {
        matches!(user.get_opcode(), Opcode::And | Opcode::Or | Opcode::Select)
    };
    raw::users(comparison).into_iter().filter(joins).any(|user| {
        (0..user.get_num_operands())
            .filter_map(|index| raw::operand(&user, index)?.as_instruction_value())
            .any(|other| is_frame_below(other) == Some(!below))
    })
}

/// Whether a comparison is true if an address of the frame is below one from elsewhere, rather than
/// above it; nothing if it does not compare two such addresses.
fn is_frame_below(comparison: InstructionValue<'_>) -> Option<bool> {
    let is_less = match comparison.get_icmp_predicate()? {
        IntPredicate::ULT | IntPredicate::ULE | IntPredicate::SLT | IntPredicate::SLE => true,
        IntPredicate::UGT | IntPredicate::UGE | IntPredicate::SGT | IntPredicate::SGE => false,
        IntPredicate::EQ | IntPredicate::NE => return None,
    };
    match sides(comparison) {
        [FRAME, KEPT] => Some(is_less),
        [KEPT, FRAME] => Some(!is_less),
        _ => None,
    }
}

fn returns_frame_address(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == Opcode::Return && {
        let returned = origin(raw::operand(&instruction, 0), &mut { MAX_VALUES });
        returned.frame && !returned.kept
    }
}

/// What a value is made of; `left` is how many more are looked at.
fn origin(value: Option<BasicValueEnum<'_>>, left: &mut u32) -> Origin {
    if *left == 0 {
        return NOTHING;
    }
    *left -= 1;
    let Some(value) = value else { return NOTHING };
    match raw::value_kind(value) {
        LLVMValueKind::LLVMArgumentValueKind | LLVMValueKind::LLVMGlobalVariableValueKind => KEPT,
        LLVMValueKind::LLVMConstantExprValueKind => origin(raw::operand(&value, 0), left),
        _ => value.as_instruction_value().map_or(NOTHING, |value| computed(value, left)),
    }
}

/// What an instruction makes of what it takes.
fn computed(instruction: InstructionValue<'_>, left: &mut u32) -> Origin {
    let mut of = |index| origin(raw::operand(&instruction, index), left);
    match instruction.get_opcode() {
        Opcode::Alloca => FRAME,
        Opcode::PtrToInt
        | Opcode::PtrToAddr
        | Opcode::IntToPtr
        | Opcode::BitCast
        | Opcode::Trunc
        | Opcode::ZExt
        | Opcode::SExt
        | Opcode::And
        | Opcode::Freeze
        // What is added to an address by an index, or shifted out of a distance, is no address.
        | Opcode::LShr
        | Opcode::AShr
        | Opcode::SDiv
        | Opcode::UDiv
        | Opcode::GetElementPtr => of(0),
        Opcode::Sub => of(0).less(of(1)),
        Opcode::Add | Opcode::Phi => {
            (0..instruction.get_num_operands()).map(of).fold(NOTHING, BitOr::bitor)
        }
        Opcode::Select => of(1) | of(2),
        Opcode::Load => loaded(raw::operand(&instruction, 0), left),
        _ => match Call::of(instruction) {
            Some(call) if !call.may_jump() => called(call, left),
            _ => NOTHING,
        },
    }
}

/// What lies in a variable of the frame is what was stored to it; if that is an array or a
/// structure nothing is known.
fn loaded(from: Option<BasicValueEnum<'_>>, left: &mut u32) -> Origin {
    let variable = from
        .and_then(|from| from.as_instruction_value())
        .filter(|from| from.get_opcode() == Opcode::Alloca);
    if let Some(variable) = variable {
        let stores = raw::stores_to(variable).into_iter();
        return stores
            .map(|store| origin(raw::operand(&store, 0), left))
            .fold(NOTHING, BitOr::bitor);
    }
    if origin(from, left).frame { NOTHING } else { KEPT }
}

/// What a call returns.
fn called(call: Call<'_>, left: &mut u32) -> Origin {
    let mut of = |index| origin(call.argument(index), left);
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
            let given = (0..call.arguments()).map(of).fold(NOTHING, BitOr::bitor);
            if given.frame { NOTHING } else { KEPT }
        }
    }
}
