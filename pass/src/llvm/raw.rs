//! What inkwell lacks, by `llvm-sys` and the shim.
//!
//! - Registration of a pass: in C++ only, so the shim does it for `plugin`.
//! - Splitting of blocks and edges, StackProtector's opinion, capture tracking, a second copy of
//!   blocks in their function: in C++ only too.
//! - Successors of a terminator.
//! - Operands and users of every type: `get_operand` and `get_user` abort on tokens, metadata and
//!   AMX tiles, all of which clang emits.
//! - Call sites of `invoke` and `callbr`, and callees whose type is not the call's (C without
//!   prototypes).
//! - Text and constraints of inline assembly.
//! - Kinds of values: arguments, global variables, constant expressions.
//! - Functions without a garbage collector: `get_gc` reads from null.
//! - The data layout that a module owns, with which alignments are asked for.
//! - Metadata of functions (`!pcsections`), and in it nodes of one constant: `MetadataValue` is a
//!   value, and as a value LLVM makes the constant itself of such a node.
//!
//! `build_gep` and `get_address` are there, but unsafe.

use super::{Call, Result, terminator};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::core::{
    LLVMAddIncoming, LLVMConstInt, LLVMDisposeValueMetadataEntries, LLVMGetCalledValue,
    LLVMGetFirstUse, LLVMGetGC, LLVMGetGlobalParent, LLVMGetInlineAsmAsmString,
    LLVMGetInlineAsmConstraintString, LLVMGetMDKindIDInContext, LLVMGetMDNodeNumOperands,
    LLVMGetMDNodeOperands, LLVMGetMDString, LLVMGetModuleContext, LLVMGetNextUse,
    LLVMGetNumOperands, LLVMGetNumSuccessors, LLVMGetOperand, LLVMGetSuccessor, LLVMGetTypeKind,
    LLVMGetUser, LLVMGetValueKind, LLVMGlobalCopyAllMetadata, LLVMGlobalSetMetadata,
    LLVMInt32TypeInContext, LLVMIsAInlineAsm, LLVMIsAStoreInst, LLVMIsAUser, LLVMMDNodeInContext2,
    LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMTypeOf, LLVMValueAsMetadata,
    LLVMValueMetadataEntriesGetKind, LLVMValueMetadataEntriesGetMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMGetMetadataKind, LLVMMetadataKind};
use inkwell::llvm_sys::prelude::{
    LLVMBasicBlockRef, LLVMContextRef, LLVMMetadataRef, LLVMValueRef,
};
use inkwell::llvm_sys::target::LLVMGetModuleDataLayout;
use inkwell::llvm_sys::{LLVMTypeKind, LLVMValueKind};
use inkwell::targets::TargetData;
use inkwell::values::{
    AnyValue, AsValueRef, BasicValueEnum, CallSiteValue, FunctionValue, InstructionValue, IntValue,
    PointerValue,
};
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// The kind of metadata that makes code generation leave a record of a function.
const SECTIONS_KIND: &str = "pcsections";

unsafe extern "C" {
    fn szc_pass_split(first: LLVMValueRef) -> LLVMBasicBlockRef;
    fn szc_pass_split_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    fn szc_pass_needs_stack_protector(function: LLVMValueRef) -> bool;
    fn szc_pass_escapes(variable: LLVMValueRef) -> bool;
    fn szc_pass_can_clone(function: LLVMValueRef) -> bool;
    fn szc_pass_clone(blocks: *mut LLVMBasicBlockRef, count: usize, clones: *mut LLVMBasicBlockRef);
    fn szc_pass_unite(original: LLVMValueRef, clone: LLVMValueRef);
}

/// Moves `first`, which is behind the block's phis, and all behind it to a new block; its old one
/// needs a new end.
pub(crate) fn split_before<'ctx>(first: InstructionValue<'ctx>) -> BasicBlock<'ctx> {
    // SAFETY: a live instruction in a block.
    unsafe { BasicBlock::new(szc_pass_split(first.as_value_ref())) }.expect("a new block")
}

/// A new block on the way from one block, which ends in a branch or switch, to another.
pub(crate) fn split_edge<'ctx>(from: BasicBlock<'ctx>, to: BasicBlock<'ctx>) -> BasicBlock<'ctx> {
    // SAFETY: both blocks are live, and `to` is among the successors of `from`.
    unsafe { BasicBlock::new(szc_pass_split_edge(from.as_mut_ptr(), to.as_mut_ptr())) }
        .expect("a new block")
}

