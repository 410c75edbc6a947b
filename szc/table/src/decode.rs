//! Decodes a function forward from its first byte and finds every field that names an address.
//!
//! Decoding is the authority on what the bytes mean: the linker rewrites instructions when it
//! relaxes them but not the relocation beside them, and fields between functions of one input
//! section have no relocation at all.

use crate::stack_pointer::Quick;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
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
    pub stack_pointer: Quick,
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
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
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
        decoded.ends_in_call =
            matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
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
mod tests {
    use super::*;

    const START: u64 = 0x1000;

    #[test]
    fn fields_stand_where_the_assembler_put_them() {
        // call 0x2000; lea rax, [rip+0x10]; ret
        let mut bytes = vec![0xe8];
        bytes.extend_from_slice(&0xffb_u32.to_le_bytes());
        bytes.extend_from_slice(&[0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0xc3]);
        let decoded = decode_function(START, &bytes);
        assert_eq!(decoded.pinned, None);
        assert_eq!(decoded.boundaries, [0x1000, 0x1005, 0x100c]);
        assert_eq!(
            decoded.operands,
            [
                Operand {
                    place: 0x1001,
                    width: 4,
                    kind: OperandKind::Branch { target: 0x2000, call: true }
                },
                Operand {
                    place: 0x1008,
                    width: 4,
                    kind: OperandKind::IpRelative { target: 0x101c, takes_address: true }
                },
            ]
        );
    }

    #[test]
    fn a_short_branch_out_of_the_function_pins_it() {
        assert_eq!(decode_function(START, &[0xeb, 0x40]).pinned, Some(Reason::ShortBranchOut));
        assert_eq!(decode_function(START, &[0xeb, 0xfe]).pinned, None);
    }

    #[test]
    fn a_function_that_runs_on_past_its_end_is_pinned() {
        assert_eq!(decode_function(START, &[0x90]).pinned, Some(Reason::FallsThrough));
        assert_eq!(decode_function(START, &[0x0f, 0x0b]).pinned, None);
    }

    #[test]
    fn a_function_that_asks_for_its_own_address_is_pinned() {
        let bytes = [0xe8, 0, 0, 0, 0, 0x58, 0xc3];
        assert_eq!(decode_function(START, &bytes).pinned, Some(Reason::CallsItsMiddle));
    }

    #[test]
    fn an_undefined_byte_pins_the_function_and_a_breakpoint_does_not() {
        assert_eq!(decode_function(START, &[0xcc, 0xc3]).pinned, None);
        assert_eq!(decode_function(START, &[0x06, 0xc3]).pinned, Some(Reason::Undecodable));
    }

    #[test]
    fn a_branch_over_data_that_hides_an_instruction_pins_the_function() {
        // jmp over one byte; the byte; call 0x2000; ret
        let over = |byte: u8| [0xeb, 0x01, byte, 0xe8, 0xf8, 0x0f, 0, 0, 0xc3];
        assert_eq!(decode_function(START, &over(0x90)).pinned, None);
        assert_eq!(decode_function(START, &over(0xe8)).pinned, Some(Reason::Undecodable));
    }

    #[test]
    fn what_becomes_of_an_element_of_an_array_is_seen() {
        let element = |bytes: &[u8]| {
            let decoded = decode_function(START, bytes);
            decoded.operands.iter().find_map(|operand| match operand.kind {
                OperandKind::Constant { element } => Some(element),
                _ => None,
            })
        };
        let load = [0x48, 0x8b, 0x04, 0xc5, 0, 0, 0x40, 0]; // mov 0x400000(,%rax,8), %rax
        let jump = [0xff, 0xe0]; // jmp *%rax
        let other_jump = [0xff, 0xe1];
        let store = [0x48, 0x89, 0x07]; // mov %rax, (%rdi)
        let through = [0xff, 0x24, 0xc5, 0, 0, 0x40, 0]; // jmp *0x400000(,%rax,8)
        let through_base = [0xff, 0xa4, 0xc3, 0, 0, 0x40, 0]; // jmp *0x400000(%rbx,%rax,8)
        assert_eq!(element(&through), Some(Some(Element::JumpedTo)));
        assert_eq!(element(&through_base), Some(None));
        assert_eq!(element(&[&load[..], &jump].concat()), Some(Some(Element::LoadedAndJumpedTo)));
        let notrack = [&load[..], &[0x3e], &jump].concat();
        assert_eq!(element(&notrack), Some(Some(Element::LoadedAndJumpedTo)));
        for rest in [&other_jump[..], &[&store[..], &jump].concat()] {
            assert_eq!(element(&[&load[..], rest].concat()), Some(Some(Element::Read)));
        }
    }

    #[test]
    fn recursion_by_the_own_entry_is_allowed() {
        let bytes = [0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3];
        assert_eq!(decode_function(START, &bytes).pinned, None);
    }
}
