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
mod variables;

pub(crate) use calls::LIKE_C;
pub(crate) use print::print;

use crate::llvm::{Block, Callee, Function, Instruction, Kind, Module};
use crate::mode::Mode;
use assembly::Assembly;
use flow::{Flow, Place};
use std::collections::HashMap;
use szc_abi::stack::{FUNCTIONS_SECTION, Stay};

/// `CodeModel::Medium` in LLVM; from here on records have another shape.
const MEDIUM_CODE_MODEL: u64 = 3;

/// Calling conventions (`llvm/IR/CallingConv.h`) in which the frame pointer is nobody's argument
/// and is kept by the callee: C, fast, cold, `preserve_most`, `preserve_all`, x86-64 System V.
const CONVENTIONS: [u32; 6] = [0, 8, 9, 14, 15, 78];

/// As a callee's convention also Microsoft's.
const WIN64: u32 = 79;

/// Alignment of the stack at calls, in bytes.
const STACK_ALIGNMENT: u32 = 16;

/// These search beside or behind the image of their caller. As a jump, such a call would have the
/// return address of the caller's caller, and the link step could not tell which function that is.
const CALLER_ASKING: [&str; 4] = ["dlsym", "dlvsym", "dlmopen", "dlopen"];

/// Intrinsics that tell the value of the stack pointer, which is kept and compared as addresses of
/// variables are, and lies below any pad.
const STACK_READING: [&str; 3] = ["read_register", "read_volatile_register", "stackaddress"];

/// What happens to the functions of a module.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Functions for which code will be emitted, and that have no record yet.
    pub functions: Vec<FunctionPlan>,
    /// Code generation can leave records in the shape that the link step reads.
    pub records: bool,
}

/// What happens to a function.
#[derive(Debug)]
pub(crate) struct FunctionPlan {
    pub function: Function,
    /// Where the frame gets its pad, on different paths, or why it gets none.
    pub pad: Result<Vec<Site>, Unpadded>,
    /// The pad is left to the function's copies.
    pub resizable: bool,
    /// It compares where the stack is with addresses from elsewhere.
    pub bounds_stack: bool,
    /// Addresses of its variables may be kept, so they must stay where they are in the frame.
    pub addressed: bool,
    /// Why the function must not move, if the compiler knows a reason.
    pub stay: Option<Stay>,
    /// Calls whose return address the loader looks at.
    pub asking: Vec<Instruction>,
}

/// Where a pad is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Site {
    /// In front of this instruction of the entry block.
    Entry(Instruction),
    /// In front of this instruction of the block of that number.
    Later(Instruction, usize),
    /// On the way from one block to another.
    Edge(Block, Block),
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
pub(crate) fn plan(module: Module, mode: Mode) -> Option<Plan> {
    if !is_supported(module.target()) {
        return None;
    }
    let emitted: Vec<Function> = module
        .functions()
        .filter(|function| function.is_emitted() && !function.is_recorded(FUNCTIONS_SECTION))
        .collect();
    let sanitized = emitted.iter().any(|&function| is_sanitized(function));
    let functions = emitted.into_iter().map(|function| {
        let body = Body::of(function);
        let pad = match mode {
            Mode::Records => Err(Unpadded::NotAsked),
            _ if sanitized => Err(Unpadded::Sanitized),
            Mode::PerCopy if body.has_labels() => Err(Unpadded::Labels),
            _ => body.pad(),
        };
        let resizable = mode == Mode::PerCopy && pad.is_ok() && body.is_resizable();
        let addressed = resizable && body.variables_escape();
        let bounds_stack = function.bounds_its_stack();
        let (stay, asking) = (body.stay(), body.asking());
        FunctionPlan { function, pad, resizable, bounds_stack, addressed, stay, asking }
    });
    Some(Plan {
        functions: functions.collect(),
        records: module.flag("Code Model").is_none_or(|model| model < MEDIUM_CODE_MODEL),
    })
}

