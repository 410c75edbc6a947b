//! Where functions look whether their blocks are to tell.

use crate::llvm::{block, raw};
use crate::plan::FunctionPlan;
use inkwell::basic_block::BasicBlock;
use inkwell::values::InstructionOpcode as Opcode;
use std::collections::HashSet;

/// A way from one block to another.
pub(super) type Edge<'ctx> = (BasicBlock<'ctx>, BasicBlock<'ctx>);

/// What a block decides before others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// It is a check.
    Counted,
    /// It looks at the countdown.
    Seen,
}

/// What each of a function's blocks decides, in the order of the plan: the entry, blocks that lead
/// back into what is under way, and where exceptions come from calls. Some ways have a check
/// already.
pub(super) fn checks<'ctx>(
    plan: &FunctionPlan<'ctx>,
    entry: Check,
    checked: &HashSet<Edge<'ctx>>,
) -> Vec<Option<Check>> {
    let blocks = plan.telling.iter().map(|site| block(*site));
    let entered_again = loops(block(plan.telling[0]), checked);
    let check = |(index, block): (usize, BasicBlock<'ctx>)| match index {
        0 => Some(entry),
        _ if entered_again.contains(&block) => Some(Check::Counted),
        _ => is_landing_pad(block).then_some(Check::Seen),
    };
    blocks.enumerate().map(check).collect()
}

/// Whether exceptions lead to a block.
pub(super) fn is_landing_pad(block: BasicBlock<'_>) -> bool {
    block.get_instructions().any(|one| one.get_opcode() == Opcode::LandingPad)
}

/// Blocks of which each cycle without a way that is `checked` has one: where a depth-first search
/// comes back to what it has not left.
pub(super) fn loops<'ctx>(
    entry: BasicBlock<'ctx>,
    checked: &HashSet<Edge<'ctx>>,
) -> HashSet<BasicBlock<'ctx>> {
    let behind = checked.iter().map(|(_, to)| *to);
    let (mut seen, mut found) = (HashSet::new(), HashSet::new());
    for root in std::iter::once(entry).chain(behind) {
        if !seen.insert(root) {
            continue;
        }
        let mut open = HashSet::from([root]);
        let mut stack = vec![(root, raw::successors(root).into_iter())];
        while let Some((block, successors)) = stack.last_mut() {
            let block = *block;
            let Some(next) = successors.next() else {
                open.remove(&block);
                stack.pop();
                continue;
            };
            if checked.contains(&(block, next)) {
                continue;
            }
            if open.contains(&next) {
                found.insert(next);
            }
            if seen.insert(next) {
                open.insert(next);
                stack.push((next, raw::successors(next).into_iter()));
            }
        }
    }
    found
}
