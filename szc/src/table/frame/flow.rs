//! Follows the stack pointer through a function: how far below its value at the entry it is at each
//! instruction, and whether the part of the frame that can grow is taken there.
//!
//! ```text
//! entry     push %rbx              depth 8
//!           sub  $N, %rsp          depth 8 + N, resized: N is a site
//!           … 16(%rsp) …
//!           add  $N, %rsp          depth 8: this N too
//!           pop  %rbx; ret
//! ```
//!
//! What lies below the site moves with the stack pointer, what lies above stays. So the frame may
//! grow if every address that is formed from the stack pointer means something below the site; or,
//! in a function with a frame pointer, if such addresses mean nothing but arguments of calls, at
//! the frame's very end.

mod moves;
mod room;
#[cfg(test)]
mod tests;
mod uses;

use iced_x86::{
    Code, ConstantOffsets, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionInfoFactory, Mnemonic, OpKind, Register,
};
use room::Access;
pub use room::Shift;
use szc_abi::FixedFrame;
use szc_abi::stack::{RESIZABLE_BYTES, ROOM_MARK};

/// Bytes of a pointer.
const WORD: i64 = 8;

/// Grain of frames: the alignment of the stack at calls.
const GRAIN: i64 = 16;

/// What is known of the stack pointer in front of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Bytes that it lies below its value at the entry, at the size that the frame was compiled
    /// with.
    pub depth: i64,
    /// The part that can grow is taken.
    pub resized: bool,
    /// `depth` when the frame pointer was set to the stack pointer; none if it is an ordinary
    /// register.
    pub frame_pointer: Option<i64>,
}

/// The stack pointer of a function.
#[derive(Clone, Debug, Default)]
pub struct StackFlow {
    /// Offsets in the function of the constants that grow with the frame, ascending.
    pub sites: Vec<u32>,
    /// A frame pointer leads to the variables, so that they lie above what grows.
    pub grows_below_variables: bool,
    /// Bytes that nothing uses: by so much the frame can shrink.
    pub slack: u32,
    /// What changes, beside the sites, if it does.
    pub shifts: Vec<Shift>,
    /// The instructions that say so: offsets and bytes.
    pub markers: Vec<(u32, usize)>,
    /// Addresses of the indirect jumps with the frame taken.
    pub jumps: Vec<u64>,
    /// By address.
    points: Vec<(u64, Point)>,
    calls: Vec<(u64, Point)>,
    /// Where the function's own branches lead, ascending.
    targets: Vec<u64>,
}

impl StackFlow {
    /// Follows the stack pointer of the function at `start`.
    ///
    /// # Errors
    /// Why its frame must keep its size.
    pub fn of(start: u64, bytes: &[u8]) -> Result<Self, FixedFrame> {
        let mut walk = Walk::new(start, bytes)?;
        walk.enter_by_call()?;
        walk.enter_otherwise()?;
        walk.finish()
    }

    /// What is known at the first instruction at `address` or behind it.
    #[must_use]
    pub fn point_from(&self, address: u64) -> Option<&Point> {
        let first = self.points.partition_point(|&(at, _)| at < address);
        self.points.get(first).map(|(_, point)| point)
    }

    /// Whether a branch of the function leads to an address.
    #[must_use]
    pub fn is_branched_to(&self, address: u64) -> bool {
        self.targets.binary_search(&address).is_ok()
    }

    /// The calls, with what is known there, by address.
    pub fn calls(&self) -> impl Iterator<Item = (u64, &Point)> {
        self.calls.iter().map(|(address, point)| (*address, point))
    }
}

/// An instruction, where its constants lie if they may change with the frame, and what is known in
/// front of it.
struct Step {
    instruction: Instruction,
    offsets: ConstantOffsets,
    point: Option<Point>,
}

struct Walk {
    start: u64,
    end: u64,
    /// The instructions, by address.
    steps: Vec<Step>,
    /// Indices of those still to be followed, with what is known there.
    open: Vec<(usize, Point)>,
    /// Indices of those with what is known there, in the order of their finding.
    reached: Vec<usize>,
    /// What is known at indirect jumps, each once.
    at_indirect_jumps: Vec<Point>,
    sites: Vec<u32>,
    markers: Vec<(u32, usize)>,
    /// Everything in the frame that is reached by the stack or the frame pointer.
    accesses: Vec<Access>,
    facts: Facts,
    info: InstructionInfoFactory,
}

