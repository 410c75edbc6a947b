//! Makes programs tell the runtime of their blocks now and then, for profiles of subpaths.
//!
//! Blocks have a second copy in their function, which calls the runtime in each: it knows a block
//! by the address that the call returns to. Which copy runs is decided at *checks*, at the entry of
//! a function and of each loop, by a countdown of the thread, which goes below 0 at one check among
//! many (Arnold and Ryder, "A Framework for Reducing the Cost of Instrumented Code", PLDI 2001,
//! full duplication):
//!
//! ```text
//! head:   countdown -= 1; if countdown < 0
//! check:      szc_rt_path_check()            sets the countdown; back to rest if it is above
//! rest:   …                                  or the clone of it:
//!             szc_rt_path_block()
//! ```
//!
//! Behind calls the clean copy looks at the countdown, without changing it, before it goes on to
//! another block: the callee may have met a check. So do functions that can meet none themselves.
//! Every cycle has a check, and both copies enter loops by the same block, so that LLVM sees the
//! loops that there were.
//!
//! Functions whose blocks cannot stand twice look at the countdown in each block.
//!
//! The countdown lies at a fixed distance from the thread pointer in programs alone, so code that
//! may become part of a shared library tells nothing.

mod checkless;
mod checks;
mod computed;
mod emit;
mod twofold;

use crate::llvm::{Result, block, module_flag, raw, terminator};
use crate::plan::{FunctionPlan, Plan};
use checkless::Checkless;
use checks::{Check, checks};
use emit::Emitter;
use inkwell::module::Module;
use inkwell::values::InstructionValue;
use std::collections::HashSet;

/// Most blocks of a function that get a second copy.
const MAX_CLONED_BLOCKS: usize = 20_000;

/// Inserts that in the blocks of all functions of the plan.
pub(crate) fn tell_of_blocks<'ctx>(module: &Module<'ctx>, plan: &Plan<'ctx>) -> Result<()> {
    let is_set = |flag| module_flag(module, flag).is_some_and(|level| level > 0);
    if is_set("PIC Level") && !is_set("PIE Level") {
        return Ok(());
    }
    let telling = || plan.functions.iter().filter(|plan| !plan.telling.is_empty());
    if telling().next().is_none() {
        return Ok(());
    }
    let (checkless, emitter) = (Checkless::of(module), Emitter::new(module));
    for plan in telling() {
        let (blocks, entry) = (plan.telling.len(), checkless.entry(plan.function));
        let is_small = blocks == 1 && entry == Check::Seen;
        if blocks <= MAX_CLONED_BLOCKS && !is_small && can_clone(plan) {
            twofold::insert(&emitter, &checkless, plan, entry)?;
        } else {
            look_in_each(&emitter, plan, entry)?;
        }
    }
    Ok(())
}

/// Whether a function's blocks can stand twice in it.
fn can_clone(plan: &FunctionPlan<'_>) -> bool {
    raw::can_clone(plan.function) && computed::can_be_led(plan)
}

/// Each block looks at the countdown, and tells of itself.
fn look_in_each<'ctx>(
    emitter: &Emitter<'_, 'ctx>,
    plan: &FunctionPlan<'ctx>,
    entry: Check,
) -> Result<()> {
    let checks = checks(plan, entry, &HashSet::new());
    for (&site, check) in plan.telling.iter().zip(checks) {
        // The line of the block: code generation gives the call's to its return address.
        let head = block(site);
        let location = head.get_instructions().find_map(InstructionValue::get_debug_location);
        let rest = raw::split_before(site);
        let telling = rest.get_context().prepend_basic_block(rest, "szc.tell");
        match check {
            Some(Check::Counted) => emitter.count(head, rest, telling)?,
            _ => emitter.look(head, rest, telling)?,
        }
        let builder = telling.get_context().create_builder();
        builder.position_at_end(telling);
        builder.build_unconditional_branch(rest)?;
        emitter.tell(terminator(telling), location)?;
    }
    Ok(())
}
