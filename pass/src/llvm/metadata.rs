//! `llvm::Metadata`: the little that the pass reads and writes of it.

use llvm_sys::core::{
    LLVMConstInt, LLVMConstIntGetZExtValue, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands,
    LLVMGetMDString, LLVMGetModuleContext, LLVMInt32TypeInContext, LLVMIsAConstantInt,
    LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMValueAsMetadata,
};
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMModuleRef, LLVMValueRef};

/// The number in a node, if it holds one.
///
/// # Safety
/// Module and node are live and belong together.
pub(super) unsafe fn integer(module: LLVMModuleRef, node: LLVMMetadataRef) -> Option<u64> {
    // SAFETY: promised by the caller. Only as an operand of a node is a constant taken out of
    // its wrapping.
    let constant = unsafe {
        let context = LLVMGetModuleContext(module);
        LLVMIsAConstantInt(operands(context, self::node(context, &mut [node]))[0])
    };
    // SAFETY: a constant integer, if not null.
    (!constant.is_null()).then(|| unsafe { LLVMConstIntGetZExtValue(constant) })
}

/// The operands of a node.
///
/// # Safety
/// Context and node are live and belong together.
pub(super) unsafe fn operands(context: LLVMContextRef, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
    // SAFETY: promised by the caller; as many operands are written as there are.
    unsafe {
        let node = LLVMMetadataAsValue(context, node);
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands
    }
}

/// Whether an operand of a node is this text.
///
/// # Safety
/// The operand is live, or null.
pub(super) unsafe fn is_text(operand: LLVMValueRef, wanted: &str) -> bool {
    if operand.is_null() {
        return false;
    }
    let mut length = 0;
    // SAFETY: promised by the caller; LLVM gives null for what is no string.
    let text = unsafe {
        let start = LLVMGetMDString(operand, &raw mut length);
        super::text(start, length as usize)
    };
    text == wanted
}

/// A string.
///
/// # Safety
/// The context is live.
pub(super) unsafe fn string(context: LLVMContextRef, text: &str) -> LLVMMetadataRef {
    // SAFETY: promised by the caller; LLVM copies the text.
    unsafe { LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len()) }
}

/// A number of 32 bits.
///
/// # Safety
/// The context is live.
pub(super) unsafe fn number(context: LLVMContextRef, number: u32) -> LLVMMetadataRef {
    // SAFETY: promised by the caller.
    unsafe { LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), number.into(), 0)) }
}

/// A node of these operands.
///
/// # Safety
/// Context and operands are live and belong together.
pub(super) unsafe fn node(
    context: LLVMContextRef,
    operands: &mut [LLVMMetadataRef],
) -> LLVMMetadataRef {
    // SAFETY: promised by the caller.
    unsafe { LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len()) }
}

/// A node as an operand of instructions and of other nodes.
///
/// # Safety
/// Context and node are live and belong together.
pub(super) unsafe fn value_of(context: LLVMContextRef, node: LLVMMetadataRef) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe { LLVMMetadataAsValue(context, node) }
}
