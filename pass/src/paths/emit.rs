//! What is inserted: checks, looks at the countdown, and calls of the runtime.

use crate::llvm::{BuilderExt, Result};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::debug_info::DILocation;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, IntValue, PointerValue};
use inkwell::{GlobalVisibility, IntPredicate, ThreadLocalMode};
use szc_abi::{PATH_BLOCK_SYMBOL, PATH_CHECK_SYMBOL, PATH_COUNTDOWN_SYMBOL};

/// `preserve_most` (`llvm/IR/CallingConv.h`).
const PRESERVE_MOST: u32 = 14;

/// Inserts into a module.
pub(super) struct Emitter<'m, 'ctx> {
    pub(super) module: &'m Module<'ctx>,
    countdown: PointerValue<'ctx>,
    note_check: FunctionValue<'ctx>,
    note_block: FunctionValue<'ctx>,
}

impl<'m, 'ctx> Emitter<'m, 'ctx> {
    pub(super) fn new(module: &'m Module<'ctx>) -> Self {
        Self {
            module,
            countdown: countdown(module),
            note_check: runtime_function(module, PATH_CHECK_SYMBOL),
            note_block: runtime_function(module, PATH_BLOCK_SYMBOL),
        }
    }

    /// Ends a block by a check, behind which clean code runs or code that tells.
    pub(super) fn count(
        &self,
        head: BasicBlock<'ctx>,
        clean: BasicBlock<'ctx>,
        telling: BasicBlock<'ctx>,
    ) -> Result<()> {
        let context = self.module.get_context();
        let check = context.prepend_basic_block(telling, "szc.check");
        let builder = context.create_builder();
        builder.position_at_end(head);
        let left = self.left(&builder)?;
        let one = context.i64_type().const_int(1, false);
        let left = builder.build_int_sub(left, one, "")?;
        builder.build_store(self.countdown, left)?;
        branch(&builder, left, clean, check)?;
        builder.position_at_end(check);
        self.call(&builder, self.note_check)?;
        let left = self.left(&builder)?;
        branch(&builder, left, clean, telling)
    }

    /// Ends a block by a look at the countdown.
    pub(super) fn look(
        &self,
        head: BasicBlock<'ctx>,
        clean: BasicBlock<'ctx>,
        telling: BasicBlock<'ctx>,
    ) -> Result<()> {
        let builder = self.module.get_context().create_builder();
        builder.position_at_end(head);
        let left = self.left(&builder)?;
        branch(&builder, left, clean, telling)
    }

    /// Tells of a block, in front of an instruction of it.
    pub(super) fn tell(
        &self,
        first: InstructionValue<'ctx>,
        location: Option<DILocation<'ctx>>,
    ) -> Result<()> {
        let builder = self.module.get_context().create_builder();
        builder.position_before(&first);
        match location {
            Some(location) => builder.set_current_debug_location(location),
            None => builder.unset_current_debug_location(),
        }
        self.call(&builder, self.note_block)
    }

    fn left(&self, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>> {
        let word = self.module.get_context().i64_type();
        Ok(builder.build_load(word, self.countdown, "")?.into_int_value())
    }

    fn call(&self, builder: &Builder<'ctx>, callee: FunctionValue<'ctx>) -> Result<()> {
        let call = builder.build_call(callee, &[], "")?;
        call.set_call_convention(PRESERVE_MOST);
        // Each has a return address of its own.
        let kind = Attribute::get_named_enum_kind_id("nomerge");
        let nomerge = self.module.get_context().create_enum_attribute(kind, 0);
        call.add_attribute(AttributeLoc::Function, nomerge);
        Ok(())
    }
}

/// Goes on in clean code unless the countdown is below 0.
fn branch<'ctx>(
    builder: &Builder<'ctx>,
    left: IntValue<'ctx>,
    clean: BasicBlock<'ctx>,
    telling: BasicBlock<'ctx>,
) -> Result<()> {
    let zero = left.get_type().const_zero();
    let goes_on = builder.build_int_compare(IntPredicate::SGE, left, zero, "")?;
    builder.branch_likely(goes_on, clean, telling)
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

fn runtime_function<'ctx>(module: &Module<'ctx>, name: &str) -> FunctionValue<'ctx> {
    module.get_function(name).unwrap_or_else(|| {
        let context = module.get_context();
        let signature = context.void_type().fn_type(&[], false);
        let function = module.add_function(name, signature, None);
        function.set_call_conventions(PRESERVE_MOST);
        function.as_global_value().set_visibility(GlobalVisibility::Hidden);
        for attribute in ["nounwind", "cold"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
        }
        function
    })
}
