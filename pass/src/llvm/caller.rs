//! `llvm::IRBuilder`: what a function that asks for its return address is told (`callers.rs`).

use super::builder::{Builder, Value};
use super::{Block, Instruction};
use llvm_sys::LLVMLinkage;
use llvm_sys::core::{
    LLVMAddFunction, LLVMAddIncoming, LLVMBuildCall2, LLVMBuildIsNotNull, LLVMBuildPhi,
    LLVMFunctionType, LLVMGetNamedFunction, LLVMPointerTypeInContext, LLVMPositionBuilderBefore,
    LLVMReplaceAllUsesWith, LLVMSetLinkage, LLVMSetOperand, LLVMTypeOf,
};
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::ffi::CString;

/// A function of one pointer that returns one, and that may not be there.
#[derive(Debug)]
pub(crate) struct WeakFunction {
    function: LLVMValueRef,
    signature: LLVMTypeRef,
}

impl WeakFunction {
    /// Its address; null where it is not there.
    pub(crate) fn address(&self) -> Value {
        // SAFETY: the function is live.
        unsafe { Value::new(self.function) }
    }
}

impl Builder {
    /// The function of that name, declared unless it is.
    pub(crate) fn weak_function(&self, name: &str) -> WeakFunction {
        let name = CString::new(name).expect("names of functions hold no zero");
        // SAFETY: the module is live, and so is what is made in it here.
        unsafe {
            let pointer = LLVMPointerTypeInContext(self.context, 0);
            let mut parameter = pointer;
            let signature = LLVMFunctionType(pointer, &raw mut parameter, 1, 0);
            let present = LLVMGetNamedFunction(self.module, name.as_ptr());
            if !present.is_null() {
                return WeakFunction { function: present, signature };
            }
            let function = LLVMAddFunction(self.module, name.as_ptr(), signature);
            LLVMSetLinkage(function, LLVMLinkage::LLVMExternalWeakLinkage);
            WeakFunction { function, signature }
        }
    }

    /// `pointer != null`.
    pub(crate) fn is_not_null(&self, pointer: Value) -> Value {
        // SAFETY: builder and value are live.
        unsafe { Value::new(LLVMBuildIsNotNull(self.builder, pointer.0, c"".as_ptr())) }
    }

    /// Calls such a function.
    pub(crate) fn call(&self, callee: &WeakFunction, argument: Value) -> Value {
        let (mut argument, name) = (argument.0, c"".as_ptr());
        // SAFETY: builder, function and value are live; the function takes one pointer.
        unsafe {
            let (to, signature) = (callee.function, callee.signature);
            let call = LLVMBuildCall2(self.builder, signature, to, &raw mut argument, 1, name);
            Value::new(call)
        }
    }

    /// Lets a value that depends on the block which went before, at the start of a block, stand for
    /// an instruction wherever that was used but in what was `told`: the call that ends up among
    /// `values` keeps its argument.
    pub(crate) fn replace(&self, old: Instruction, at: Instruction, values: [(Value, Block); 2]) {
        // SAFETY: builder, instructions, values and blocks are live; the call's first operand is
        // its argument.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, at.raw());
            let phi = LLVMBuildPhi(self.builder, LLVMTypeOf(old.raw()), c"".as_ptr());
            LLVMReplaceAllUsesWith(old.raw(), phi);
            for (value, block) in values {
                if value.0 != old.raw() {
                    LLVMSetOperand(value.0, 0, old.raw());
                }
                let (mut value, mut block) = (value.0, block.raw());
                LLVMAddIncoming(phi, &raw mut value, &raw mut block, 1);
            }
        }
    }
}
