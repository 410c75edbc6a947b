//! Puts pads into functions. A pad is a number of bytes, read from a table, by which the function
//! moves the stack pointer below its own frame before its first call; it is given back with the
//! frame.
//!
//! ```text
//! head:   if rsp - state.low < state.span         unsigned
//! pad:        rsp -= 16 * table[index]; index += 1
//! tail:   …
//! ```
//!
//! To LLVM the pad is an array of variable length, so that everything it knows about those holds:
//! frame and unwind tables, exceptions, tail calls, `setjmp`.
//!
//! The state of the thread lies at a fixed distance from the thread pointer in programs. Code that
//! may become part of a shared library reads the distance from a variable of its image; the models
//! of thread-local storage for libraries would call a function at each entry, or need a piece of
//! the memory that the loader keeps for such variables of libraries.

use crate::llvm::{Attributes, BuilderExt, Result, block, module_flag, pointer, raw, terminator};
use crate::mode::Mode;
use crate::plan::Site;
use crate::variables;
use inkwell::builder::Builder;
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::types::IntType;
use inkwell::values::{BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue};
use inkwell::{AddressSpace, AtomicOrdering, IntPredicate};
use szc_abi::stack::{PAD_GRAIN_BYTES, PadState};

/// What makes code generation guard a frame with a large object, but not every frame.
const PROTECTOR_ATTRIBUTES: [&str; 2] = ["ssp", "sspstrong"];

/// The address space of pointers relative to the thread pointer, `%fs` (LLVM's code generator
/// documentation, "X86 Address Spaces").
const THREAD_SPACE: u16 = 257;

/// What is added to a frame must not make the protector want to guard it.
pub(crate) fn keep_unguarded(function: FunctionValue<'_>) {
    if !raw::needs_stack_protector(function) {
        for attribute in PROTECTOR_ATTRIBUTES {
            function.remove(attribute);
        }
    }
}

/// The instruction in front of which the pad of a site is taken; splits the edge that it is on.
pub(crate) fn insertion_point<'ctx>(site: Site<'ctx>) -> InstructionValue<'ctx> {
    match site {
        Site::Entry(first) | Site::Later(first, _) => first,
        Site::Edge(from, to) => terminator(raw::split_edge(from, to)),
    }
}

/// Pads one module's functions.
pub(crate) struct Pads<'a, 'ctx> {
    module: &'a Module<'ctx>,
    mode: Mode,
    /// The module's code can become part of a shared library.
    library: bool,
    context: ContextRef<'ctx>,
    builder: Builder<'ctx>,
    byte: IntType<'ctx>,
    word: IntType<'ctx>,
}

impl<'a, 'ctx> Pads<'a, 'ctx> {
    pub(crate) fn new(module: &'a Module<'ctx>, mode: Mode) -> Self {
        let is_set = |flag| module_flag(module, flag).is_some_and(|level| level > 0);
        let library = is_set("PIC Level") && !is_set("PIE Level");
        let context = module.get_context();
        let (byte, word) = (context.i8_type(), context.i64_type());
        Self { module, mode, library, context, builder: context.create_builder(), byte, word }
    }

