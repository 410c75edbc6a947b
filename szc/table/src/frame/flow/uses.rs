//! What instructions reach by the stack and frame pointers, where they do not move them.

use super::point::Point;
use super::slack::{Access, Base};
use super::walk::Walk;
use crate::instructions::is_write;
use iced_x86::{ConstantOffsets, Instruction, Mnemonic, OpKind, Register};
use szc_abi::FixedFrame;

/// A memory operand relative to the stack or frame pointer.
#[derive(Clone, Copy)]
struct Reach {
    /// Bytes from the register.
    from: i64,
    bytes: i64,
    /// The instruction computes the address, or adds something to it.
    computed: bool,
    /// Offset in the function of the distance, if it has 4 bytes.
    site: Option<u32>,
}

impl Walk {
    /// Checks all other uses of the stack and frame pointers.
    pub(super) fn look(
        &mut self,
        instruction: &Instruction,
        offsets: &ConstantOffsets,
        point: Point,
    ) -> Result<(), FixedFrame> {
        let site = (offsets.displacement_size() == 4).then(|| {
            let at = instruction.ip() - self.start + offsets.displacement_offset() as u64;
            u32::try_from(at).map_err(|_| FixedFrame::Unusual)
        });
        let site = site.transpose()?;
        let is_frame = |register: Register| {
            point.frame_pointer.is_some() && register.full_register() == Register::RBP
        };
        let is_stack = |register: Register| register.full_register() == Register::RSP;
        let implicit = matches!(
            instruction.mnemonic(),
            Mnemonic::Push
                | Mnemonic::Pop
                | Mnemonic::Pushfq
                | Mnemonic::Popfq
                | Mnemonic::Call
                | Mnemonic::Ret
        );
        let takes_address = instruction.mnemonic() == Mnemonic::Lea;
        for operand in 0..instruction.op_count() {
            match instruction.op_kind(operand) {
                OpKind::Register if is_stack(instruction.op_register(operand)) => {
                    let copies = instruction.mnemonic() == Mnemonic::Mov && operand == 1;
                    let sets_frame_pointer =
                        copies && !point.resized && instruction.op0_register() == Register::RBP;
                    if copies && point.resized {
                        let reach = Reach { from: 0, bytes: 0, computed: true, site: None };
                        self.reach_by_stack(point, reach)?;
                    } else if !sets_frame_pointer {
                        return Err(FixedFrame::Unusual);
                    }
                }
                OpKind::Register if is_frame(instruction.op_register(operand)) => {
                    self.facts.frame_pointer_leaks |= instruction.mnemonic() != Mnemonic::Pop;
                }
                OpKind::Memory => {
                    let indexed = instruction.memory_index() != Register::None;
                    let reach = Reach {
                        from: instruction.memory_displacement64().cast_signed(),
                        bytes: if takes_address {
                            0
                        } else {
                            instruction.memory_size().size() as i64
                        },
                        computed: takes_address || indexed,
                        site,
                    };
                    self.facts.frame_pointer_leaks |= is_frame(instruction.memory_index());
                    if is_stack(instruction.memory_index()) {
                        return Err(FixedFrame::Unusual);
                    }
                    match instruction.memory_base() {
                        Register::RSP => self.reach_by_stack(point, reach)?,
                        Register::RBP => self.reach_by_frame_pointer(point, reach)?,
                        base if is_stack(base) => return Err(FixedFrame::Unusual),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        // `enter`, `iret` and the like.
        if instruction.is_stack_instruction() && !implicit {
            return Err(FixedFrame::Unusual);
        }
        // The frame pointer must keep what it was set to.
        let keeps = point.frame_pointer.is_none()
            || instruction.mnemonic() == Mnemonic::Pop
            || !self.info.info(instruction).used_registers().iter().any(|used| {
                used.register().full_register() == Register::RBP && is_write(used.access())
            });
        if keeps { Ok(()) } else { Err(FixedFrame::Unusual) }
    }

    fn reach_by_stack(&mut self, point: Point, reach: Reach) -> Result<(), FixedFrame> {
        if reach.from < 0 {
            return Err(FixedFrame::Above);
        }
        if !point.resized {
            // Above the part that can grow nothing moves; but an address that is kept could be
            // compared with one below.
            return if reach.computed { Err(FixedFrame::Above) } else { Ok(()) };
        }
        let Some((above, _)) = self.facts.part else { return Err(FixedFrame::Unusual) };
        let lowest = point.depth - reach.from;
        let end = lowest - reach.bytes;
        if end < above {
            // An argument that the caller has put on the stack: its distance grows with the frame.
            let is_argument = lowest < 0 && !reach.computed && point.frame_pointer.is_none();
            let site = reach.site.filter(|_| is_argument).ok_or(FixedFrame::Above)?;
            self.sites.push(site);
            return Ok(());
        }
        self.note(Base::StackPointer, point.depth, reach);
        if point.frame_pointer.is_some() {
            if reach.computed {
                return Err(FixedFrame::Unusual);
            }
            self.facts.highest_argument = self.facts.highest_argument.min(end);
        }
        Ok(())
    }

    fn reach_by_frame_pointer(&mut self, point: Point, reach: Reach) -> Result<(), FixedFrame> {
        let Some(at) = point.frame_pointer else { return Ok(()) };
        if reach.from > 0 && reach.computed {
            return Err(FixedFrame::Above);
        }
        let lowest = at - reach.from;
        self.facts.deepest_by_frame_pointer = self.facts.deepest_by_frame_pointer.max(lowest);
        self.note(Base::FramePointer, at, reach);
        Ok(())
    }

    fn note(&mut self, base: Base, base_depth: i64, reach: Reach) {
        let Reach { from, bytes, computed, site } = reach;
        let lowest = base_depth - from;
        self.accesses.push(Access { base, lowest, end: lowest - bytes, computed, site });
    }
}
