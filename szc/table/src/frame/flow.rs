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
mod point;
mod slack;
#[cfg(test)]
mod tests;
mod uses;
mod walk;

use crate::instructions::is_call;
use iced_x86::{FlowControl, Instruction, OpKind};
use point::Point;
pub use slack::Shift;
use slack::without_slack;
use szc_abi::FixedFrame;
use szc_abi::stack::RESIZABLE_BYTES;
use walk::{Step, Walk};

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
        Self::found(walk)
    }

    /// What a walk over the whole function has found.
    fn found(mut walk: Walk) -> Result<Self, FixedFrame> {
        let part = walk.facts.part.ok_or(FixedFrame::NoSite)?;
        if walk.facts.uses_frame_pointer
            && walk.facts.highest_argument < walk.facts.deepest_by_frame_pointer
        {
            return Err(FixedFrame::Ambiguous);
        }
        let removal = walk
            .facts
            .slack
            .and_then(|slack| without_slack(&walk.accesses, &walk.facts, part, slack));
        walk.sites.sort_unstable();
        walk.sites.dedup();
        let known = |step: &Step| Some((step.instruction.ip(), step.point?));
        let jumps = walk.steps.iter().filter(|step| {
            step.instruction.flow_control() == FlowControl::IndirectBranch
                && step.point.is_some_and(|point| point.resized)
        });
        let branches = walk.steps.iter().map(|step| &step.instruction);
        let mut targets: Vec<u64> = branches
            .filter(|branch| branch.op_count() > 0 && branch.op0_kind() == OpKind::NearBranch64)
            .map(Instruction::near_branch64)
            .collect();
        targets.sort_unstable();
        Ok(Self {
            jumps: jumps.map(|step| step.instruction.ip()).collect(),
            targets,
            sites: walk.sites,
            grows_below_variables: walk.facts.frame_pointer.is_some(),
            slack: if removal.is_some() { RESIZABLE_BYTES } else { 0 },
            shifts: removal.unwrap_or_default(),
            markers: walk.markers,
            calls: walk
                .steps
                .iter()
                .filter(|step| is_call(&step.instruction))
                .filter_map(known)
                .collect(),
            points: walk.steps.iter().filter_map(known).collect(),
        })
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
