//! The walk over a function's instructions, along its branches, that finds where the stack pointer
//! is. What instructions do to it is in `moves`, what they reach by it in `uses`.

use super::point::{Facts, Point};
use super::slack::Access;
use crate::frame::marker::is_marker;
use crate::instructions::decoder;
use iced_x86::{
    ConstantOffsets, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register,
};
use szc_abi::FixedFrame;

/// An instruction, where its constants lie if they may change with the frame, and what is known in
/// front of it.
pub(super) struct Step {
    pub instruction: Instruction,
    pub offsets: ConstantOffsets,
    pub point: Option<Point>,
}

pub(super) struct Walk {
    pub start: u64,
    pub end: u64,
    /// The instructions, by address.
    pub steps: Vec<Step>,
    /// Indices of those still to be followed, with what is known there.
    pub open: Vec<(usize, Point)>,
    /// Indices of those with what is known there, in the order of their finding.
    pub reached: Vec<usize>,
    /// What is known at indirect jumps, each once.
    pub at_indirect_jumps: Vec<Point>,
    pub sites: Vec<u32>,
    pub markers: Vec<(u32, usize)>,
    /// Everything in the frame that is reached by the stack or the frame pointer.
    pub accesses: Vec<Access>,
    pub facts: Facts,
    pub info: InstructionInfoFactory,
}

/// How much was known when something was assumed.
struct Known {
    facts: Facts,
    reached: usize,
    at_indirect_jumps: usize,
    sites: usize,
    markers: usize,
    accesses: usize,
}

