//! Which instructions are calls in the machine code too. LLVM calls many things a call that become
//! an instruction or nothing, and makes calls of some that are none.

use crate::llvm::{Block, Callee, Instruction, Kind, Width};

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
pub(super) fn any_in(block: Block) -> bool {
    block.instructions().any(|instruction| match instruction.kind() {
        Kind::Call => is_call(instruction) && !is_jump(instruction),
        Kind::Division => matches!(instruction.width(), Width::Integer(bits) if bits > 64),
        Kind::FloatRemainder => true,
        _ => false,
    })
}

fn is_call(call: Instruction) -> bool {
    match call.callee() {
        Callee::Direct | Callee::Indirect => true,
        // Such a function has no frame worth a pad (`__errno_location`, `__ctype_b_loc`).
        Callee::Assembly(..) | Callee::Constant => false,
        Callee::Intrinsic(name) => is_library_call(call, &name),
    }
}

fn is_library_call(call: Instruction, name: &str) -> bool {
    let function = call.function();
    let feature = |feature: &str| {
        let features = function.text_attribute("target-features").unwrap_or("");
        features.split(',').any(|present| present == feature)
    };
    let first = name.split('.').next().unwrap_or(name);
    match first {
        "memcpy" | "memmove" | "memset" => {
            let small = function.has("optsize") || function.has("minsize");
            let limit = if first == "memset" { 2 * INLINE_BYTES } else { INLINE_BYTES };
            let limit = if small { limit / 2 } else { limit };
            // Destination, source or value, number of bytes.
            let known = call.constant_argument(2).is_some_and(|bytes| bytes <= limit);
            let inline = name.contains(".inline.");
            !known && !inline
        }
        "fma" => !feature("+fma"),
        _ if ROUNDING.contains(&first) => !feature("+sse4.1"),
        _ => LIBRARY.contains(&first),
    }
}

/// Whether code generation makes a jump of a call, behind the end of this function's frame.
fn is_jump(call: Instruction) -> bool {
    let function = call.function();
    call.is_tail()
        && !function.has("optnone")
        && function.text_attribute("disable-tail-calls") != Some("true")
        && [call.calling_convention(), function.calling_convention()]
            .iter()
            .all(|convention| LIKE_C.contains(convention))
        && takes_registers_only(call)
        && is_last(call)
}

/// Whether all arguments fit into registers.
fn takes_registers_only(call: Instruction) -> bool {
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
fn is_last(call: Instruction) -> bool {
    let mut next = call.next();
    while let Some(instruction) = next {
        match instruction.kind() {
            Kind::Return => return !instruction.has_operands() || instruction.takes(call),
            Kind::Branch => return returns_at_once(instruction.block(), call),
            Kind::Call if is_silent(instruction) => next = instruction.next(),
            _ => return false,
        }
    }
    false
}

/// Whether the one block behind `block` only returns, and returns what `call` did.
fn returns_at_once(block: Block, call: Instruction) -> bool {
    let successors = block.successors();
    let &[to] = successors.as_slice() else { return false };
    let mut phis = Vec::new();
    for instruction in to.instructions() {
        match instruction.kind() {
            Kind::Phi => phis.push(instruction),
            Kind::Return => {
                let returned = phis.iter().find(|&&phi| instruction.takes(phi));
                return !instruction.has_operands()
                    || returned.is_some_and(|phi| phi.takes_anywhere(call));
            }
            _ => return false,
        }
    }
    false
}

fn is_silent(call: Instruction) -> bool {
    match call.callee() {
        Callee::Intrinsic(name) => SILENT.contains(&name.split('.').next().unwrap_or("")),
        _ => false,
    }
}
