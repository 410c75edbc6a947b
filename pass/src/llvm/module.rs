//! `llvm::Module`.

use super::global::{Global, GlobalShape};
use super::{Function, metadata};
use llvm_sys::core::{
    LLVMGetFirstFunction, LLVMGetModuleFlag, LLVMGetModuleIdentifier, LLVMGetNextFunction,
    LLVMGetTarget,
};
use llvm_sys::prelude::LLVMModuleRef;
use std::ffi::CStr;

/// A module that LLVM owns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module(LLVMModuleRef);

impl Module {
    /// # Safety
    /// The module is live.
    pub(super) unsafe fn new(module: LLVMModuleRef) -> Self {
        Self(module)
    }

    /// What it calls itself: mostly the path of the source.
    pub(crate) fn name(&self) -> &str {
        let mut length = 0;
        // SAFETY: the module is live and owns the text.
        unsafe { super::text(LLVMGetModuleIdentifier(self.0, &raw mut length), length) }
    }

    /// The target triple.
    pub(crate) fn target(&self) -> &str {
        // SAFETY: the module is live and owns the text, which ends with a zero.
        unsafe { CStr::from_ptr(LLVMGetTarget(self.0)) }.to_str().unwrap_or("")
    }

    /// The number that a module flag holds; none if there is no such flag.
    pub(crate) fn flag(&self, name: &str) -> Option<u64> {
        // SAFETY: the module is live; the name is only read.
        let flag = unsafe { LLVMGetModuleFlag(self.0, name.as_ptr().cast(), name.len()) };
        // SAFETY: a node of this module, if there is one.
        (!flag.is_null()).then(|| unsafe { metadata::integer(self.0, flag) }).flatten()
    }

    /// Functions, defined here or not.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Function> {
        // SAFETY: the module is live.
        let first = unsafe { LLVMGetFirstFunction(self.0) };
        std::iter::successors((!first.is_null()).then_some(first), |&function| {
            // SAFETY: a function of the module.
            let next = unsafe { LLVMGetNextFunction(function) };
            (!next.is_null()).then_some(next)
        })
        // SAFETY: functions of a live module.
        .map(|function| unsafe { Function::new(function) })
    }

    /// The variable of that name, made in this shape unless it is there.
    pub(crate) fn variable(&self, name: &str, shape: &GlobalShape) -> Global {
        // SAFETY: the module is live.
        unsafe { Global::find_or_make(self.0, name, shape) }
    }
}
