//! Decodes a function forward from its first byte and finds every field that names an address.
//!
//! Decoding is the authority on what the bytes mean: the linker rewrites instructions when it
//! relaxes them but not the relocation beside them, and fields between functions of one input
//! section have no relocation at all.

use crate::instructions::{decoder, is_call};
use crate::stack_pointer::StackPointerUse;
use iced_x86::{Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register};
use szc_abi::Reason;

/// An operand of an instruction that is or may be an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Address of the operand's first byte.
    pub place: u64,
    /// Bytes of the operand.
    pub width: u8,
    /// What it is.
    pub kind: OperandKind,
}

/// What an address operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// Target of a jump or call.
    Branch {
        /// Address branched to.
        target: u64,
        /// The instruction pushes a return address.
        call: bool,
    },
    /// Memory at a distance from the program counter.
    IpRelative {
        /// Address meant.
        target: u64,
        /// The instruction takes the address (`lea`) rather than what lies there.
        takes_address: bool,
    },
    /// A displacement or immediate that a relocation may show to be an absolute address.
    Constant {
        /// What an instruction does with the 8-byte element that its memory operand selects by an
        /// index alone, from this address on.
        element: Option<Element>,
    },
}

/// What becomes of an element of an array of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// The instruction jumps there.
    JumpedTo,
    /// It is loaded into a register, and the next instruction jumps there.
    LoadedAndJumpedTo,
    /// Anything else.
    Read,
}

/// What decoding a function found.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// Address operands in the order of their places.
    pub operands: Vec<Operand>,
    /// Addresses at which an instruction begins, ascending.
    pub boundaries: Vec<u64>,
    /// Why the function cannot be moved, as far as its own bytes tell.
    pub pinned: Option<Reason>,
    /// The last instruction is a call, which compilers put last only if it does not return.
    pub ends_in_call: bool,
    /// Control may leave it otherwise than by calls: it returns, or jumps to somewhere else.
    pub leaves: bool,
    /// It enters the kernel by itself, which may come back on another stack (`clone`).
    pub enters_kernel: bool,
    /// Whether the stack pointer may become something that is not its own.
    pub stack_pointer: StackPointerUse,
}

impl Decoded {
    /// Whether an instruction begins at `address`.
    #[must_use]
    pub fn is_boundary(&self, address: u64) -> bool {
        self.boundaries.binary_search(&address).is_ok()
    }

    /// The operand that begins at `place`.
    #[must_use]
    pub fn operand_at(&self, place: u64) -> Option<&Operand> {
        let index = self.operands.binary_search_by_key(&place, |operand| operand.place).ok()?;
        self.operands.get(index)
    }
}

/// Decodes the function that lies at `start` and has these bytes.
///
/// Where bytes do not decode, the function is pinned and decoding resumes one byte later, so that
/// whatever it may refer to is still seen.
#[must_use]
pub fn decode_function(start: u64, bytes: &[u8]) -> Decoded {
    let mut decoded = Decoded::default();
    let end = start + bytes.len() as u64;
    let mut decoder = decoder(start, bytes);
    let mut instruction = Instruction::default();
    let mut before = Instruction::default();
    let mut ends_in_flow = false;
    let mut pin = |reason| {
        decoded.pinned.get_or_insert(reason);
    };
    while decoder.can_decode() {
        let position = decoder.position();
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            pin(Reason::Undecodable);
            let _ = decoder.set_position(position + 1);
            decoder.set_ip(start + position as u64 + 1);
            continue;
        }
        decoded.boundaries.push(instruction.ip());
        if let Some(reason) = refuse(&instruction, start, end) {
            pin(reason);
        }
        see_jump(&mut decoded.operands, &before, &instruction);
        push_operands(&mut decoded.operands, &decoder, &instruction);
        before = instruction;
        decoded.stack_pointer.add(&instruction);
        decoded.enters_kernel |= matches!(
            instruction.mnemonic(),
            Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int
        );
        decoded.leaves |= leaves(&instruction, start, end);
        ends_in_flow = ends_path(&instruction);
        decoded.ends_in_call = is_call(&instruction);
    }
    if jumps_over_data(&decoded, start, end) {
        decoded.pinned.get_or_insert(Reason::Undecodable);
    }
    if !ends_in_flow {
        decoded.pinned.get_or_insert(Reason::FallsThrough);
    }
    decoded
}

