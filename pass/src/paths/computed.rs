//! Computed jumps (`goto *p`). Their checks are on each way there, and lead to the copy that tells
//! alone; that comes back right in front of the jump. So only one block is entered from both
//! copies, which code generation can still copy to all ways. Addresses of labels are those of the
//! clean copy; the other looks in a table for the label's clone.

use super::checks::{Edge, is_landing_pad};
use super::emit::Emitter;
use crate::llvm::{BuilderExt, Result, block, raw, terminator};
use crate::plan::FunctionPlan;
use inkwell::basic_block::BasicBlock;
use inkwell::module::{Linkage, Module};
use inkwell::values::{InstructionOpcode as Opcode, InstructionValue};
use inkwell::{AddressSpace, IntPredicate};
use std::collections::{HashMap, HashSet};

/// Most instructions of a block that code generation is to copy together with a jump.
const MAX_LEADING_INSTRUCTIONS: usize = 16;

/// Whether other blocks can be put on all ways to a function's computed jumps.
pub(super) fn can_be_led(plan: &FunctionPlan<'_>) -> bool {
    let ways = ways_in(plan, &blocks(plan));
    let ends_simply =
        |block: BasicBlock| matches!(terminator(block).get_opcode(), Opcode::Br | Opcode::Switch);
    let is_one = |way| ways.iter().filter(|other| *other == way).count() == 1;
    ways.iter().all(|way| ends_simply(way.0) && is_one(way))
}

/// Blocks that end in a computed jump.
pub(super) fn blocks<'ctx>(plan: &FunctionPlan<'ctx>) -> Vec<BasicBlock<'ctx>> {
    let jumps = |block: &BasicBlock<'ctx>| terminator(*block).get_opcode() == Opcode::IndirectBr;
    plan.telling.iter().map(|site| block(*site)).filter(jumps).collect()
}

/// The ways to jumps, and to small blocks that lead nowhere else: code generation makes a copy of
/// all these for each way, so that each has a jump of its own, if nothing branches between them.
pub(super) fn ways_in<'ctx>(
    plan: &FunctionPlan<'ctx>,
    jumps: &[BasicBlock<'ctx>],
) -> Vec<Edge<'ctx>> {
    let blocks: Vec<BasicBlock> = plan.telling.iter().map(|site| block(*site)).collect();
    let labels: HashSet<BasicBlock> =
        jumps.iter().flat_map(|jump| raw::successors(*jump)).collect();
    let mut region: HashSet<BasicBlock> = jumps.iter().copied().collect();
    while let Some(more) = blocks[1..].iter().find(|block| {
        !region.contains(block)
            && !labels.contains(block)
            && !is_landing_pad(**block)
            && block.get_instructions().count() <= MAX_LEADING_INSTRUCTIONS
            && matches!(raw::successors(**block)[..], [next] if region.contains(&next))
    }) {
        region.insert(*more);
    }
    let from = blocks.iter().filter(|block| !region.contains(block));
    let ways = from.flat_map(|&from| raw::successors(from).into_iter().map(move |to| (from, to)));
    let around = region_jumps(jumps, &region);
    ways.filter(|(_, to)| region.contains(to)).chain(around).collect()
}

/// Jumps that lead to the region themselves.
fn region_jumps<'ctx>(
    jumps: &[BasicBlock<'ctx>],
    region: &HashSet<BasicBlock<'ctx>>,
) -> Vec<Edge<'ctx>> {
    let ways =
        jumps.iter().flat_map(|&from| raw::successors(from).into_iter().map(move |to| (from, to)));
    ways.filter(|(_, to)| region.contains(to)).collect()
}

/// Makes the clone of a block that ends in a computed jump lead to the original if nobody wants to
/// be told any more. Says where else it goes on.
pub(super) fn return_before<'ctx>(
    emitter: &Emitter<'_, 'ctx>,
    jump: BasicBlock<'ctx>,
    clone: BasicBlock<'ctx>,
) -> Result<BasicBlock<'ctx>> {
    let is_phi = |one: &InstructionValue| one.get_opcode() == Opcode::Phi;
    let phis = jump.get_instructions().zip(clone.get_instructions());
    for (phi, other) in phis.take_while(|(phi, _)| is_phi(phi)) {
        raw::add_incoming(phi, other, clone);
    }
    let mut instructions = clone.get_instructions();
    let first = instructions.find(|one| !is_phi(one)).expect("blocks are complete");
    let rest = raw::split_before(first);
    emitter.look(clone, jump, rest)?;
    Ok(rest)
}

/// Makes the clone of a computed jump lead to the clones of what the jump leads to.
pub(super) fn lead_to_clones<'ctx>(
    module: &Module<'ctx>,
    jump: BasicBlock<'ctx>,
    clone: BasicBlock<'ctx>,
    clone_of: &HashMap<BasicBlock<'ctx>, BasicBlock<'ctx>>,
) -> Result<()> {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let pair = pointer.array_type(2);
    let mut seen = HashSet::new();
    let labels = raw::successors(jump).into_iter().filter(|label| seen.insert(*label));
    let rows: Vec<_> = labels
        .map(|label| pointer.const_array(&[raw::label(label), raw::label(clone_of[&label])]))
        .collect();
    let rows = pair.const_array(&rows);
    let table = module.add_global(rows.get_type(), None, "szc.labels");
    table.set_initializer(&rows);
    table.set_linkage(Linkage::Private);
    table.set_constant(true);

    let end = terminator(clone);
    let wanted = raw::operand(&end, 0).expect("a computed jump has an address");
    let wanted = wanted.into_pointer_value();
    let found = raw::split_before(end);
    let search = context.prepend_basic_block(found, "szc.label");
    let (builder, word) = (context.create_builder(), context.i64_type());
    builder.position_at_end(clone);
    builder.build_unconditional_branch(search)?;
    builder.position_at_end(search);
    let row = builder.build_phi(pointer, "")?;
    let label = builder.build_load(pointer, row.as_basic_value().into_pointer_value(), "")?;
    let size = word.const_int(16, false);
    let next = builder.byte_offset(row.as_basic_value().into_pointer_value(), size)?;
    row.add_incoming(&[(&table.as_pointer_value(), clone), (&next, search)]);
    let is_found =
        builder.build_int_compare(IntPredicate::EQ, label.into_pointer_value(), wanted, "")?;
    builder.build_conditional_branch(is_found, found, search)?;
    builder.position_before(&end);
    let row = row.as_basic_value().into_pointer_value();
    let second = builder.byte_offset(row, word.const_int(8, false))?;
    let target = builder.build_load(pointer, second, "")?;
    let _ = end.set_operand(0, target);
    Ok(())
}
