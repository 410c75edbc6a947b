//! Finds code that goes on on another stack: whose stack pointer comes from elsewhere than from
//! itself.
//!
//! Compilers set the stack pointer from registers and memory, too: to give back arrays of variable
//! length, to align frames. What they load is a stack pointer that the function has had before. So
//! values are followed along the control flow, from the stack pointer through registers and the
//! slots of a frame back to it. What does not come that way switches stacks, or is not understood,
//! which is taken for the same: the price is memory alone (runtime/DESIGN.md, "Reclaiming").
//!
//! Sources of the forms: Intel SDM volume 2 (MOV, XCHG, POP, LEAVE, IRET); Boost.Context,
//! `jump_x86_64_sysv_elf_gas.S`; libco, `amd64.c`; LLVM, `X86FrameLowering.cpp`; gcc, `i386.cc`,
//! `ix86_expand_epilogue`.

use crate::instructions::{CALLEE_SAVED, decoder, is_call, is_constant, is_write};
use crate::read::Image;
use crate::survey::Survey;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};
use std::collections::{HashMap, HashSet};

/// Where an image switches stacks.
#[derive(Debug, Default)]
pub struct Switches {
    /// Indices of functions that do.
    pub functions: HashSet<usize>,
    /// Code that belongs to no function does.
    pub outside: bool,
}

/// Looks at all code of an image but that of the functions which `is_known` names.
#[must_use]
pub fn find(image: &Image<'_>, survey: &Survey<'_>, is_known: impl Fn(usize) -> bool) -> Switches {
    let bytes = |start, end| image.bytes(start, end - start);
    let is_candidate = |index: &usize| {
        survey.functions[*index].decoded.stack_pointer.may_switch() && !is_known(*index)
    };
    let functions = (0..survey.functions.len()).filter(is_candidate).filter(|&index| {
        let function = &survey.functions[index];
        // gcc's parts begin with the frame of their other half.
        let is_part = function.names.iter().any(|name| contains(name, b".cold"));
        let extent = if is_part { Extent::Part } else { Extent::Function };
        bytes(function.start, function.end)
            .is_some_and(|code| switches(function.start, code, extent))
    });
    let outside = || {
        survey.gaps_that_set_stack_pointer.iter().any(|&(start, end)| {
            bytes(start, end).is_some_and(|code| switches(start, code, Extent::Unknown))
        })
    };
    Switches { functions: functions.collect(), outside: outside() }
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}

/// What the instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// A function, entered at its first byte.
    Function,
    /// A part of one, entered from its other part with the frame pointer set.
    Part,
    /// Any number of functions.
    Unknown,
}

/// Registers that hold a stack pointer which the function has had, one bit each.
type Own = u16;

fn bit(register: Register) -> Own {
    let full = register.full_register();
    if full.is_gpr64() { 1 << (full as u32 - Register::RAX as u32) } else { 0 }
}

/// A word of a frame: the register that it is addressed by, and the distance.
type FrameSlot = (Register, i64);

fn switches(start: u64, code: &[u8], extent: Extent) -> bool {
    let decoder = decoder(start, code);
    let instructions: Vec<_> = decoder.into_iter().collect();
    let mut flow = Flow { instructions, slots: HashSet::new() };
    // Without slots first: what is stored in them must not come out of them.
    let before = flow.follow(extent);
    flow.slots = flow.stored(&before);
    let known = flow.follow(extent);
    let mut info = InstructionInfoFactory::new();
    flow.instructions
        .iter()
        .zip(known)
        .any(|(instruction, own)| flow.step(instruction, own, &mut info).1)
}

struct Flow {
    instructions: Vec<Instruction>,
    /// Slots in which nothing but own stack pointers is stored.
    slots: HashSet<FrameSlot>,
}

impl Flow {
    /// What is known in front of each instruction, whichever way control came.
    fn follow(&self, extent: Extent) -> Vec<Own> {
        let stack = bit(Register::RSP);
        let anywhere = stack | if extent == Extent::Unknown { 0 } else { self.frame_registers() };
        let first = stack | if extent == Extent::Part { bit(Register::RBP) } else { 0 };
        let mut known: Vec<Option<Own>> = vec![None; self.instructions.len()];
        let mut info = InstructionInfoFactory::new();
        let mut open = Vec::new();
        for index in 0..self.instructions.len() {
            if known[index].is_some() {
                continue;
            }
            // The entry; or a case of a switch, a landing pad, another function.
            open.push((index, if index == 0 { first } else { anywhere | first }));
            while let Some((index, own)) = open.pop() {
                let now = known[index].map_or(own, |before| before & own);
                if known[index] == Some(now) {
                    continue;
                }
                known[index] = Some(now);
                let instruction = &self.instructions[index];
                let (after, _) = self.step(instruction, now, &mut info);
                self.successors(index, instruction, |next| open.push((next, after)));
            }
        }
        known.into_iter().map(|own| own.unwrap_or(stack)).collect()
    }

    fn successors(&self, index: usize, instruction: &Instruction, mut reach: impl FnMut(usize)) {
        let flow = instruction.flow_control();
        if matches!(flow, FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch)
            && instruction.op0_kind() == OpKind::NearBranch64
        {
            let target = instruction.near_branch64();
            if let Ok(at) = self.instructions.binary_search_by_key(&target, Instruction::ip) {
                reach(at);
            }
        }
        let ends = matches!(
            flow,
            FlowControl::UnconditionalBranch
                | FlowControl::IndirectBranch
                | FlowControl::Return
                | FlowControl::Exception
        );
        if !ends && index + 1 < self.instructions.len() {
            reach(index + 1);
        }
    }