/// What is known of the function as a whole.
#[derive(Clone, Copy)]
struct Facts {
    /// Depth above the part that can grow, and its bytes.
    part: Option<(i64, i64)>,
    /// `Point::frame_pointer` where that part is taken.
    frame_pointer: Option<i64>,
    /// Depth of the end, towards the entry, of what nothing uses.
    room: Option<i64>,
    /// Largest depth that is reached by the frame pointer.
    deepest_by_frame_pointer: i64,
    /// Least depth that is reached by the stack pointer where there is a frame pointer.
    highest_argument: i64,
    uses_frame_pointer: bool,
    /// The frame pointer goes elsewhere, so that not all that is reached by it is known.
    frame_pointer_leaks: bool,
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
    fn new(start: u64, bytes: &[u8]) -> Result<Self, FixedFrame> {
        let mut steps = Vec::with_capacity(bytes.len() / 4 + 1);
        let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
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
                room: None,
                deepest_by_frame_pointer: 0,
                highest_argument: i64::MAX,
                uses_frame_pointer: false,
                frame_pointer_leaks: false,
            },
            info: InstructionInfoFactory::new(),
        })
    }

    fn enter_by_call(&mut self) -> Result<(), FixedFrame> {
        let entry = Point { depth: 0, resized: false, frame_pointer: None };
        self.reach(0, entry)?;
        self.follow()
    }

    /// What no branch leads to is entered by a switch or by the unwinder, with the whole frame
    /// taken, or else as one of the indirect jumps leaves it. If that is wrong, what follows
    /// contradicts it: a frame is given back that is not there, or returned with.
    fn enter_otherwise(&mut self) -> Result<(), FixedFrame> {
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

    fn finish(mut self) -> Result<StackFlow, FixedFrame> {
        let part = self.facts.part.ok_or(FixedFrame::NoSite)?;
        if self.facts.uses_frame_pointer
            && self.facts.highest_argument < self.facts.deepest_by_frame_pointer
        {
            return Err(FixedFrame::Ambiguous);
        }
        let removal = self.facts.room.and_then(|room| self.without_room(part, room));
        self.sites.sort_unstable();
        self.sites.dedup();
        let is_call = |step: &Step| {
            let flow = step.instruction.flow_control();
            matches!(flow, FlowControl::Call | FlowControl::IndirectCall)
        };
        let known = |step: &Step| Some((step.instruction.ip(), step.point?));
        let jumps = self.steps.iter().filter(|step| {
            step.instruction.flow_control() == FlowControl::IndirectBranch
                && step.point.is_some_and(|point| point.resized)
        });
        let branches = self.steps.iter().map(|step| &step.instruction);
        let mut targets: Vec<u64> = branches
            .filter(|branch| branch.op_count() > 0 && branch.op0_kind() == OpKind::NearBranch64)
            .map(Instruction::near_branch64)
            .collect();
        targets.sort_unstable();
        Ok(StackFlow {
            jumps: jumps.map(|step| step.instruction.ip()).collect(),
            targets,
            sites: self.sites,
            grows_below_variables: self.facts.frame_pointer.is_some(),
            slack: if removal.is_some() { RESIZABLE_BYTES } else { 0 },
            shifts: removal.unwrap_or_default(),
            markers: self.markers,
            calls: self.steps.iter().filter(|step| is_call(step)).filter_map(known).collect(),
            points: self.steps.iter().filter_map(known).collect(),
        })
    }
}

/// Whether a constant of the instruction may move the stack pointer, or be a distance from it or
/// the frame pointer.
fn may_have_site(instruction: &Instruction) -> bool {
    instruction.op0_register() == Register::RSP
        || matches!(instruction.memory_base(), Register::RSP | Register::RBP)
}

/// Whether this is the instruction by which the compiler pass says where the frame has room that
/// nothing uses.
#[must_use]
pub fn is_marker(instruction: &Instruction) -> bool {
    let base = instruction.memory_base();
    let says = match instruction.code() {
        Code::Mov_rm32_imm32 => base == Register::RBP && instruction.immediate32() == ROOM_MARK,
        code => {
            code.mnemonic() == Mnemonic::Prefetcht1 && matches!(base, Register::RSP | Register::RBP)
        }
    };
    says && instruction.memory_index() == Register::None
}
