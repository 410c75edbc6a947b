//! What the pass builds of more than one of inkwell's building blocks.

use super::{Result, raw};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, IntValue, PointerValue};

/// How much likelier the likely way of a branch is than the other.
const LIKELY_WEIGHT: u64 = 1 << 20;

/// Appends instructions at the position of a builder.
pub(crate) trait BuilderExt<'ctx> {
    /// `base + offset`, in bytes.
    fn byte_offset(
        &self,
        base: PointerValue<'ctx>,
        offset: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>>;

    /// Goes on at `likely` if the condition holds, as it almost always does, else at `unlikely`.
    fn branch_likely(
        &self,
        condition: IntValue<'ctx>,
        likely: BasicBlock<'ctx>,
        unlikely: BasicBlock<'ctx>,
    ) -> Result<()>;

    /// Calls an intrinsic that is overloaded by one type.
    fn call_intrinsic(
        &self,
        module: &Module<'ctx>,
        name: &str,
        overload: BasicTypeEnum<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<CallSiteValue<'ctx>>;
}

impl<'ctx> BuilderExt<'ctx> for Builder<'ctx> {
    fn byte_offset(
        &self,
        base: PointerValue<'ctx>,
        offset: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        raw::byte_offset(self, base, offset)
    }

    fn branch_likely(
        &self,
        condition: IntValue<'ctx>,
        likely: BasicBlock<'ctx>,
        unlikely: BasicBlock<'ctx>,
    ) -> Result<()> {
        let branch = self.build_conditional_branch(condition, likely, unlikely)?;
        let context = likely.get_context();
        let weight = |weight| context.i32_type().const_int(weight, false).into();
        let kind = context.metadata_string("branch_weights").into();
        let weights = context.metadata_node(&[kind, weight(LIKELY_WEIGHT), weight(1)]);
        Ok(branch.set_metadata(weights, context.get_kind_id("prof"))?)
    }

    fn call_intrinsic(
        &self,
        module: &Module<'ctx>,
        name: &str,
        overload: BasicTypeEnum<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<CallSiteValue<'ctx>> {
        let intrinsic = Intrinsic::find(name).expect("LLVM 22 knows the intrinsic");
        let declared = intrinsic.get_declaration(module, &[overload]);
        let declared = declared.expect("LLVM declares the intrinsics that it knows");
        Ok(self.build_call(declared, arguments, "")?)
    }
}