    /// Registers for which a function has one use: they are set from the stack pointer, and
    /// otherwise restored only.
    fn frame_registers(&self) -> Own {
        let (mut set, mut otherwise) = (0, 0);
        let mut info = InstructionInfoFactory::new();
        for instruction in &self.instructions {
            let from_stack = match instruction.mnemonic() {
                Mnemonic::Mov => instruction.op1_register() == Register::RSP,
                Mnemonic::Lea => instruction.memory_base() == Register::RSP,
                _ => false,
            };
            for register in written(instruction, &mut info) {
                match instruction.mnemonic() {
                    Mnemonic::Pop | Mnemonic::Leave => {}
                    _ if from_stack => set |= bit(register),
                    _ => otherwise |= bit(register),
                }
            }
        }
        let kept: Own = CALLEE_SAVED.into_iter().map(bit).sum();
        set & !otherwise & kept
    }

    /// The slots in which own stack pointers are stored, and nothing else.
    fn stored(&self, known: &[Own]) -> HashSet<FrameSlot> {
        let mut good: HashMap<FrameSlot, bool> = HashMap::new();
        // Below the frame pointer, where the stack pointer is as long as registers are pushed only.
        let mut pushed: Option<i64> = None;
        for (instruction, &own) in self.instructions.iter().zip(known) {
            pushed = match (instruction.mnemonic(), pushed) {
                (Mnemonic::Mov, _) if instruction.op1_register() == Register::RSP => {
                    (instruction.op0_register() == Register::RBP).then_some(0)
                }
                (Mnemonic::Push, Some(at)) => {
                    let is_own = own & bit(instruction.op0_register()) != 0;
                    *good.entry((Register::RBP, at - 8)).or_insert(true) &= is_own;
                    Some(at - 8)
                }
                (mnemonic, at) => at.filter(|_| mnemonic == Mnemonic::Mov),
            };
            let Some(slot) = slot(instruction, own) else { continue };
            let stores = instruction.op0_kind() == OpKind::Memory
                && !matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
            if stores {
                let is_own = instruction.mnemonic() == Mnemonic::Mov
                    && own & bit(instruction.op1_register()) != 0;
                let so_far = good.entry(slot).or_insert(true);
                *so_far &= is_own;
            }
        }
        good.into_iter().filter_map(|(slot, good)| good.then_some(slot)).collect()
    }

    /// What is known behind an instruction, and whether it sets the stack pointer to something
    /// else.
    fn step(
        &self,
        instruction: &Instruction,
        own: Own,
        info: &mut InstructionInfoFactory,
    ) -> (Own, bool) {
        let holds = |register: Register| own & bit(register) != 0;
        let target = instruction.op0_register();
        let source = instruction.op1_register();
        // Only whole registers are stack pointers.
        let whole = target.is_gpr64();
        let is_own = match instruction.mnemonic() {
            Mnemonic::Leave => holds(Register::RBP),
            Mnemonic::Mov if instruction.op1_kind() == OpKind::Memory => {
                slot(instruction, own).is_some_and(|slot| self.slots.contains(&slot))
            }
            Mnemonic::Mov => whole && holds(source),
            Mnemonic::Lea => holds(instruction.memory_base()) || holds(instruction.memory_index()),
            Mnemonic::Add if target == Register::RSP => is_constant(instruction.op1_kind()),
            Mnemonic::Add => whole && (holds(target) || holds(source)),
            Mnemonic::Sub | Mnemonic::And | Mnemonic::Inc | Mnemonic::Dec => whole && holds(target),
            _ => false,
        };
        let mut after = own;
        let mut switches = false;
        for register in written(instruction, info) {
            if register == Register::RSP {
                switches |= !is_own;
            } else if instruction.mnemonic() == Mnemonic::Leave || !is_own {
                after &= !bit(register);
            } else {
                after |= bit(register);
            }
        }
        if instruction.mnemonic() == Mnemonic::Leave || is_return_from_interrupt(instruction) {
            switches |= !is_own;
        }
        if is_call(instruction) {
            after &= CALLEE_SAVED.into_iter().map(bit).sum::<Own>() | bit(Register::RSP);
        }
        (after, switches)
    }
}

fn is_return_from_interrupt(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq)
}

/// The slot of a frame that an instruction reaches. Not by the stack pointer, which moves.
fn slot(instruction: &Instruction, own: Own) -> Option<FrameSlot> {
    let base = instruction.memory_base();
    let is_frame = base != Register::RSP && own & bit(base) != 0;
    (is_frame && instruction.memory_index() == Register::None)
        .then(|| (base, instruction.memory_displacement64().cast_signed()))
}

/// The general registers that an instruction names and writes, or `leave` sets; not the stack
/// pointer as pushes, pops and calls move it.
fn written(instruction: &Instruction, info: &mut InstructionInfoFactory) -> Vec<Register> {
    let info = info.info(instruction);
    let named = (0..instruction.op_count())
        .filter(|&operand| {
            instruction.op_kind(operand) == OpKind::Register && is_write(info.op_access(operand))
        })
        .map(|operand| instruction.op_register(operand).full_register());
    let implied = info
        .used_registers()
        .iter()
        .filter(|used| is_write(used.access()))
        .map(|used| used.register().full_register())
        .filter(|&register| register != Register::RSP);
    let mut all: Vec<_> = named.chain(implied).filter(|register| register.is_gpr64()).collect();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
