//! Instructions that move the stack pointer by a constant: those that take a frame and give it
//! back, and what the compiler pass has put between.

use super::point::{Point, WORD};
use super::walk::Walk;
use iced_x86::{Code, ConstantOffsets, Instruction, Mnemonic, Register};
use szc_abi::FixedFrame;
use szc_abi::stack::RESIZABLE_BYTES;

impl Walk {
    /// The depth behind an instruction that sets the stack pointer to a known distance from itself
    /// or from the frame pointer.
    pub(super) fn moves_by_constant(
        &self,
        instruction: &Instruction,
        point: Point,
    ) -> Result<Option<i64>, FixedFrame> {
        let by_frame_pointer =
            |distance: i64| point.frame_pointer.map(|at| at - distance).ok_or(FixedFrame::Unusual);
        let writes = instruction.op_count() > 0 && instruction.op0_register() == Register::RSP;
        let depth = match instruction.code() {
            Code::Sub_rm64_imm32 | Code::Sub_rm64_imm8 if writes => {
                point.depth + instruction.immediate(1).cast_signed()
            }
            Code::Add_rm64_imm32 | Code::Add_rm64_imm8 if writes => {
                point.depth - instruction.immediate(1).cast_signed()
            }
            Code::Lea_r64_m if writes && instruction.memory_index() == Register::None => {
                let distance = instruction.memory_displacement64().cast_signed();
                match instruction.memory_base() {
                    Register::RSP => point.depth - distance,
                    Register::RBP => by_frame_pointer(distance)?,
                    _ => return Err(FixedFrame::Unusual),
                }
            }
            Code::Mov_r64_rm64 | Code::Mov_rm64_r64
                if writes && instruction.op1_register() == Register::RBP =>
            {
                by_frame_pointer(0)?
            }
            Code::Leaveq => by_frame_pointer(0)? - WORD,
            _ => return Ok(None),
        };
        Ok(Some(depth))
    }

    pub(super) fn move_to(
        &mut self,
        instruction: &Instruction,
        offsets: &ConstantOffsets,
        point: Point,
        depth: i64,
    ) -> Result<Point, FixedFrame> {
        let from_frame_pointer = instruction.mnemonic() == Mnemonic::Leave
            || (instruction.mnemonic() == Mnemonic::Mov)
            || (instruction.mnemonic() == Mnemonic::Lea
                && instruction.memory_base() == Register::RBP);
        let mut after = Point { depth, ..point };
        if instruction.mnemonic() == Mnemonic::Leave {
            after.frame_pointer = None;
        }
        if depth < 0 {
            return Err(FixedFrame::Unusual);
        }
        if point.resized {
            let Some((above, _)) = self.facts.part else { return Err(FixedFrame::Unusual) };
            if depth <= above {
                after.resized = false;
                // What gives the frame back adds to the stack pointer.
                let adds = matches!(instruction.mnemonic(), Mnemonic::Add | Mnemonic::Lea);
                if !from_frame_pointer && adds {
                    self.add_site(instruction, offsets)?;
                } else if !from_frame_pointer {
                    return Err(FixedFrame::Unusual);
                }
            } else if from_frame_pointer {
                // To the middle of what has grown.
                return Err(FixedFrame::Unusual);
            }
            return Ok(after);
        }
        // Of no bytes, too, once the slack that the pass added has been taken out.
        let takes = depth >= point.depth && instruction.code() == Code::Sub_rm64_imm32;
        if takes {
            let part = (point.depth, depth - point.depth);
            if *self.facts.part.get_or_insert(part) != part {
                return Err(FixedFrame::Ambiguous);
            }
            after.resized = true;
            self.facts.frame_pointer = after.frame_pointer;
            self.add_site(instruction, offsets)?;
        }
        Ok(after)
    }

    fn add_site(
        &mut self,
        instruction: &Instruction,
        offsets: &ConstantOffsets,
    ) -> Result<(), FixedFrame> {
        let inside = site(offsets).ok_or(FixedFrame::ShortConstant)?;
        let at = instruction.ip() - self.start + inside as u64;
        self.sites.push(u32::try_from(at).map_err(|_| FixedFrame::Unusual)?);
        Ok(())
    }

    /// Notes where the slack lies.
    pub(super) fn mark(
        &mut self,
        instruction: &Instruction,
        point: Point,
    ) -> Result<Point, FixedFrame> {
        let distance = instruction.memory_displacement64().cast_signed();
        let lowest = match instruction.memory_base() {
            Register::RSP => point.depth - distance,
            _ => point.frame_pointer.ok_or(FixedFrame::Unusual)? - distance,
        };
        let end = lowest - i64::from(RESIZABLE_BYTES);
        if !point.resized || *self.facts.slack.get_or_insert(end) != end {
            return Err(FixedFrame::Ambiguous);
        }
        let at = u32::try_from(instruction.ip() - self.start).map_err(|_| FixedFrame::Unusual)?;
        self.markers.push((at, instruction.len()));
        Ok(point)
    }
}

/// Where the constant of an instruction lies that moves the stack pointer, if it has 4 bytes.
fn site(offsets: &ConstantOffsets) -> Option<usize> {
    if offsets.has_immediate() && offsets.immediate_size() == 4 {
        Some(offsets.immediate_offset())
    } else if !offsets.has_immediate() && offsets.displacement_size() == 4 {
        Some(offsets.displacement_offset())
    } else {
        None
    }
}