/// Whether code generation would give a function a stack protector as it is now.
pub(crate) fn needs_stack_protector(function: FunctionValue<'_>) -> bool {
    // SAFETY: a live, defined function.
    unsafe { szc_pass_needs_stack_protector(function.as_value_ref()) }
}

/// Whether the address of a variable may be known outside of the function, be compared with
/// another, or outlive the function; LLVM's alias analysis answers, and says yes when in doubt.
pub(crate) fn escapes(variable: InstructionValue<'_>) -> bool {
    // SAFETY: a live alloca, which is a pointer.
    unsafe { szc_pass_escapes(variable.as_value_ref()) }
}

/// Whether the blocks of a function may stand twice in it.
pub(crate) fn can_clone(function: FunctionValue<'_>) -> bool {
    // SAFETY: a live, defined function.
    unsafe { szc_pass_can_clone(function.as_value_ref()) }
}

/// Clones of complete blocks of one function. What leads from one of them to another leads from
/// clone to clone; values are not merged yet where both lead to one block.
pub(crate) fn clones<'ctx>(blocks: &[BasicBlock<'ctx>]) -> Vec<BasicBlock<'ctx>> {
    let mut originals: Vec<_> = blocks.iter().map(BasicBlock::as_mut_ptr).collect();
    let mut clones = vec![std::ptr::null_mut(); originals.len()];
    // SAFETY: the blocks are live, and as many clones are written as there are blocks.
    unsafe {
        szc_pass_clone(originals.as_mut_ptr(), originals.len(), clones.as_mut_ptr());
        clones.into_iter().map(|clone| BasicBlock::new(clone).expect("a new block")).collect()
    }
}

/// The address of a label, for a computed jump of its function.
pub(crate) fn label<'ctx>(block: BasicBlock<'ctx>) -> PointerValue<'ctx> {
    // SAFETY: a live block in a function, which is not its entry.
    unsafe { block.get_address() }.expect("no jump leads to an entry")
}

/// Makes a phi have the value of an instruction where it comes from a block.
pub(crate) fn add_incoming<'ctx>(
    phi: InstructionValue<'ctx>,
    value: InstructionValue<'ctx>,
    from: BasicBlock<'ctx>,
) {
    let (mut value, mut from) = (value.as_value_ref(), from.as_mut_ptr());
    // SAFETY: a live phi, an instruction of its type, and a block of its function.
    unsafe { LLVMAddIncoming(phi.as_value_ref(), &raw mut value, &raw mut from, 1) }
}

/// Merges what an instruction and its clone compute, wherever both may be meant.
pub(crate) fn unite(original: InstructionValue<'_>, clone: InstructionValue<'_>) {
    // SAFETY: both are live instructions of one type, in different blocks of one function.
    unsafe { szc_pass_unite(original.as_value_ref(), clone.as_value_ref()) }
}

/// Where a block can go on.
pub(crate) fn successors<'ctx>(block: BasicBlock<'ctx>) -> Vec<BasicBlock<'ctx>> {
    let end = terminator(block).as_value_ref();
    // SAFETY: a terminator; the indices are below its number of successors.
    unsafe {
        let successors = (0..LLVMGetNumSuccessors(end)).map(|index| LLVMGetSuccessor(end, index));
        successors.filter_map(|block| BasicBlock::new(block)).collect()
    }
}

/// Number of operands of a value.
pub(crate) fn operand_count<'ctx>(value: &impl AnyValue<'ctx>) -> u32 {
    let value = value.as_value_ref();
    // SAFETY: the value is live, and has operands if it is a user.
    unsafe {
        if LLVMIsAUser(value).is_null() { 0 } else { LLVMGetNumOperands(value).unsigned_abs() }
    }
}