/// Whether this is x86-64 Linux with pointers of 8 bytes.
pub(crate) fn is_supported(target: &str) -> bool {
    let mut parts = target.split('-');
    parts.next() == Some("x86_64")
        && parts.clone().any(|part| part == "linux")
        && !parts.any(|part| part.ends_with("x32"))
}

/// Sanitizers keep their own account of where on the stack things are.
fn is_sanitized(function: Function) -> bool {
    ["sanitize_address", "sanitize_hwaddress", "sanitize_memory", "sanitize_thread"]
        .into_iter()
        .any(|attribute| function.has(attribute))
}

/// A function's instructions, as far as the plan depends on them.
struct Body {
    function: Function,
    blocks: Vec<Block>,
    /// All its calls.
    calls: Vec<(Instruction, Callee)>,
    assembly: Vec<Assembly>,
}

impl Body {
    fn of(function: Function) -> Self {
        let blocks: Vec<Block> = function.blocks().collect();
        let calls: Vec<(Instruction, Callee)> = blocks
            .iter()
            .flat_map(|block| block.instructions())
            .filter(|instruction| instruction.kind() == Kind::Call)
            .map(|call| (call, call.callee()))
            .collect();
        let assembly = calls.iter().filter_map(|(_, callee)| match callee {
            Callee::Assembly(text, constraints) => Some(Assembly::read(text, constraints)),
            _ => None,
        });
        Self { function, assembly: assembly.collect(), calls, blocks }
    }

    fn stay(&self) -> Option<Stay> {
        /// `X86_INTR` in LLVM.
        const INTERRUPT: u32 = 83;
        let text = |name| self.function.text_attribute(name);
        if self.function.has("naked") {
            return Some(Stay::Naked);
        }
        if self.function.calling_convention() == INTERRUPT {
            return Some(Stay::Interrupt);
        }
        let patched = text("patchable-function").is_some()
            || text("patchable-function-entry").is_some()
            || text("patchable-function-prefix").is_some()
            || text("function-instrument") == Some("xray-always")
            || (text("xray-instruction-threshold").is_some()
                && text("function-instrument") != Some("xray-never"))
            || (text("fentry-call") == Some("true") && text("mrecord-mcount").is_some());
        if patched {
            return Some(Stay::Patched);
        }
        self.assembly.iter().any(|assembly| assembly.leaves_function).then_some(Stay::Assembly)
    }

    fn asking(&self) -> Vec<Instruction> {
        let asks = |call: &Instruction| {
            call.callee_name().is_some_and(|name| CALLER_ASKING.contains(&name.as_str()))
        };
        let direct = self.calls.iter().filter(|(_, callee)| *callee == Callee::Direct);
        direct.map(|(call, _)| *call).filter(asks).collect()
    }

    fn pad(&self) -> Result<Vec<Site>, Unpadded> {
        if let Some(reason) = self.refusal() {
            return Err(reason);
        }
        let sites = self.sites();
        if sites.is_empty() { Err(Unpadded::NoCall) } else { Ok(sites) }
    }