impl Walk {
    pub fn new(start: u64, bytes: &[u8]) -> Result<Self, FixedFrame> {
        let mut steps = Vec::with_capacity(bytes.len() / 4 + 1);
        let mut decoder = decoder(start, bytes);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return Err(FixedFrame::Unusual);
            }
            let offsets = if may_have_site(&instruction) {
                decoder.get_constant_offsets(&instruction)
            } else {
                ConstantOffsets::default()
            };
            steps.push(Step { instruction, offsets, point: None });
        }
        Ok(Self {
            start,
            end: start + bytes.len() as u64,
            steps,
            open: Vec::new(),
            reached: Vec::new(),
            at_indirect_jumps: Vec::new(),
            sites: Vec::new(),
            markers: Vec::new(),
            accesses: Vec::new(),
            facts: Facts {
                part: None,
                frame_pointer: None,
                slack: None,
                deepest_by_frame_pointer: 0,
                highest_argument: i64::MAX,
                uses_frame_pointer: false,
                frame_pointer_leaks: false,
            },
            info: InstructionInfoFactory::new(),
        })
    }

    pub fn enter_by_call(&mut self) -> Result<(), FixedFrame> {
        let entry = Point { depth: 0, resized: false, frame_pointer: None };
        self.reach(0, entry)?;
        self.follow()
    }

    /// What no branch leads to is entered by a switch or by the unwinder, with the whole frame
    /// taken, or else as one of the indirect jumps leaves it. If that is wrong, what follows
    /// contradicts it: a frame is given back that is not there, or returned with.
    pub fn enter_otherwise(&mut self) -> Result<(), FixedFrame> {
        let is_fill = |step: &Step| {
            let mnemonic = step.instruction.mnemonic();
            matches!(mnemonic, Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2)
        };
        for index in 0..self.steps.len() {
            if self.steps[index].point.is_none() && !is_fill(&self.steps[index]) {
                self.enter_at(index)?;
            }
        }
        if self.facts.part.is_some() { Ok(()) } else { Err(FixedFrame::NoSite) }
    }

    /// Follows the code from an instruction on, by the first of the possible states that nothing
    /// contradicts.
    fn enter_at(&mut self, index: usize) -> Result<(), FixedFrame> {
        let Facts { part, frame_pointer, .. } = self.facts;
        let whole =
            part.map(|(above, bytes)| Point { depth: above + bytes, resized: true, frame_pointer });
        let possible: Vec<Point> =
            whole.into_iter().chain(self.at_indirect_jumps.iter().copied()).collect();
        let mut reason = None;
        for point in possible {
            let known = self.known();
            match self.reach(index, point).and_then(|()| self.follow()) {
                Ok(()) => return Ok(()),
                Err(contradiction) => {
                    reason.get_or_insert(contradiction);
                    self.forget(&known);
                }
            }
        }
        Err(reason.unwrap_or(FixedFrame::NoSite))
    }

    fn known(&self) -> Known {
        Known {
            facts: self.facts,
            reached: self.reached.len(),
            at_indirect_jumps: self.at_indirect_jumps.len(),
            sites: self.sites.len(),
            markers: self.markers.len(),
            accesses: self.accesses.len(),
        }
    }

    /// Takes back what was found since.
    fn forget(&mut self, known: &Known) {
        self.facts = known.facts;
        for index in self.reached.drain(known.reached..) {
            self.steps[index].point = None;
        }
        self.at_indirect_jumps.truncate(known.at_indirect_jumps);
        self.sites.truncate(known.sites);
        self.markers.truncate(known.markers);
        self.accesses.truncate(known.accesses);
        self.open.clear();
    }

    fn reach(&mut self, index: usize, point: Point) -> Result<(), FixedFrame> {
        let step = self.steps.get_mut(index).ok_or(FixedFrame::Unusual)?;
        match step.point {
            Some(known) if known == point => Ok(()),
            Some(_) => Err(FixedFrame::Ambiguous),
            None => {
                step.point = Some(point);
                self.reached.push(index);
                self.open.push((index, point));
                Ok(())
            }
        }
    }

    /// The instruction at an address.
    fn at(&self, address: u64) -> Result<usize, FixedFrame> {
        let found = self.steps.binary_search_by_key(&address, |step| step.instruction.ip());
        found.map_err(|_| FixedFrame::Unusual)
    }

    fn follow(&mut self) -> Result<(), FixedFrame> {
        while let Some((index, point)) = self.open.pop() {
            let Step { instruction, offsets, .. } = self.steps[index];
            let after = self.step(&instruction, &offsets, point)?;
            self.successors(index, &instruction, after)?;
        }
        Ok(())
    }

    fn successors(
        &mut self,
        index: usize,
        instruction: &Instruction,
        after: Point,
    ) -> Result<(), FixedFrame> {
        let leaves = |point: Point| {
            if point.depth == 0 && !point.resized { Ok(()) } else { Err(FixedFrame::Unusual) }
        };
        let flow = instruction.flow_control();
        if matches!(flow, FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch) {
            if instruction.op0_kind() != OpKind::NearBranch64 {
                return Err(FixedFrame::Unusual);
            }
            let target = instruction.near_branch64();
            if (self.start..self.end).contains(&target) && target != self.start {
                self.reach(self.at(target)?, after)?;
            } else {
                leaves(after)?;
            }
        }
        match flow {
            FlowControl::Return => leaves(after),
            // Another function behind the frame's end, or a switch, whose cases are found later.
            FlowControl::IndirectBranch => {
                if !self.at_indirect_jumps.contains(&after) {
                    self.at_indirect_jumps.push(after);
                }
                Ok(())
            }
            FlowControl::UnconditionalBranch => Ok(()),
            FlowControl::Exception => Ok(()),
            FlowControl::Call | FlowControl::IndirectCall if index + 1 == self.steps.len() => {
                Ok(())
            }
            FlowControl::Next
            | FlowControl::ConditionalBranch
            | FlowControl::Call
            | FlowControl::IndirectCall => self.reach(index + 1, after),
            _ => Err(FixedFrame::Unusual),
        }
    }

    /// What is known behind an instruction.
    fn step(
        &mut self,
        instruction: &Instruction,
        offsets: &ConstantOffsets,
        point: Point,
    ) -> Result<Point, FixedFrame> {
        if is_marker(instruction) {
            return self.mark(instruction, point);
        }
        if let Some(target) = self.moves_by_constant(instruction, point)? {
            return self.move_to(instruction, offsets, point, target);
        }
        self.look(instruction, offsets, point)?;
        let mut after = point;
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pop | Mnemonic::Pushfq | Mnemonic::Popfq => {
                after.depth -= i64::from(instruction.stack_pointer_increment());
                if self.facts.part.is_some_and(|(above, _)| point.resized && after.depth < above) {
                    return Err(FixedFrame::Unusual);
                }
                if instruction.mnemonic() == Mnemonic::Pop
                    && instruction.op0_register() == Register::RBP
                {
                    after.frame_pointer = None;
                }
            }
            // Anything that moves it otherwise was refused by `look`.
            Mnemonic::Ret if instruction.op_count() != 0 => return Err(FixedFrame::Unusual),
            Mnemonic::Mov
                if instruction.op0_register() == Register::RBP
                    && instruction.op1_register() == Register::RSP
                    && !point.resized =>
            {
                self.facts.uses_frame_pointer = true;
                after.frame_pointer = Some(point.depth);
            }
            _ => {}
        }
        Ok(after)
    }
}

/// Whether a constant of the instruction may move the stack pointer, or be a distance from it or
/// the frame pointer.
fn may_have_site(instruction: &Instruction) -> bool {
    instruction.op0_register() == Register::RSP
        || matches!(instruction.memory_base(), Register::RSP | Register::RBP)
}
