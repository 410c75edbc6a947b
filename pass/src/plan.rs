//! Decides what happens to each function of a module, and changes nothing: whether its frame gets a
//! pad, where, or why not; and whether the compiler knows why it must not move.
//!
//! When in doubt a function gets no pad: an unpadded function is right, only less random.

mod assembly;
mod calls;
mod flow;
mod placement;
mod print;
mod resizable;
mod stack_bound;
mod telling;
mod variables;

pub(crate) use calls::LIKE_C;
pub(crate) use print::print;

use crate::llvm::{Attributes, Call, Callee, constant, is_emitted, module_flag, raw, terminator};
use crate::mode::Mode;
use assembly::Assembly;
use flow::{Flow, ProgramPoint};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode as Opcode, InstructionValue};
use std::collections::HashMap;
use szc_abi::stack::{FUNCTIONS_SECTION, Stay};

/// `CodeModel::Medium` in LLVM; from here on records have another shape.
const MEDIUM_CODE_MODEL: u64 = 3;

/// Calling conventions (`llvm/IR/CallingConv.h`) in which the frame pointer passes no argument
/// and the callee saves it: C, fast, cold, `preserve_most`, `preserve_all`, x86-64 System V.
const CONVENTIONS: [u32; 6] = [0, 8, 9, 14, 15, 78];

/// As a callee's convention also Microsoft's.
const WIN64: u32 = 79;

/// Alignment of the stack at calls, in bytes.
const STACK_ALIGNMENT: u32 = 16;

/// These search beside or behind the image of their caller. As a jump, such a call would have the
/// return address of the caller's caller, and the link step could not tell which function that is.
const CALLER_SENSITIVE: [&str; 4] = ["dlsym", "dlvsym", "dlmopen", "dlopen"];

/// Intrinsics that tell the value of the stack pointer, which is kept and compared as addresses of
/// variables are, and lies below any pad.
const STACK_READING: [&str; 3] = ["read_register", "read_volatile_register", "stackaddress"];

/// What happens to the functions of a module.
#[derive(Debug)]
pub(crate) struct Plan<'ctx> {
    /// Functions for which code will be emitted, and that have no record yet.
    pub functions: Vec<FunctionPlan<'ctx>>,
    /// Code generation can leave records in the shape that the link step reads.
    pub records: bool,
}

/// What happens to a function.
#[derive(Debug)]
pub(crate) struct FunctionPlan<'ctx> {
    pub function: FunctionValue<'ctx>,
    /// Where the frame gets its pad, on different paths, or why it gets none.
    pub pad: Result<Vec<Site<'ctx>>, Unpadded>,
    /// The pad is left to the function's copies.
    pub resizable: bool,
    /// It compares where the stack is with addresses from elsewhere.
    pub bounds_stack: bool,
    /// Addresses of its variables may be kept, so they must stay where they are in the frame.
    pub addressed: bool,
    /// Why the function must not move, if the compiler knows a reason.
    pub pinned: Option<Stay>,
    /// Calls whose return address the loader looks at.
    pub caller_sensitive: Vec<Call<'ctx>>,
    /// Where blocks tell that they are executed, if they are to: in front of these instructions.
    pub telling: Vec<InstructionValue<'ctx>>,
}

/// Where a pad is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Site<'ctx> {
    /// In front of this instruction of the entry block.
    Entry(InstructionValue<'ctx>),
    /// In front of this instruction of the block of that number.
    Later(InstructionValue<'ctx>, usize),
    /// On the way from one block to another.
    Edge(BasicBlock<'ctx>, BasicBlock<'ctx>),
}

/// Why a frame gets no pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpadded {
    NotAsked,
    Sanitized,
    Labels,
    Naked,
    NoCall,
    Musttail,
    Coroutine,
    Convention,
    Registers,
    Funclets,
    Collected,
    OtherStack,
    StackProbe,
    Setjmp,
    AlignedArguments,
    AddressedArray,
    StackRegister,
    AssemblyStack,
    AssemblyRegisters,
}