/// Whether a branch leads between the instructions that were found: what lies in front of its
/// target is data, which decodes as the beginning of an instruction and hides the one that is
/// there.
fn jumps_over_data(decoded: &Decoded, start: u64, end: u64) -> bool {
    decoded.operands.iter().any(|operand| match operand.kind {
        OperandKind::Branch { target, .. } => {
            (start..end).contains(&target) && !decoded.is_boundary(target)
        }
        _ => false,
    })
}

/// What the instruction alone forbids.
fn refuse(instruction: &Instruction, start: u64, end: u64) -> Option<Reason> {
    if instruction.memory_base() == Register::EIP {
        return Some(Reason::Undecodable);
    }
    let target = branch_target(instruction)?;
    let inside = (start..end).contains(&target);
    let is_call = instruction.flow_control() == FlowControl::Call;
    if inside && is_call && target != start {
        return Some(Reason::CallsItsMiddle);
    }
    (!inside && !reaches_anywhere(instruction)).then_some(Reason::ShortBranchOut)
}

fn branch_target(instruction: &Instruction) -> Option<u64> {
    (instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| instruction.near_branch64())
}

/// Whether the instruction may be a return, or a jump to somewhere else.
fn leaves(instruction: &Instruction, start: u64, end: u64) -> bool {
    match instruction.flow_control() {
        FlowControl::Return | FlowControl::IndirectBranch => true,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            branch_target(instruction).is_none_or(|target| !(start..end).contains(&target))
        }
        _ => false,
    }
}

/// Whether the branch has a field of 32 bits, which reaches a moved target.
fn reaches_anywhere(instruction: &Instruction) -> bool {
    let code = instruction.code();
    code.is_jmp_near() || code.is_jcc_near() || code.is_call_near()
}

/// Whether control never reaches the byte behind the instruction. A call counts: compilers end a
/// function with a call only if the callee does not return.
fn ends_path(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Return
            | FlowControl::Call
            | FlowControl::IndirectCall
            | FlowControl::Exception
    ) || matches!(instruction.mnemonic(), Mnemonic::Hlt | Mnemonic::Ud2)
}

/// What an instruction, seen alone, does with an element of an array whose address it holds.
fn element(instruction: &Instruction) -> Option<Element> {
    let selects = instruction.memory_base() == Register::None
        && instruction.memory_index() != Register::None
        && instruction.memory_index_scale() == 8;
    let jumps = instruction.flow_control() == FlowControl::IndirectBranch;
    selects.then_some(if jumps { Element::JumpedTo } else { Element::Read })
}

/// Without optimization compilers load the element in front of the jump. `before` is the
/// instruction whose operands were seen last.
fn see_jump(operands: &mut [Operand], before: &Instruction, instruction: &Instruction) {
    let jumps_there = instruction.flow_control() == FlowControl::IndirectBranch
        && instruction.op0_kind() == OpKind::Register
        && before.mnemonic() == Mnemonic::Mov
        && before.next_ip() == instruction.ip()
        && before.op0_kind() == OpKind::Register
        && before.op0_register() == instruction.op0_register();
    if let Some(Operand { place, kind: OperandKind::Constant { element: Some(element) }, .. }) =
        operands.last_mut()
        && jumps_there
        && *place >= before.ip()
    {
        *element = Element::LoadedAndJumpedTo;
    }
}

fn push_operands(operands: &mut Vec<Operand>, decoder: &Decoder<'_>, instruction: &Instruction) {
    let is_register = |operand| instruction.op_kind(operand) == OpKind::Register;
    if (0..instruction.op_count()).all(is_register) {
        return;
    }
    let offsets = decoder.get_constant_offsets(instruction);
    let place = |offset: usize| instruction.ip() + offset as u64;
    let width = |size: usize| u8::try_from(size).unwrap_or(0);
    if offsets.has_displacement() {
        let kind = if instruction.is_ip_rel_memory_operand() {
            OperandKind::IpRelative {
                target: instruction.ip_rel_memory_address(),
                takes_address: instruction.mnemonic() == Mnemonic::Lea,
            }
        } else {
            OperandKind::Constant { element: element(instruction) }
        };
        operands.push(Operand {
            place: place(offsets.displacement_offset()),
            width: width(offsets.displacement_size()),
            kind,
        });
    }
    if offsets.has_immediate() {
        let kind = match branch_target(instruction) {
            Some(target) => {
                let call = instruction.flow_control() == FlowControl::Call;
                OperandKind::Branch { target, call }
            }
            None => OperandKind::Constant { element: None },
        };
        operands.push(Operand {
            place: place(offsets.immediate_offset()),
            width: width(offsets.immediate_size()),
            kind,
        });
    }
}

#[cfg(test)]
mod tests;
