//! Makes blocks tell the runtime that they are executed, for profiles of subpaths: each takes 1 off
//! a countdown of its thread, and at 0 calls the runtime, which knows the block by the address that
//! the call returns to, and sets the countdown.
//!
//! ```text
//! head:   countdown -= 1; if countdown == 0
//! note:       szc_rt_path_block()            keeps the registers that are in use here
//! tail:   …
//! ```
//!
//! The countdown lies at a fixed distance from the thread pointer in programs alone, so code that
//! may become part of a shared library tells nothing.

use crate::llvm::{BuilderExt, Result, block, module_flag, raw};
use crate::plan::Plan;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, PointerValue};
use inkwell::{GlobalVisibility, IntPredicate, ThreadLocalMode};
use szc_abi::{PATH_BLOCK_SYMBOL, PATH_COUNTDOWN_SYMBOL};

/// `preserve_most` (`llvm/IR/CallingConv.h`).
const PRESERVE_MOST: u32 = 14;

/// Inserts that in the blocks of all functions of the plan.
pub(crate) fn tell_of_blocks<'ctx>(module: &Module<'ctx>, plan: &Plan<'ctx>) -> Result<()> {
    let is_set = |flag| module_flag(module, flag).is_some_and(|level| level > 0);
    if is_set("PIC Level") && !is_set("PIE Level") {
        return Ok(());
    }
    let sites: Vec<_> = plan.functions.iter().flat_map(|plan| plan.telling.clone()).collect();
    if sites.is_empty() {
        return Ok(());
    }
    let (countdown, note) = (countdown(module), note(module));
    // A site behind another in one block cannot be: each is its block's first.
    sites.into_iter().try_for_each(|site| tell(module, site, countdown, note))
}

fn tell<'ctx>(
    module: &Module<'ctx>,
    first: InstructionValue<'ctx>,
    countdown: PointerValue<'ctx>,
    note: FunctionValue<'ctx>,
) -> Result<()> {
    let context = module.get_context();
    let (builder, word) = (context.create_builder(), context.i64_type());
    // The line of the block: code generation gives the call's to its return address.
    let location = block(first).get_instructions().find_map(InstructionValue::get_debug_location);
    let head = block(first);
    let tail = raw::split_before(first);
    let telling = context.prepend_basic_block(tail, "szc.tell");

    builder.position_at_end(head);
    let left = builder.build_load(word, countdown, "")?.into_int_value();
    let left = builder.build_int_sub(left, word.const_int(1, false), "")?;
    builder.build_store(countdown, left)?;
    let goes_on = builder.build_int_compare(IntPredicate::NE, left, word.const_zero(), "")?;
    builder.branch_likely(goes_on, tail, telling)?;

    builder.position_at_end(telling);
    if let Some(location) = location {
        builder.set_current_debug_location(location);
    }
    let call = builder.build_call(note, &[], "")?;
    call.set_call_convention(PRESERVE_MOST);
    // Each has a return address of its own.
    let kind = Attribute::get_named_enum_kind_id("nomerge");
    call.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    builder.build_unconditional_branch(tail)?;
    Ok(())
}

fn countdown<'ctx>(module: &Module<'ctx>) -> PointerValue<'ctx> {
    let present = module.get_global(PATH_COUNTDOWN_SYMBOL);
    let global = present.unwrap_or_else(|| {
        let global =
            module.add_global(module.get_context().i64_type(), None, PATH_COUNTDOWN_SYMBOL);
        global.set_thread_local_mode(Some(ThreadLocalMode::LocalExecTLSModel));
        global.set_visibility(GlobalVisibility::Hidden);
        global.set_alignment(8);
        global
    });
    global.as_pointer_value()
}

fn note<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    module.get_function(PATH_BLOCK_SYMBOL).unwrap_or_else(|| {
        let context = module.get_context();
        let signature = context.void_type().fn_type(&[], false);
        let note = module.add_function(PATH_BLOCK_SYMBOL, signature, None);
        note.set_call_conventions(PRESERVE_MOST);
        note.as_global_value().set_visibility(GlobalVisibility::Hidden);
        for attribute in ["nounwind", "cold"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            note.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
        }
        note
    })
}