/// Decides about a module; nothing is to be done to one for another machine.
pub(crate) fn plan<'ctx>(module: &Module<'ctx>, mode: Mode) -> Option<Plan<'ctx>> {
    if !is_supported(module) {
        return None;
    }
    let emitted = functions_without_record(module);
    let sanitized = emitted.iter().any(|&function| is_sanitized(function));
    let functions = emitted.into_iter().map(|function| {
        let body = Body::of(function);
        let pad = match mode {
            Mode::Records | Mode::Paths => Err(Unpadded::NotAsked),
            _ if sanitized => Err(Unpadded::Sanitized),
            Mode::PerCopy if body.has_labels() => Err(Unpadded::Labels),
            _ => body.pad(),
        };
        let resizable = mode == Mode::PerCopy && pad.is_ok() && body.is_resizable();
        let addressed = resizable && body.variables_escape();
        let bounds_stack = body.bounds_stack();
        let (pinned, caller_sensitive) = (body.pinned(), body.caller_sensitive());
        let telling = if mode == Mode::Paths { body.telling() } else { Vec::new() };
        FunctionPlan {
            function,
            pad,
            resizable,
            bounds_stack,
            addressed,
            pinned,
            caller_sensitive,
            telling,
        }
    });
    Some(Plan {
        functions: functions.collect(),
        records: module_flag(module, "Code Model").is_none_or(|model| model < MEDIUM_CODE_MODEL),
    })
}

/// Functions of a module for which code will be emitted, and that have no record yet.
pub(crate) fn functions_without_record<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let wanted = |&function: &FunctionValue| {
        is_emitted(function) && !raw::is_recorded(function, FUNCTIONS_SECTION)
    };
    module.get_functions().filter(wanted).collect()
}

/// Whether a module is for x86-64 Linux with pointers of 8 bytes.
pub(crate) fn is_supported(module: &Module<'_>) -> bool {
    let triple = module.get_triple();
    let mut parts = triple.as_str().to_str().unwrap_or("").split('-');
    parts.next() == Some("x86_64")
        && parts.clone().any(|part| part == "linux")
        && !parts.any(|part| part.ends_with("x32"))
}

/// Sanitizers keep their own account of where on the stack things are.
fn is_sanitized(function: FunctionValue<'_>) -> bool {
    ["sanitize_address", "sanitize_hwaddress", "sanitize_memory", "sanitize_thread"]
        .into_iter()
        .any(|attribute| function.has(attribute))
}

/// A function's instructions, as far as the plan depends on them.
struct Body<'ctx> {
    function: FunctionValue<'ctx>,
    blocks: Vec<BasicBlock<'ctx>>,
    /// All its calls.
    calls: Vec<(Call<'ctx>, Callee)>,
    assembly: Vec<Assembly>,
}

