//! Functions whose blocks stand twice.

use super::checkless::Checkless;
use super::checks::{Check, Edge, checks, is_landing_pad};
use super::computed;
use super::emit::Emitter;
use crate::llvm::{Call, Result, block, raw, terminator};
use crate::plan::FunctionPlan;
use inkwell::basic_block::BasicBlock;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{InstructionOpcode as Opcode, InstructionValue};
use std::collections::{HashMap, HashSet};

/// Where a block is cut in two, of which the first ends by leading to the second.
struct Cut<'ctx> {
    head: BasicBlock<'ctx>,
    rest: BasicBlock<'ctx>,
}

/// A function's blocks, cut where it can come from one copy into the other.
#[derive(Default)]
struct Cuts<'ctx> {
    /// Heads that both copies have in common.
    entered: Vec<(Cut<'ctx>, Check)>,
    /// Those of them that are checks.
    counted: HashSet<BasicBlock<'ctx>>,
    /// Ways on which there is a check.
    checked: HashSet<Edge<'ctx>>,
    /// Behind calls.
    resumed: Vec<Cut<'ctx>>,
    /// Where blocks begin that are to tell.
    told: Vec<BasicBlock<'ctx>>,
}

/// Gives a function a second copy of its blocks, that tells of each.
pub(super) fn insert<'ctx>(
    emitter: &Emitter<'_, 'ctx>,
    checkless: &Checkless<'ctx>,
    plan: &FunctionPlan<'ctx>,
    entry: Check,
) -> Result<()> {
    let jumps = computed::blocks(plan);
    let ways = computed::ways_in(plan, &jumps);
    let mut cuts = Cuts { checked: ways.iter().copied().collect(), ..Cuts::default() };
    let checks = checks(plan, entry, &cuts.checked);
    for (site, check) in plan.telling.iter().zip(&checks) {
        if *check == Some(Check::Counted) {
            cuts.counted.insert(block(*site));
        }
    }
    // Blocks are about to be cut, which leaves the last to those that keep the end.
    let ends: Vec<_> = ways.iter().map(|(from, to)| (terminator(*from), *to)).collect();
    for (&site, check) in plan.telling.iter().zip(checks) {
        cuts.add(checkless, site, check)?;
    }
    let ways = ends.into_iter().map(|(end, to)| cut(terminator(raw::split_edge(block(end), to))));
    let ways = ways.collect::<Result<Vec<Cut>>>()?;
    let common: HashSet<BasicBlock> = cuts.entered.iter().map(|(cut, _)| cut.head).collect();
    let blocks = plan.function.get_basic_block_iter();
    let originals: Vec<BasicBlock> = blocks.filter(|block| !common.contains(block)).collect();
    let clones = raw::clones(&originals);
    let pairs: Vec<_> = originals
        .iter()
        .zip(&clones)
        .flat_map(|(block, clone)| block.get_instructions().zip(clone.get_instructions()))
        .filter(|(original, _)| !matches!(original.get_type(), AnyTypeEnum::VoidType(_)))
        .collect();
    let clone_of: HashMap<_, _> = originals.into_iter().zip(clones).collect();
    for (Cut { head, rest }, check) in cuts.entered {
        terminator(head).erase_from_basic_block();
        match check {
            Check::Counted => emitter.count(head, rest, clone_of[&rest])?,
            Check::Seen => emitter.look(head, rest, clone_of[&rest])?,
        }
    }
    for Cut { head, rest } in ways {
        let (other, other_rest) = (clone_of[&head], clone_of[&rest]);
        terminator(head).erase_from_basic_block();
        terminator(other).erase_from_basic_block();
        emitter.count(head, rest, other_rest)?;
        emitter.count(other, other_rest, other_rest)?;
    }
    for Cut { head, rest } in cuts.resumed {
        terminator(head).erase_from_basic_block();
        emitter.look(head, rest, clone_of[&rest])?;
    }
    for original in cuts.told {
        let mut instructions = clone_of[&original].get_instructions();
        let first = instructions.find(|one| one.get_opcode() != Opcode::Phi);
        let location = original.get_instructions().find_map(InstructionValue::get_debug_location);
        emitter.tell(first.expect("blocks are complete"), location)?;
    }
    for jump in jumps {
        let rest = computed::return_before(emitter, jump, clone_of[&jump])?;
        computed::lead_to_clones(emitter.module, jump, rest, &clone_of)?;
    }
    for (original, clone) in pairs {
        raw::unite(original, clone);
    }
    Ok(())
}

impl<'ctx> Cuts<'ctx> {
    /// Cuts the block in which this is the first instruction that another block may take over.
    fn add(
        &mut self,
        checkless: &Checkless<'ctx>,
        site: InstructionValue<'ctx>,
        check: Option<Check>,
    ) -> Result<()> {
        let from = block(site);
        let mut calls = from.get_instructions().filter_map(Call::of);
        let may_change = calls.any(|call| checkless.may_meet_check(call));
        let last = terminator(from);
        let told = match check {
            None => from,
            Some(check) => {
                let cut = cut(site)?;
                let told = cut.rest;
                self.entered.push((cut, check));
                told
            }
        };
        self.told.push(told);
        if may_change { self.resume_before(from, last) } else { Ok(()) }
    }

    /// Cuts in front of a block's end, if it goes on to others that do not look at the countdown
    /// themselves.
    fn resume_before(
        &mut self,
        from: BasicBlock<'ctx>,
        last: InstructionValue<'ctx>,
    ) -> Result<()> {
        let next = raw::successors(block(last));
        let looks = |next: &BasicBlock<'ctx>| {
            self.counted.contains(next)
                || self.checked.contains(&(from, *next))
                || is_landing_pad(*next)
        };
        let Some(next) = next.into_iter().find(|block| !looks(block)) else { return Ok(()) };
        let before = if last.get_opcode() == Opcode::Invoke {
            terminator(raw::split_edge(block(last), next))
        } else {
            last
        };
        self.resumed.push(cut(before)?);
        Ok(())
    }
}

/// Makes an instruction the first of a new block, which its own leads to.
fn cut<'ctx>(first: InstructionValue<'ctx>) -> Result<Cut<'ctx>> {
    let head = block(first);
    let rest = raw::split_before(first);
    let builder = head.get_context().create_builder();
    builder.position_at_end(head);
    builder.build_unconditional_branch(rest)?;
    Ok(Cut { head, rest })
}
