//! Where the pass meets LLVM: the plugin's entry point, what inkwell lacks, and what the pass asks
//! of inkwell's types beyond their own methods. All `unsafe` of the plugin is here, in `plugin`,
//! `loaded` and `raw`.
//!
//! inkwell's values are handles. A handle is good as long as the pass runs over the module that it
//! came from: the pass deletes nothing that it has a handle of, and LLVM does nothing meanwhile.
//! The SAFETY comments here call such handles *live*.

mod attributes;
mod builder;
mod call;
mod call_instruction;
#[allow(unsafe_code)]
mod loaded;
#[allow(unsafe_code)]
mod plugin;
#[allow(unsafe_code)]
pub(crate) mod raw;

pub(crate) use attributes::Attributes;
pub(crate) use builder::BuilderExt;
pub(crate) use call::{Callee, Width, constant, pointer};
pub(crate) use call_instruction::Call;
pub(crate) use loaded::plugin_path;

use inkwell::basic_block::BasicBlock;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, InstructionValue};

/// What inkwell answers if it is misused.
pub(crate) type Result<T> = std::result::Result<T, inkwell::Error>;

/// The number that a module flag holds; none if there is no such flag.
pub(crate) fn module_flag(module: &Module<'_>, name: &str) -> Option<u64> {
    match module.get_flag(name)?.get_node_values()?.first()? {
        BasicMetadataValueEnum::IntValue(number) => number.get_zero_extended_constant(),
        _ => None,
    }
}

/// Whether code will be emitted for a function.
pub(crate) fn is_emitted(function: FunctionValue<'_>) -> bool {
    !function.as_global_value().is_declaration()
        && function.get_linkage() != Linkage::AvailableExternally
}

/// The instructions of a function.
pub(crate) fn instructions<'ctx>(
    function: FunctionValue<'ctx>,
) -> impl Iterator<Item = InstructionValue<'ctx>> {
    function.get_basic_block_iter().flat_map(BasicBlock::get_instructions)
}

/// The block of an instruction.
pub(crate) fn block<'ctx>(instruction: InstructionValue<'ctx>) -> BasicBlock<'ctx> {
    instruction.get_parent().expect("the pass keeps instructions in their blocks")
}

/// The instruction that ends a block.
pub(crate) fn terminator<'ctx>(block: BasicBlock<'ctx>) -> InstructionValue<'ctx> {
    block.get_terminator().expect("blocks in a module that LLVM runs passes over are complete")
}
