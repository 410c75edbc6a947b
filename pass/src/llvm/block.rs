//! `llvm::BasicBlock`.

use super::Instruction;
use llvm_sys::core::{
    LLVMGetBasicBlockParent, LLVMGetBasicBlockTerminator, LLVMGetFirstInstruction,
    LLVMGetNextInstruction, LLVMGetNumSuccessors, LLVMGetSuccessor, LLVMGetTypeContext,
    LLVMInsertBasicBlockInContext, LLVMTypeOf,
};
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};

unsafe extern "C" {
    /// In `shim/register.cpp`.
    fn szc_pass_split(first: LLVMValueRef) -> LLVMBasicBlockRef;
    /// In `shim/register.cpp`.
    fn szc_pass_split_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
}

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block(LLVMBasicBlockRef);

impl Block {
    /// # Safety
    /// The block is live.
    pub(super) unsafe fn new(block: LLVMBasicBlockRef) -> Self {
        Self(block)
    }

    pub(super) fn raw(self) -> LLVMBasicBlockRef {
        self.0
    }

    /// Its instructions.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Instruction> {
        // SAFETY: the block is live.
        let first = unsafe { LLVMGetFirstInstruction(self.0) };
        std::iter::successors((!first.is_null()).then_some(first), |&instruction| {
            // SAFETY: an instruction of the block.
            let next = unsafe { LLVMGetNextInstruction(instruction) };
            (!next.is_null()).then_some(next)
        })
        // SAFETY: instructions of a live block.
        .map(|instruction| unsafe { Instruction::new(instruction) })
    }

    /// The instruction that ends it.
    pub(crate) fn terminator(self) -> Instruction {
        // SAFETY: the block is live; blocks in a module that LLVM runs passes over are complete.
        unsafe { Instruction::new(LLVMGetBasicBlockTerminator(self.0)) }
    }

    /// Where it can go on.
    pub(crate) fn successors(self) -> Vec<Block> {
        let end = self.terminator().raw();
        // SAFETY: a terminator; the indices are below its number of successors.
        unsafe { (0..LLVMGetNumSuccessors(end)).map(|i| Block(LLVMGetSuccessor(end, i))).collect() }
    }

    /// Moves `first` and all behind it to a new block; its old one needs a new end.
    pub(crate) fn split(first: Instruction) -> Block {
        // SAFETY: an instruction behind the block's phis.
        Block(unsafe { szc_pass_split(first.raw()) })
    }

    /// A new block on the way from one block, which ends in a branch or switch, to another.
    pub(crate) fn between(from: Block, to: Block) -> Block {
        // SAFETY: both blocks are live, and `to` is among the successors of `from`.
        Block(unsafe { szc_pass_split_edge(from.0, to.0) })
    }

    /// A new, empty block in front of this one.
    pub(crate) fn insert_before(self, name: &std::ffi::CStr) -> Block {
        // SAFETY: block and function are live; LLVM copies the name.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(LLVMGetBasicBlockParent(self.0)));
            Block(LLVMInsertBasicBlockInContext(context, self.0, name.as_ptr()))
        }
    }
}