    /// Why a frame pointer or a stack that moves would be wrong here.
    fn refusal(&self) -> Option<Unpadded> {
        let function = self.function;
        let text = |name| function.text_attribute(name);
        let convention = function.calling_convention();
        let conventions = self.calls.iter().all(|(call, _)| {
            let convention = call.calling_convention();
            CONVENTIONS.contains(&convention) || convention == WIN64
        });
        let intrinsic = |prefixes: &[&str]| {
            self.calls.iter().any(|(_, callee)| match callee {
                Callee::Intrinsic(name) => prefixes.iter().any(|prefix| name.starts_with(prefix)),
                _ => false,
            })
        };
        let realigned = text("stackrealign").is_some()
            || self.allocas().any(|alloca| alloca.alignment() > STACK_ALIGNMENT);
        let checks = [
            (function.has("naked"), Unpadded::Naked),
            (function.has("presplitcoroutine") || intrinsic(&["coro."]), Unpadded::Coroutine),
            (self.calls.iter().any(|(call, _)| call.is_musttail()), Unpadded::Musttail),
            (!CONVENTIONS.contains(&convention) || !conventions, Unpadded::Convention),
            (
                text("no_caller_saved_registers").is_some()
                    || text("no_callee_saved_registers").is_some(),
                Unpadded::Registers,
            ),
            (
                self.instructions().any(|instruction| instruction.kind() == Kind::Funclet)
                    || intrinsic(&["localescape", "localrecover", "eh.recoverfp", "seh."]),
                Unpadded::Funclets,
            ),
            (
                function.is_collected() || intrinsic(&["experimental.", "gc", "call.preallocated"]),
                Unpadded::Collected,
            ),
            (function.has("safestack") || text("split-stack").is_some(), Unpadded::OtherStack),
            (text("probe-stack").is_some_and(|probe| probe != "inline-asm"), Unpadded::StackProbe),
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
        let passes = |call: Instruction| {
            (0..call.arguments()).any(|index| call.argument_alignment(index) > STACK_ALIGNMENT)
        };
        self.calls.iter().any(|(call, callee)| {
            matches!(callee, Callee::Direct | Callee::Constant | Callee::Indirect) && passes(*call)
        })
    }

    /// The places of the pads; none if no call needs one.
    fn sites(&self) -> Vec<Site> {
        let numbers: HashMap<Block, usize> =
            self.blocks.iter().enumerate().map(|(number, &block)| (block, number)).collect();
        let successors: Vec<Vec<usize>> = self
            .blocks
            .iter()
            .map(|block| block.successors().iter().map(|to| numbers[to]).collect())
            .collect();
        let flow = Flow::new(successors);
        let dead_ends: Vec<bool> =
            self.blocks.iter().map(|block| block.terminator().kind() == Kind::DeadEnd).collect();
        let mut doomed = flow.doomed(&dead_ends);
        // On its way to its end a program pays for no pad; unless that is all that it does.
        if doomed[0] {
            doomed.fill(false);
        }
        let calling: Vec<bool> = self.blocks.iter().map(|&block| calls::any_in(block)).collect();
        let places = placement::places(&flow, &calling, &doomed);
        let split = |place: &Place| match *place {
            Place::Block(_) => true,
            Place::Edge(from, to) => {
                let ways = flow.successors(from).iter().filter(|&&other| other == to).count();
                let end = self.blocks[from].terminator().kind();
                matches!(end, Kind::Branch | Kind::Switch) && ways == 1
            }
        };
        if places.iter().all(split) {
            return places.into_iter().filter_map(|place| self.site(place)).collect();
        }
        // The ends of some blocks cannot be led elsewhere; in front of everything is right too.
        self.site(Place::Block(0)).into_iter().collect()
    }

    fn site(&self, place: Place) -> Option<Site> {
        match place {
            Place::Block(0) => self.first_place(0).map(Site::Entry),
            Place::Block(block) => self.first_place(block).map(|first| Site::Later(first, block)),
            Place::Edge(from, to) => Some(Site::Edge(self.blocks[from], self.blocks[to])),
        }
    }

    /// The first instruction of a block that another block may take over: behind what starts a
    /// block, and behind the local variables, which the entry has to hold.
    fn first_place(&self, block: usize) -> Option<Instruction> {
        let fixed = |instruction: &Instruction| match instruction.kind() {
            Kind::Phi | Kind::LandingPad => true,
            Kind::Alloca => block == 0 && instruction.has_constant_size(),
            _ => false,
        };
        let last = self.blocks[block].instructions().filter(fixed).last();
        match last {
            Some(last) => last.next(),
            None => self.blocks[block].instructions().next(),
        }
    }

    /// Whether the program may keep addresses of labels, which lead into another copy than the one
    /// that took them.
    fn has_labels(&self) -> bool {
        let mut ends = self.blocks.iter().map(|block| block.terminator().kind());
        ends.any(|end| end == Kind::IndirectBranch)
    }

    fn instructions(&self) -> impl Iterator<Item = Instruction> {
        self.blocks.iter().flat_map(|block| block.instructions())
    }

    fn allocas(&self) -> impl Iterator<Item = Instruction> {
        self.instructions().filter(|instruction| instruction.kind() == Kind::Alloca)
    }
}
