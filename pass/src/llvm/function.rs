//! `llvm::Function`.

use super::instruction::width;
use super::{Block, Width, metadata};
use llvm_sys::core::{
    LLVMAddTargetDependentFunctionAttr, LLVMCountParams, LLVMDisposeValueMetadataEntries,
    LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName, LLVMGetEnumAttributeValue,
    LLVMGetFirstBasicBlock, LLVMGetFunctionCallConv, LLVMGetGC, LLVMGetGlobalParent,
    LLVMGetLinkage, LLVMGetMDKindIDInContext, LLVMGetModuleContext, LLVMGetNextBasicBlock,
    LLVMGetParam, LLVMGetStringAttributeAtIndex, LLVMGetStringAttributeValue, LLVMGetValueName2,
    LLVMGlobalCopyAllMetadata, LLVMGlobalGetValueType, LLVMGlobalSetMetadata, LLVMIsDeclaration,
    LLVMIsFunctionVarArg, LLVMRemoveEnumAttributeAtIndex, LLVMValueAsMetadata,
    LLVMValueMetadataEntriesGetKind, LLVMValueMetadataEntriesGetMetadata,
};
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};

unsafe extern "C" {
    /// In `shim/register.cpp`.
    fn szc_pass_needs_stack_protector(function: LLVMValueRef) -> bool;
}

/// Number of the kind of metadata that makes code generation leave a record of a function.
const SECTIONS_KIND: &str = "pcsections";

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function(LLVMValueRef);

impl Function {
    /// # Safety
    /// A live function.
    pub(super) unsafe fn new(function: LLVMValueRef) -> Self {
        Self(function)
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.0
    }

    fn context(self) -> LLVMContextRef {
        // SAFETY: the function is live and in a module.
        unsafe { LLVMGetModuleContext(LLVMGetGlobalParent(self.0)) }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        let mut length = 0;
        // SAFETY: the function is live and owns the text.
        unsafe { super::text(LLVMGetValueName2(self.0, &raw mut length), length) }
    }

    /// Whether code will be emitted for it.
    pub(crate) fn is_emitted(self) -> bool {
        // SAFETY: the function is live.
        unsafe {
            self.is_defined()
                && LLVMGetLinkage(self.0) != LLVMLinkage::LLVMAvailableExternallyLinkage
        }
    }

    /// Whether the module has its body.
    pub(crate) fn is_defined(self) -> bool {
        // SAFETY: the function is live.
        unsafe { LLVMIsDeclaration(self.0) == 0 }
    }

    /// Whether it is known to neither read nor write memory (`memory(none)`).
    pub(crate) fn is_memoryless(self) -> bool {
        // SAFETY: the function is live; the attribute has a number: what it may do where.
        unsafe {
            let index = LLVMAttributeFunctionIndex;
            let memory = LLVMGetEnumAttributeAtIndex(self.0, index, kind("memory"));
            !memory.is_null() && LLVMGetEnumAttributeValue(memory) == 0
        }
    }