/// An operand of a value; none if there is no such operand, or inkwell has no type for it.
pub(crate) fn operand<'ctx>(
    value: &impl AnyValue<'ctx>,
    index: u32,
) -> Option<BasicValueEnum<'ctx>> {
    if index >= operand_count(value) {
        return None;
    }
    // SAFETY: the value is live and has the operand, which has a type that inkwell knows.
    unsafe {
        let operand = LLVMGetOperand(value.as_value_ref(), index);
        let known = !operand.is_null()
            && !matches!(
                LLVMGetTypeKind(LLVMTypeOf(operand)),
                LLVMTypeKind::LLVMVoidTypeKind
                    | LLVMTypeKind::LLVMLabelTypeKind
                    | LLVMTypeKind::LLVMFunctionTypeKind
                    | LLVMTypeKind::LLVMMetadataTypeKind
                    | LLVMTypeKind::LLVMTokenTypeKind
                    | LLVMTypeKind::LLVMX86_AMXTypeKind
                    | LLVMTypeKind::LLVMTargetExtTypeKind
            );
        known.then(|| BasicValueEnum::new(operand))
    }
}

/// Whether an operand of an instruction is what another instruction computes.
pub(crate) fn takes(user: InstructionValue<'_>, index: u32, other: InstructionValue<'_>) -> bool {
    operand(&user, index).is_some_and(|operand| operand.as_value_ref() == other.as_value_ref())
}

/// What kind of value this is.
pub(crate) fn value_kind(value: BasicValueEnum<'_>) -> LLVMValueKind {
    // SAFETY: the value is live.
    unsafe { LLVMGetValueKind(value.as_value_ref()) }
}

/// The stores to a variable as a whole.
pub(crate) fn stores_to<'ctx>(variable: InstructionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let address = variable.as_value_ref();
    let is_store_to = |user: &InstructionValue<'ctx>| {
        let user = user.as_value_ref();
        // SAFETY: a live instruction; stores have two operands.
        unsafe { !LLVMIsAStoreInst(user).is_null() && LLVMGetOperand(user, 1) == address }
    };
    users(variable).into_iter().filter(is_store_to).collect()
}

/// The instructions that take what this one computes.
pub(crate) fn users<'ctx>(value: InstructionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    // SAFETY: the value is live, so its uses are, and its users, which are instructions.
    unsafe {
        let first = LLVMGetFirstUse(value.as_value_ref());
        std::iter::successors((!first.is_null()).then_some(first), |&last| {
            let next = LLVMGetNextUse(last);
            (!next.is_null()).then_some(next)
        })
        .map(|at| InstructionValue::new(LLVMGetUser(at)))
        .collect()
    }
}

/// The call as inkwell's type for calls.
pub(super) fn call_site<'ctx>(call: Call<'ctx>) -> CallSiteValue<'ctx> {
    // SAFETY: a live call.
    unsafe { CallSiteValue::new(call.instruction().as_value_ref()) }
}

/// The function that a call names.
pub(crate) fn called_function<'ctx>(call: Call<'ctx>) -> Option<FunctionValue<'ctx>> {
    // SAFETY: a live call; inkwell itself sees whether what it calls is a function.
    unsafe { FunctionValue::new(LLVMGetCalledValue(call.instruction().as_value_ref())) }
}

/// The text and the constraints of the inline assembly that a call stands for.
pub(super) fn assembly(call: Call<'_>) -> Option<(String, String)> {
    let (mut text_bytes, mut constraints_bytes) = (0, 0);
    // SAFETY: a live call; the texts are copied before anything can change.
    unsafe {
        let callee = LLVMGetCalledValue(call.instruction().as_value_ref());
        if LLVMIsAInlineAsm(callee).is_null() {
            return None;
        }
        let start = LLVMGetInlineAsmAsmString(callee, &raw mut text_bytes);
        let assembly = text(start, text_bytes).to_owned();
        let start = LLVMGetInlineAsmConstraintString(callee, &raw mut constraints_bytes);
        Some((assembly, text(start, constraints_bytes).to_owned()))
    }
}

/// Whether a garbage collector looks at the frames of a function.
pub(crate) fn is_collected(function: FunctionValue<'_>) -> bool {
    // SAFETY: the function is live.
    !unsafe { LLVMGetGC(function.as_value_ref()) }.is_null()
}

/// The data layout of a function's module, which owns it.
pub(super) fn data_layout(function: FunctionValue<'_>) -> ManuallyDrop<TargetData> {
    // SAFETY: the function is live and in a module; nothing disposes of the module's layout.
    unsafe {
        let module = LLVMGetGlobalParent(function.as_value_ref());
        ManuallyDrop::new(TargetData::new(LLVMGetModuleDataLayout(module)))
    }
}

