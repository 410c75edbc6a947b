//! Which instructions are calls in the machine code too. LLVM calls many things a call that become
//! an instruction or nothing, and makes calls of some that are none.

use crate::llvm::{Attributes, Call, Callee, Width, constant, raw};
use inkwell::basic_block::BasicBlock;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{InstructionOpcode as Opcode, InstructionValue};

/// Bytes that code generation copies inline, if it knows how many there are: those of 8 vector
/// registers. It fills twice as many; and half of either when optimizing for size.
const INLINE_BYTES: u64 = 128;

/// Intrinsics that are functions of the mathematical library.
const LIBRARY: [&str; 30] = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "sincos",
    "sincospi",
    "modf",
    "pow",
    "powi",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "round",
    "lround",
    "llround",
    "lrint",
    "llrint",
    "frexp",
    "ldexp",
    "objc",
    "clear_cache",
];

/// Intrinsics that are instructions of SSE 4.1, and else functions.
const ROUNDING: [&str; 6] = ["floor", "ceil", "trunc", "rint", "nearbyint", "roundeven"];

/// Intrinsics that say something about the program and do nothing.
const SILENT: [&str; 5] = ["lifetime", "assume", "dbg", "experimental", "invariant"];

/// Calling conventions (`llvm/IR/CallingConv.h`) that keep the same registers, return in the same
/// ones, and leave arguments on the stack to the caller, so that a function of one may end in a
/// jump to a function of another: C, fast (what optimization makes of C for a function that only
/// this file calls), x86-64 System V. Calls by others of those that get pads never become jumps.
pub(crate) const LIKE_C: [u32; 3] = [0, 8, 78];

/// Whether a block makes a call that needs this function's frame.
pub(super) fn any_in(block: BasicBlock<'_>) -> bool {
    block.get_instructions().any(|instruction| match instruction.get_opcode() {
        Opcode::UDiv | Opcode::SDiv | Opcode::URem | Opcode::SRem => is_wide(instruction),
        Opcode::FRem => true,
        _ => Call::of(instruction).is_some_and(|call| is_call(call) && !is_jump(call)),
    })
}

/// Whether a division is of integers that no instruction divides.
fn is_wide(division: InstructionValue<'_>) -> bool {
    matches!(division.get_type(), AnyTypeEnum::IntType(kind) if kind.get_bit_width() > 64)
}

fn is_call(call: Call<'_>) -> bool {
    match call.callee() {
        Callee::Direct | Callee::Indirect => true,
        // Such a function has no frame worth a pad (`__errno_location`, `__ctype_b_loc`).
        Callee::Assembly(..) | Callee::Constant => false,
        Callee::Intrinsic(name) => is_library_call(call, &name),
    }
}

fn is_library_call(call: Call<'_>, name: &str) -> bool {
    let function = call.caller();
    let feature = |feature: &str| {
        let features = function.text_attribute("target-features").unwrap_or_default();
        features.split(',').any(|present| present == feature)
    };
    let first = name.split('.').next().unwrap_or(name);
    match first {
        "memcpy" | "memmove" | "memset" => {
            let small = function.has("optsize") || function.has("minsize");
            let limit = if first == "memset" { 2 * INLINE_BYTES } else { INLINE_BYTES };
            let limit = if small { limit / 2 } else { limit };
            // Destination, source or value, number of bytes.
            let known = constant(call.argument(2)).is_some_and(|bytes| bytes <= limit);
            let inline = name.contains(".inline.");
            !known && !inline
        }
        "fma" => !feature("+fma"),
        _ if ROUNDING.contains(&first) => !feature("+sse4.1"),
        _ => LIBRARY.contains(&first),
    }
}

/// Whether code generation makes a jump of a call, behind the end of this function's frame.
fn is_jump(call: Call<'_>) -> bool {
    let function = call.caller();
    call.is_tail()
        && !function.has("optnone")
        && !function.text_attribute_is("disable-tail-calls", "true")
        && [call.convention(), function.get_call_conventions()]
            .iter()
            .all(|convention| LIKE_C.contains(convention))
        && takes_registers_only(call)
        && is_last(call)
}

/// Whether all arguments fit into registers.
fn takes_registers_only(call: Call<'_>) -> bool {
    let in_memory = |argument| call.passes(argument, "byval") || call.passes(argument, "sret");
    !(0..call.arguments()).any(in_memory)
        && fit_registers((0..call.arguments()).map(|argument| call.argument_width(argument)))
}

/// Whether arguments fit into the registers that the System V ABI has for them.
pub(super) fn fit_registers(arguments: impl Iterator<Item = Width>) -> bool {
    let (mut general, mut others) = (0, 0);
    for width in arguments {
        match width {
            Width::Pointer => general += 1,
            Width::Integer(bits) => general += bits.div_ceil(64),
            Width::Other => others += 1,
        }
    }
    general <= 6 && others <= 8
}

/// Whether nothing follows but the return of what the call returns.
fn is_last(call: Call<'_>) -> bool {
    let call = call.instruction();
    let mut next = call.get_next_instruction();
    while let Some(instruction) = next {
        match instruction.get_opcode() {
            Opcode::Return => return returns(instruction, call),
            Opcode::Br => {
                return instruction.get_parent().is_some_and(|block| returns_at_once(block, call));
            }
            _ if is_silent(instruction) => next = instruction.get_next_instruction(),
            _ => return false,
        }
    }
    false
}

/// Whether a return returns nothing, or what an instruction computes.
fn returns(end: InstructionValue<'_>, value: InstructionValue<'_>) -> bool {
    end.get_num_operands() == 0 || raw::takes(end, 0, value)
}

/// Whether the one block behind `block` only returns, and returns what `call` did.
fn returns_at_once(block: BasicBlock<'_>, call: InstructionValue<'_>) -> bool {
    let successors = raw::successors(block);
    let &[to] = successors.as_slice() else { return false };
    let mut phis = Vec::new();
    for instruction in to.get_instructions() {
        match instruction.get_opcode() {
            Opcode::Phi => phis.push(instruction),
            Opcode::Return => {
                let takes_call = |phi: InstructionValue| {
                    (0..phi.get_num_operands()).any(|index| raw::takes(phi, index, call))
                };
                let returned = phis.into_iter().find(|&phi| raw::takes(instruction, 0, phi));
                return instruction.get_num_operands() == 0 || returned.is_some_and(takes_call);
            }
            _ => return false,
        }
    }
    false
}

fn is_silent(instruction: InstructionValue<'_>) -> bool {
    match Call::of(instruction).map(Call::callee) {
        Some(Callee::Intrinsic(name)) => SILENT.contains(&name.split('.').next().unwrap_or("")),
        _ => false,
    }
}