    /// Pads `function` at these sites.
    pub(crate) fn insert(&self, function: FunctionValue<'ctx>, sites: &[Site<'ctx>]) -> Result<()> {
        keep_unguarded(function);
        sites.iter().try_for_each(|&site| self.insert_at(function, site))
    }

    fn insert_at(&self, function: FunctionValue<'ctx>, site: Site<'ctx>) -> Result<()> {
        let builder = &self.builder;
        let first = insertion_point(site);
        let head = block(first);
        let tail = raw::split_before(first);
        let pad = self.context.prepend_basic_block(tail, "szc.pad");
        builder.position_at_end(head);
        let state = if self.library {
            let check = self.context.prepend_basic_block(pad, "szc.check");
            let offset = self.load(self.word, variables::state_offset(self.module))?;
            let zero = self.word.const_zero();
            let known = builder.build_int_compare(IntPredicate::NE, offset, zero, "")?;
            builder.branch_likely(known, check, tail)?;
            builder.position_at_end(check);
            let kind = self.context.ptr_type(AddressSpace::from(THREAD_SPACE));
            builder.build_int_to_ptr(offset, kind, "")?
        } else {
            variables::state(self.module)
        };
        let field = |at| builder.byte_offset(state, self.word.const_int(at, false));
        let low = self.load(self.word, field(PadState::LOW_AT)?)?;
        let above = builder.build_int_sub(self.stack_pointer()?, low, "")?;
        let span = self.load(self.word, field(PadState::SPAN_AT)?)?;
        let fits = builder.build_int_compare(IntPredicate::ULT, above, span, "")?;
        builder.branch_likely(fits, pad, tail)?;

        builder.position_at_end(pad);
        let entry = if self.mode == Mode::PerFunction {
            let (table, index) = variables::of_function(self.module, function);
            let current = self.load_shared_byte(index)?;
            let stored = builder.build_store(index, self.next(current)?)?;
            share(stored)?;
            builder.byte_offset(table, self.widen(current)?)?
        } else {
            let index = field(PadState::INDEX_AT)?;
            let current = self.load(self.byte, index)?;
            builder.build_store(index, self.next(current)?)?;
            builder.byte_offset(variables::table(self.module), self.widen(current)?)?
        };
        let grains = self.widen(self.load_shared_byte(entry)?)?;
        let shift = self.word.const_int(PAD_GRAIN_BYTES.trailing_zeros().into(), false);
        self.take_stack(builder.build_left_shift(grains, shift, "")?)?;
        builder.build_unconditional_branch(tail)?;
        Ok(())
    }

    /// Takes so many bytes from the stack until the function returns; a multiple of a grain.
    fn take_stack(&self, bytes: IntValue<'ctx>) -> Result<()> {
        let taken = self.builder.build_array_alloca(self.byte, bytes, "")?;
        instruction(&taken).set_alignment(PAD_GRAIN_BYTES)?;
        // Nothing uses the bytes; without a use they would not be taken.
        let signature = self.context.void_type().fn_type(&[taken.get_type().into()], false);
        let (text, constraints) = (String::new(), "r".to_owned());
        let used =
            self.context.create_inline_asm(signature, text, constraints, true, false, None, false);
        self.builder.build_indirect_call(signature, used, &[taken.into()], "")?;
        Ok(())
    }

    fn stack_pointer(&self) -> Result<IntValue<'ctx>> {
        let kind = self.context.ptr_type(AddressSpace::default()).into();
        let saved = self.builder.call_intrinsic(self.module, "llvm.stacksave", kind, &[])?;
        let saved = pointer(saved).expect("the intrinsic returns a pointer");
        Ok(self.builder.build_ptr_to_int(saved, self.word, "")?)
    }

    /// Loads what only this thread writes.
    fn load(&self, kind: IntType<'ctx>, from: PointerValue<'ctx>) -> Result<IntValue<'ctx>> {
        let loaded = self.builder.build_load(kind, from, "")?;
        Ok(loaded.try_into().expect("a load is of the type that it is built for"))
    }

    /// Loads a byte that other threads write at any time.
    fn load_shared_byte(&self, from: PointerValue<'ctx>) -> Result<IntValue<'ctx>> {
        let loaded = self.load(self.byte, from)?;
        share(instruction(&loaded))?;
        Ok(loaded)
    }

    fn next(&self, index: IntValue<'ctx>) -> Result<IntValue<'ctx>> {
        Ok(self.builder.build_int_add(index, self.byte.const_int(1, false), "")?)
    }

    /// A byte as a word.
    fn widen(&self, byte: IntValue<'ctx>) -> Result<IntValue<'ctx>> {
        Ok(self.builder.build_int_z_extend(byte, self.word, "")?)
    }
}

/// Makes a load or a store one of a byte that other threads write or read at any time. Nothing else
/// is read or written in an order with it, so it needs no more than to come in one piece.
fn share(access: InstructionValue<'_>) -> Result<()> {
    access.set_atomic_ordering(AtomicOrdering::Unordered)?;
    // Atomic accesses have to say how they are aligned.
    Ok(access.set_alignment(1)?)
}

/// The instruction that computes a value which was just built and cannot be constant.
pub(crate) fn instruction<'ctx>(value: &impl BasicValue<'ctx>) -> InstructionValue<'ctx> {
    value.as_instruction_value().expect("the builder appends an instruction")
}
