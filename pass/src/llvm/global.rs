//! `llvm::GlobalVariable`: the variables that pads are read from.

use super::{Function, Value};
use llvm_sys::comdat::{
    LLVMComdatSelectionKind, LLVMGetComdat, LLVMGetOrInsertComdat, LLVMSetComdat,
    LLVMSetComdatSelectionKind,
};
use llvm_sys::core::{
    LLVMAddGlobal, LLVMArrayType2, LLVMConstNull, LLVMGetModuleContext, LLVMGetNamedGlobal,
    LLVMInt8TypeInContext, LLVMSetAlignment, LLVMSetInitializer, LLVMSetLinkage, LLVMSetSection,
    LLVMSetThreadLocalMode, LLVMSetVisibility,
};
use llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMVisibility};
use std::ffi::CString;

/// What a variable is like; all start as zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalShape {
    /// Size.
    pub bytes: u64,
    /// Alignment in bytes.
    pub alignment: u32,
    /// Section, if it has to be a certain one.
    pub section: Option<&'static str>,
    /// One a thread, at a fixed distance from the thread pointer of the program.
    pub thread_local: bool,
    /// A variable of this function alone; without it, one of the image.
    pub owner: Option<Function>,
}

/// A variable of the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global(LLVMValueRef);

impl Global {
    /// # Safety
    /// The module is live.
    pub(super) unsafe fn find_or_make(
        module: LLVMModuleRef,
        name: &str,
        shape: &GlobalShape,
    ) -> Self {
        let name = CString::new(name).expect("names of variables hold no zero");
        // SAFETY: the module is live; the name is only read.
        let present = unsafe { LLVMGetNamedGlobal(module, name.as_ptr()) };
        if !present.is_null() {
            return Self(present);
        }
        // SAFETY: the module is live, and so is what is made in it here.
        let global = unsafe {
            let byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
            let kind = LLVMArrayType2(byte, shape.bytes);
            let global = LLVMAddGlobal(module, kind, name.as_ptr());
            LLVMSetInitializer(global, LLVMConstNull(kind));
            LLVMSetAlignment(global, shape.alignment);
            global
        };
        if let Some(section) = shape.section {
            let section = CString::new(section).expect("names of sections hold no zero");
            // SAFETY: the variable is live; LLVM copies the name.
            unsafe { LLVMSetSection(global, section.as_ptr()) };
        }
        if shape.thread_local {
            // SAFETY: the variable is live.
            unsafe {
                LLVMSetThreadLocalMode(global, LLVMThreadLocalMode::LLVMLocalExecTLSModel);
            }
        }
        // SAFETY: variable, module and owner are live.
        unsafe {
            match shape.owner {
                Some(owner) => {
                    LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
                    let comdat = LLVMGetComdat(owner.raw());
                    if !comdat.is_null() {
                        LLVMSetComdat(global, comdat);
                    }
                }
                None => {
                    // Not the ODR kind: another object, the runtime's, has another value.
                    LLVMSetLinkage(global, LLVMLinkage::LLVMLinkOnceAnyLinkage);
                    LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility);
                    let comdat = LLVMGetOrInsertComdat(module, name.as_ptr());
                    let any = LLVMComdatSelectionKind::LLVMAnyComdatSelectionKind;
                    LLVMSetComdatSelectionKind(comdat, any);
                    LLVMSetComdat(global, comdat);
                }
            }
        }
        Self(global)
    }

    /// Its address.
    pub(crate) fn address(self) -> Value {
        // SAFETY: the variable is live.
        unsafe { Value::new(self.0) }
    }
}