    /// Its blocks, the entry first.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block> {
        // SAFETY: the function is live.
        let first = unsafe { LLVMGetFirstBasicBlock(self.0) };
        std::iter::successors((!first.is_null()).then_some(first), |&block| {
            // SAFETY: a block of the function.
            let next = unsafe { LLVMGetNextBasicBlock(block) };
            (!next.is_null()).then_some(next)
        })
        // SAFETY: blocks of a live function.
        .map(|block| unsafe { Block::new(block) })
    }

    /// The number of its calling convention.
    pub(crate) fn calling_convention(self) -> u32 {
        // SAFETY: the function is live.
        unsafe { LLVMGetFunctionCallConv(self.0) }
    }

    /// Whether it takes any number of arguments.
    pub(crate) fn is_variadic(self) -> bool {
        // SAFETY: the function is live.
        unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(self.0)) != 0 }
    }

    /// What its parameters take.
    pub(crate) fn parameters(self) -> impl Iterator<Item = Width> {
        // SAFETY: the function is live and has as many parameters.
        unsafe { (0..LLVMCountParams(self.0)).map(move |index| width(LLVMGetParam(self.0, index))) }
    }

    /// Whether a parameter has an attribute that LLVM knows by number.
    pub(crate) fn any_parameter_has(self, attribute: &str) -> bool {
        let kind = kind(attribute);
        // SAFETY: the function is live; parameters count from 1 among attributes.
        unsafe {
            (1..=LLVMCountParams(self.0))
                .any(|index| !LLVMGetEnumAttributeAtIndex(self.0, index, kind).is_null())
        }
    }

    /// Whether it has an attribute that LLVM knows by number.
    pub(crate) fn has(self, attribute: &str) -> bool {
        // SAFETY: the function is live.
        let found = unsafe {
            LLVMGetEnumAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, kind(attribute))
        };
        !found.is_null()
    }

    /// Takes an attribute away that LLVM knows by number.
    pub(crate) fn remove(self, attribute: &str) {
        let kind = kind(attribute);
        // SAFETY: the function is live.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, kind) };
    }

    /// The value of an attribute that LLVM knows by its text.
    pub(crate) fn text_attribute(&self, name: &str) -> Option<&str> {
        let length = u32::try_from(name.len()).ok()?;
        let index = LLVMAttributeFunctionIndex;
        // SAFETY: the function is live; the name is only read.
        let attribute =
            unsafe { LLVMGetStringAttributeAtIndex(self.0, index, name.as_ptr().cast(), length) };
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        // SAFETY: an attribute with text; the context owns it.
        Some(unsafe {
            let start = LLVMGetStringAttributeValue(attribute, &raw mut length);
            super::text(start, length as usize)
        })
    }

    /// Whether it is to have a frame pointer if it calls anything.
    pub(crate) fn keeps_frame_pointer(&self) -> bool {
        let wanted = self.text_attribute("frame-pointer");
        wanted.is_some_and(|wanted| wanted != "none" && wanted != "reserved")
    }

    /// Gives it a frame pointer.
    pub(crate) fn keep_frame_pointer(self) {
        // SAFETY: the function is live; both texts are only read.
        unsafe {
            let (name, value) = (c"frame-pointer".as_ptr(), c"all".as_ptr());
            LLVMAddTargetDependentFunctionAttr(self.0, name, value);
        }
    }

    /// Whether a garbage collector looks at its frames.
    pub(crate) fn is_collected(self) -> bool {
        // SAFETY: the function is live.
        !unsafe { LLVMGetGC(self.0) }.is_null()
    }

    /// Whether code generation would give it a stack protector as it is now.
    pub(crate) fn needs_stack_protector(self) -> bool {
        // SAFETY: a live, defined function.
        unsafe { szc_pass_needs_stack_protector(self.0) }
    }

    /// Whether code generation leaves a record of it in this section.
    pub(crate) fn is_recorded(self, section: &str) -> bool {
        let (context, node) = (self.context(), self.sections());
        // SAFETY: a node of the function, and its operands.
        node.is_some_and(|node| unsafe {
            metadata::operands(context, node)
                .into_iter()
                .any(|operand| metadata::is_text(operand, section))
        })
    }

    /// Makes code generation leave a record of the function in a section: distance of the entry
    /// from the record (4 bytes), size of the function (4 bytes), and `word`.
    pub(crate) fn record(self, section: &str, word: u32) {
        let context = self.context();
        // SAFETY: what is made and read here belongs to the live function's context.
        unsafe {
            let mut operands: Vec<LLVMMetadataRef> =
                self.sections().map_or_else(Vec::new, |node| {
                    let present = metadata::operands(context, node);
                    present.into_iter().map(|operand| LLVMValueAsMetadata(operand)).collect()
                });
            operands.push(metadata::string(context, section));
            operands.push(metadata::node(context, &mut [metadata::number(context, word)]));
            let node = metadata::node(context, &mut operands);
            LLVMGlobalSetMetadata(self.0, sections_kind(context), node);
        }
    }

    fn sections(self) -> Option<LLVMMetadataRef> {
        let kind = sections_kind(self.context());
        let mut count = 0;
        // SAFETY: the function is live; the entries are read below their count, then given back.
        unsafe {
            let entries = LLVMGlobalCopyAllMetadata(self.0, &raw mut count);
            let found = (0..u32::try_from(count).unwrap_or(0))
                .find(|&index| LLVMValueMetadataEntriesGetKind(entries, index) == kind)
                .map(|index| LLVMValueMetadataEntriesGetMetadata(entries, index));
            LLVMDisposeValueMetadataEntries(entries);
            found
        }
    }
}

fn kind(attribute: &str) -> u32 {
    // SAFETY: the name is only read.
    let kind =
        unsafe { LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len()) };
    assert_ne!(kind, 0, "LLVM knows no attribute {attribute}");
    kind
}

fn sections_kind(context: LLVMContextRef) -> u32 {
    let length = u32::try_from(SECTIONS_KIND.len()).expect("a short name");
    // SAFETY: the context is live; the name is only read.
    unsafe { LLVMGetMDKindIDInContext(context, SECTIONS_KIND.as_ptr().cast(), length) }
}