impl<'ctx> Body<'ctx> {
    fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks: Vec<BasicBlock> = function.get_basic_block_iter().collect();
        let calls: Vec<(Call, Callee)> = blocks
            .iter()
            .flat_map(|block| block.get_instructions())
            .filter_map(Call::of)
            .map(|call| (call, call.callee()))
            .collect();
        let assembly = calls.iter().filter_map(|(_, callee)| match callee {
            Callee::Assembly(text, constraints) => Some(Assembly::read(text, constraints)),
            _ => None,
        });
        Self { function, assembly: assembly.collect(), calls, blocks }
    }

    fn pinned(&self) -> Option<Stay> {
        /// `X86_INTR` in LLVM.
        const INTERRUPT: u32 = 83;
        let function = self.function;
        let present = |name| function.text_attribute(name).is_some();
        let is = |name, value| function.text_attribute_is(name, value);
        if function.has("naked") {
            return Some(Stay::Naked);
        }
        if function.get_call_conventions() == INTERRUPT {
            return Some(Stay::Interrupt);
        }
        let patched = present("patchable-function")
            || present("patchable-function-entry")
            || present("patchable-function-prefix")
            || is("function-instrument", "xray-always")
            || (present("xray-instruction-threshold") && !is("function-instrument", "xray-never"))
            || (is("fentry-call", "true") && present("mrecord-mcount"));
        if patched {
            return Some(Stay::Patched);
        }
        self.assembly.iter().any(|assembly| assembly.leaves_function).then_some(Stay::Assembly)
    }

    fn caller_sensitive(&self) -> Vec<Call<'ctx>> {
        let named = |call: &Call| {
            call.callee_name().is_some_and(|name| CALLER_SENSITIVE.contains(&name.as_str()))
        };
        let direct = self.calls.iter().filter(|(_, callee)| *callee == Callee::Direct);
        direct.map(|(call, _)| *call).filter(named).collect()
    }

    fn pad(&self) -> Result<Vec<Site<'ctx>>, Unpadded> {
        if let Some(reason) = self.refusal() {
            return Err(reason);
        }
        let sites = self.sites();
        if sites.is_empty() { Err(Unpadded::NoCall) } else { Ok(sites) }
    }

    /// Why a frame pointer or a stack that moves would be wrong here.
    fn refusal(&self) -> Option<Unpadded> {
        let function = self.function;
        let present = |name| function.text_attribute(name).is_some();
        let convention = function.get_call_conventions();
        let conventions = self.calls.iter().all(|(call, _)| {
            let convention = call.convention();
            CONVENTIONS.contains(&convention) || convention == WIN64
        });
        let intrinsic = |prefixes: &[&str]| {
            self.calls.iter().any(|(_, callee)| match callee {
                Callee::Intrinsic(name) => prefixes.iter().any(|prefix| name.starts_with(prefix)),
                _ => false,
            })
        };
        let realigned = present("stackrealign")
            || self.variables().any(|(variable, _)| alignment(variable) > STACK_ALIGNMENT);
        let checks = [
            (function.has("naked"), Unpadded::Naked),
            (function.has("presplitcoroutine") || intrinsic(&["coro."]), Unpadded::Coroutine),
            (self.calls.iter().any(|(call, _)| call.is_musttail()), Unpadded::Musttail),
            (!CONVENTIONS.contains(&convention) || !conventions, Unpadded::Convention),
            (
                present("no_caller_saved_registers") || present("no_callee_saved_registers"),
                Unpadded::Registers,
            ),
            (
                self.instructions().any(is_funclet)
                    || intrinsic(&["localescape", "localrecover", "eh.recoverfp", "seh."]),
                Unpadded::Funclets,
            ),
            (
                raw::is_collected(function)
                    || intrinsic(&["experimental.", "gc", "call.preallocated"]),
                Unpadded::Collected,
            ),
            (function.has("safestack") || present("split-stack"), Unpadded::OtherStack),
            (
                present("probe-stack") && !function.text_attribute_is("probe-stack", "inline-asm"),
                Unpadded::StackProbe,
            ),
            (intrinsic(&["eh.sjlj"]), Unpadded::Setjmp),
            (self.passes_aligned_arguments(), Unpadded::AlignedArguments),
            (self.moving_variables_escape(), Unpadded::AddressedArray),
            (intrinsic(&STACK_READING), Unpadded::StackRegister),
            (self.assembly.iter().any(|assembly| assembly.names_stack), Unpadded::AssemblyStack),
            (
                self.assembly.iter().any(|assembly| assembly.needs_registers(realigned)),
                Unpadded::AssemblyRegisters,
            ),
        ];
        checks.into_iter().find_map(|(applies, reason)| applies.then_some(reason))
    }

    /// Whether a call may pass something on the stack that is aligned to more than the stack is:
    /// the frame then keeps a larger alignment down to its calls, which a pad would not.
    fn passes_aligned_arguments(&self) -> bool {
        let passes = |call: Call| {
            (0..call.arguments()).any(|index| call.argument_alignment(index) > STACK_ALIGNMENT)
        };
        self.calls.iter().any(|(call, callee)| {
            matches!(callee, Callee::Direct | Callee::Constant | Callee::Indirect) && passes(*call)
        })
    }

    /// Where pads are taken; nowhere if no call needs one.
    fn sites(&self) -> Vec<Site<'ctx>> {
        let numbers: HashMap<BasicBlock, usize> =
            self.blocks.iter().enumerate().map(|(number, &block)| (block, number)).collect();
        let successors: Vec<Vec<usize>> = self
            .blocks
            .iter()
            .map(|&block| raw::successors(block).iter().map(|to| numbers[to]).collect())
            .collect();
        let flow = Flow::new(successors);
        let last = |block: usize| terminator(self.blocks[block]).get_opcode();
        let dead_ends: Vec<bool> = (0..self.blocks.len())
            .map(|block| matches!(last(block), Opcode::Unreachable | Opcode::Resume))
            .collect();
        let mut noreturn = flow.noreturn(&dead_ends);
        // On its way to its end a program pays for no pad; unless that is all that it does.
        if noreturn[0] {
            noreturn.fill(false);
        }
        let calling: Vec<bool> = self.blocks.iter().map(|&block| calls::any_in(block)).collect();
        let points = placement::points(&flow, &calling, &noreturn);
        let can_split = |point: &ProgramPoint| match *point {
            ProgramPoint::Block(_) => true,
            ProgramPoint::Edge(from, to) => {
                let edges = flow.successors(from).iter().filter(|&&other| other == to).count();
                matches!(last(from), Opcode::Br | Opcode::Switch) && edges == 1
            }
        };
        if points.iter().all(can_split) {
            return points.into_iter().filter_map(|point| self.site(point)).collect();
        }
        // Some terminators cannot be retargeted; in front of everything is right too.
        self.site(ProgramPoint::Block(0)).into_iter().collect()
    }

    fn site(&self, point: ProgramPoint) -> Option<Site<'ctx>> {
        match point {
            ProgramPoint::Block(0) => self.first_movable(0).map(Site::Entry),
            ProgramPoint::Block(block) => {
                self.first_movable(block).map(|first| Site::Later(first, block))
            }
            ProgramPoint::Edge(from, to) => Some(Site::Edge(self.blocks[from], self.blocks[to])),
        }
    }

    /// The first instruction of a block that another block may take over: behind what starts a
    /// block, and behind the local variables, which the entry has to hold.
    fn first_movable(&self, block: usize) -> Option<InstructionValue<'ctx>> {
        let fixed = |instruction: &InstructionValue| match instruction.get_opcode() {
            Opcode::Phi | Opcode::LandingPad => true,
            Opcode::Alloca => block == 0 && has_constant_size(*instruction),
            _ => false,
        };
        let last = self.blocks[block].get_instructions().filter(fixed).last();
        match last {
            Some(last) => last.get_next_instruction(),
            None => self.blocks[block].get_first_instruction(),
        }
    }

    /// Whether the program may keep addresses of labels, which lead into another copy than the one
    /// that took them.
    fn has_labels(&self) -> bool {
        self.blocks.iter().any(|&block| terminator(block).get_opcode() == Opcode::IndirectBr)
    }

    fn instructions(&self) -> impl Iterator<Item = InstructionValue<'ctx>> {
        self.blocks.iter().flat_map(|block| block.get_instructions())
    }
}

/// Whether it starts an exception handler that is a function of its own.
fn is_funclet(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), Opcode::CatchSwitch | Opcode::CatchPad | Opcode::CleanupPad)
}

/// Whether an alloca always takes the same number of bytes; its operand is the number of elements.
fn has_constant_size(variable: InstructionValue<'_>) -> bool {
    constant(raw::operand(&variable, 0)).is_some()
}

/// Alignment of an alloca, in bytes.
fn alignment(variable: InstructionValue<'_>) -> u32 {
    variable.get_alignment().expect("an alloca has an alignment")
}