/// `base + offset`, in bytes.
pub(super) fn byte_offset<'ctx>(
    builder: &Builder<'ctx>,
    base: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> Result<PointerValue<'ctx>> {
    let byte = offset.get_type().get_context().i8_type();
    // SAFETY: builder and values are live; without `inbounds` any sum is a pointer.
    Ok(unsafe { builder.build_gep(byte, base, &[offset], "") }?)
}

/// Whether code generation leaves a record of a function in this section.
pub(crate) fn is_recorded(function: FunctionValue<'_>, section: &str) -> bool {
    section_operands(function).into_iter().any(|operand| {
        let mut bytes = 0;
        // SAFETY: a live operand; LLVM gives null for what is no string.
        unsafe {
            let start = LLVMGetMDString(operand, &raw mut bytes);
            text(start, bytes as usize) == section
        }
    })
}

/// Makes code generation leave a record of a function in a section: distance of the entry from the
/// record (4 bytes), size of the function (4 bytes), and `word`.
pub(crate) fn record(function: FunctionValue<'_>, section: &str, word: u32) {
    use LLVMMetadataKind::LLVMConstantAsMetadataMetadataKind as CONSTANT;
    let context = context_of(function);
    // SAFETY: what is made and read here belongs to the live function's context. Beside names of
    // sections there are only nodes of constants.
    unsafe {
        let node = |operands: &mut [LLVMMetadataRef]| {
            LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len())
        };
        let mut operands: Vec<LLVMMetadataRef> = section_operands(function)
            .into_iter()
            .map(|operand| {
                let metadata = LLVMValueAsMetadata(operand);
                let is_bare = matches!(LLVMGetMetadataKind(metadata), CONSTANT);
                if is_bare { node(&mut [metadata]) } else { metadata }
            })
            .collect();
        operands.push(LLVMMDStringInContext2(context, section.as_ptr().cast(), section.len()));
        let number = LLVMConstInt(LLVMInt32TypeInContext(context), word.into(), 0);
        operands.push(node(&mut [LLVMValueAsMetadata(number)]));
        let kind = sections_kind(context);
        LLVMGlobalSetMetadata(function.as_value_ref(), kind, node(&mut operands));
    }
}

/// The operands of the function's node of sections. A node of one constant is that constant here.
fn section_operands(function: FunctionValue<'_>) -> Vec<LLVMValueRef> {
    let context = context_of(function);
    let kind = sections_kind(context);
    let mut count = 0;
    // SAFETY: the function is live; the entries are read below their count, then given back; as
    // many operands are written as there are.
    unsafe {
        let entries = LLVMGlobalCopyAllMetadata(function.as_value_ref(), &raw mut count);
        let node = (0..u32::try_from(count).unwrap_or(0))
            .find(|&index| LLVMValueMetadataEntriesGetKind(entries, index) == kind)
            .map(|index| LLVMValueMetadataEntriesGetMetadata(entries, index));
        LLVMDisposeValueMetadataEntries(entries);
        let Some(node) = node else { return Vec::new() };
        let node = LLVMMetadataAsValue(context, node);
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands.retain(|operand| !operand.is_null());
        operands
    }
}

fn context_of(function: FunctionValue<'_>) -> LLVMContextRef {
    // SAFETY: the function is live and in a module.
    unsafe { LLVMGetModuleContext(LLVMGetGlobalParent(function.as_value_ref())) }
}

fn sections_kind(context: LLVMContextRef) -> u32 {
    let length = u32::try_from(SECTIONS_KIND.len()).expect("a short name");
    // SAFETY: the context is live; the name is only read.
    unsafe { LLVMGetMDKindIDInContext(context, SECTIONS_KIND.as_ptr().cast(), length) }
}

/// The text that LLVM keeps at `start`; empty if that is null, or no UTF-8.
///
/// # Safety
/// `start` is null, or `bytes` bytes can be read there as long as `'a` lasts.
unsafe fn text<'a>(start: *const c_char, bytes: usize) -> &'a str {
    if start.is_null() {
        return "";
    }
    // SAFETY: promised by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), bytes) };
    std::str::from_utf8(bytes).unwrap_or("")
}
