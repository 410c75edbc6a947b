//! `llvm::IRBuilder`: the instructions that a pad is made of.

use super::{Block, Function, Instruction, Kind, metadata};
use llvm_sys::core::{
    LLVMArrayType2, LLVMBuildAdd, LLVMBuildAlloca, LLVMBuildArrayAlloca, LLVMBuildBr,
    LLVMBuildCall2, LLVMBuildCondBr, LLVMBuildGEP2, LLVMBuildICmp, LLVMBuildIntToPtr,
    LLVMBuildLoad2, LLVMBuildPtrToInt, LLVMBuildShl, LLVMBuildStore, LLVMBuildSub, LLVMBuildZExt,
    LLVMConstInt, LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMFunctionType,
    LLVMGetGlobalParent, LLVMGetInlineAsm, LLVMGetIntrinsicDeclaration, LLVMGetMDKindIDInContext,
    LLVMGetModuleContext, LLVMGlobalGetValueType, LLVMInt8TypeInContext, LLVMInt32TypeInContext,
    LLVMInt64TypeInContext, LLVMLookupIntrinsicID, LLVMPointerTypeInContext,
    LLVMPositionBuilderAtEnd, LLVMPositionBuilderBefore, LLVMSetAlignment, LLVMSetMetadata,
    LLVMSetOrdering, LLVMSetVolatile, LLVMStructTypeInContext, LLVMVoidTypeInContext,
};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMAtomicOrdering, LLVMInlineAsmDialect, LLVMIntPredicate};

/// A value of the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value(pub(super) LLVMValueRef);

impl Value {
    /// # Safety
    /// A live value.
    pub(super) unsafe fn new(value: LLVMValueRef) -> Self {
        Self(value)
    }
}

/// Integers that pads are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Byte,
    Word,
}

/// Room in a frame.
#[derive(Debug)]
pub(crate) struct FrameRoom {
    start: LLVMValueRef,
    shape: RoomShape,
}

/// Where code generation is to put room in a frame: beside the end from which nothing else is
/// addressed, so that it can be taken out again without changing the place of anything that a
/// debugger is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomShape {
    /// Next to the caller's frame, below nothing but the stack protector's guard: what a frame
    /// without a frame pointer holds is addressed from its other end. The protector sorts arrays of
    /// bytes there.
    Highest,
    /// Behind all variables, where a frame pointer is what they are addressed from. So it is no
    /// array, and what says where it lies must not look like taking its address: both would make
    /// the protector sort it before variables.
    Lowest,
}

/// The address space of pointers relative to the thread pointer, `%fs` (LLVM's code generator
/// documentation, "X86 Address Spaces").
const THREAD_SPACE: u32 = 257;

/// Alignment of room in a frame, in bytes: with less, variables would have other places than
/// without it.
const ROOM_ALIGNMENT: u32 = 8;

/// Appends instructions without a place in the source to a block.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(super) builder: LLVMBuilderRef,
    pub(super) context: LLVMContextRef,
    pub(super) module: LLVMModuleRef,
}

impl Builder {
    /// One for this function.
    pub(crate) fn new(function: Function) -> Self {
        // SAFETY: the function is live and in a module.
        unsafe {
            let module = LLVMGetGlobalParent(function.raw());
            let context = LLVMGetModuleContext(module);
            Self { builder: LLVMCreateBuilderInContext(context), context, module }
        }
    }

    /// From here on instructions go to the end of `block`.
    pub(crate) fn at_end(&self, block: Block) {
        // SAFETY: builder and block are live.
        unsafe { LLVMPositionBuilderAtEnd(self.builder, block.raw()) };
    }

    fn integer(&self, kind: Integer) -> LLVMTypeRef {
        // SAFETY: the context is live.
        unsafe {
            match kind {
                Integer::Byte => LLVMInt8TypeInContext(self.context),
                Integer::Word => LLVMInt64TypeInContext(self.context),
            }
        }
    }

    /// A number.
    pub(crate) fn constant(&self, kind: Integer, value: u64) -> Value {
        // SAFETY: the type is live.
        Value(unsafe { LLVMConstInt(self.integer(kind), value, 0) })
    }

    /// The stack pointer.
    pub(crate) fn stack_pointer(&self) -> Value {
        const NAME: &str = "llvm.stacksave";
        // SAFETY: module and context are live; the intrinsic is overloaded by the kind of pointer.
        let pointer = unsafe {
            let id = LLVMLookupIntrinsicID(NAME.as_ptr().cast(), NAME.len());
            let mut kind = LLVMPointerTypeInContext(self.context, 0);
            let declared = LLVMGetIntrinsicDeclaration(self.module, id, &raw mut kind, 1);
            let signature = LLVMGlobalGetValueType(declared);
            let none = std::ptr::null_mut();
            LLVMBuildCall2(self.builder, signature, declared, none, 0, c"".as_ptr())
        };
        // SAFETY: builder, value and type are live.
        Value(unsafe {
            LLVMBuildPtrToInt(self.builder, pointer, self.integer(Integer::Word), c"".as_ptr())
        })
    }

    /// A pointer to what lies so far from the thread pointer.
    pub(crate) fn thread_pointer_plus(&self, offset: Value) -> Value {
        // SAFETY: builder, value and context are live.
        Value(unsafe {
            let kind = LLVMPointerTypeInContext(self.context, THREAD_SPACE);
            LLVMBuildIntToPtr(self.builder, offset.0, kind, c"".as_ptr())
        })
    }

    /// `base + offset`, in bytes.
    pub(crate) fn offset(&self, base: Value, offset: Value) -> Value {
        let mut indices = [offset.0];
        // SAFETY: builder and values are live.
        Value(unsafe {
            let byte = self.integer(Integer::Byte);
            LLVMBuildGEP2(self.builder, byte, base.0, indices.as_mut_ptr(), 1, c"".as_ptr())
        })
    }

    /// Loads what only this thread writes.
    pub(crate) fn load(&self, kind: Integer, pointer: Value) -> Value {
        // SAFETY: builder and pointer are live.
        Value(unsafe { LLVMBuildLoad2(self.builder, self.integer(kind), pointer.0, c"".as_ptr()) })
    }

    /// Loads a byte that other threads write at any time. Nothing else is read or written in an
    /// order with it, so it needs no more than to come in one piece.
    pub(crate) fn load_shared_byte(&self, pointer: Value) -> Value {
        let loaded = self.load(Integer::Byte, pointer);
        // SAFETY: the load is live; atomic accesses have to say how they are aligned.
        unsafe {
            LLVMSetOrdering(loaded.0, LLVMAtomicOrdering::LLVMAtomicOrderingUnordered);
            LLVMSetAlignment(loaded.0, 1);
        }
        loaded
    }

    /// Stores what only this thread reads.
    pub(crate) fn store(&self, value: Value, pointer: Value) {
        // SAFETY: builder, value and pointer are live.
        unsafe { LLVMBuildStore(self.builder, value.0, pointer.0) };
    }

    /// Stores a byte that other threads read at any time: see [`Builder::load_shared_byte`].
    pub(crate) fn store_shared_byte(&self, value: Value, pointer: Value) {
        // SAFETY: builder, value, pointer and the new store are live.
        unsafe {
            let stored = LLVMBuildStore(self.builder, value.0, pointer.0);
            LLVMSetOrdering(stored, LLVMAtomicOrdering::LLVMAtomicOrderingUnordered);
            LLVMSetAlignment(stored, 1);
        }
    }

    /// `a + b`.
    pub(crate) fn add(&self, a: Value, b: Value) -> Value {
        // SAFETY: builder and values are live.
        Value(unsafe { LLVMBuildAdd(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    /// `a - b`.
    pub(crate) fn subtract(&self, a: Value, b: Value) -> Value {
        // SAFETY: builder and values are live.
        Value(unsafe { LLVMBuildSub(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    /// `a << b`.
    pub(crate) fn shift_left(&self, a: Value, b: Value) -> Value {
        // SAFETY: builder and values are live.
        Value(unsafe { LLVMBuildShl(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    /// A byte as a word.
    pub(crate) fn widen(&self, byte: Value) -> Value {
        // SAFETY: builder and value are live.
        Value(unsafe {
            LLVMBuildZExt(self.builder, byte.0, self.integer(Integer::Word), c"".as_ptr())
        })
    }

    /// `a < b`, unsigned.
    pub(crate) fn below(&self, a: Value, b: Value) -> Value {
        // SAFETY: builder and values are live.
        Value(unsafe {
            LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntULT, a.0, b.0, c"".as_ptr())
        })
    }

    /// `a != 0`.
    pub(crate) fn is_not_zero(&self, a: Value) -> Value {
        let zero = self.constant(Integer::Word, 0);
        // SAFETY: builder and values are live.
        Value(unsafe {
            LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntNE, a.0, zero.0, c"".as_ptr())
        })
    }

    /// Goes on at `to`.
    pub(crate) fn jump(&self, to: Block) {
        // SAFETY: builder and block are live.
        unsafe { LLVMBuildBr(self.builder, to.raw()) };
    }

    /// Goes on at `likely` if the condition holds, as it almost always does, else at `unlikely`.
    pub(crate) fn branch(&self, condition: Value, likely: Block, unlikely: Block) {
        const KIND: &str = "prof";
        // SAFETY: builder, value, blocks, context and what is made of it here are live.
        unsafe {
            let branch = LLVMBuildCondBr(self.builder, condition.0, likely.raw(), unlikely.raw());
            let length = u32::try_from(KIND.len()).expect("a short name");
            let kind = LLVMGetMDKindIDInContext(self.context, KIND.as_ptr().cast(), length);
            let weights = metadata::node(
                self.context,
                &mut [
                    metadata::string(self.context, "branch_weights"),
                    metadata::number(self.context, 1 << 20),
                    metadata::number(self.context, 1),
                ],
            );
            LLVMSetMetadata(branch, kind, metadata::value_of(self.context, weights));
        }
    }

    /// Takes so many bytes from the stack until the function returns; a multiple of `alignment`.
    pub(crate) fn take_stack(&self, bytes: Value, alignment: u32) {
        // SAFETY: builder, value, context and what is made of it here are live.
        unsafe {
            let byte = self.integer(Integer::Byte);
            let taken = LLVMBuildArrayAlloca(self.builder, byte, bytes.0, c"".as_ptr());
            LLVMSetAlignment(taken, alignment);
            // Nothing uses the bytes; without a use they would not be taken.
            let mut pointer = LLVMPointerTypeInContext(self.context, 0);
            let nothing = LLVMVoidTypeInContext(self.context);
            let signature = LLVMFunctionType(nothing, &raw mut pointer, 1, 0);
            let constraint = "r";
            let use_it = LLVMGetInlineAsm(
                signature,
                c"".as_ptr(),
                0,
                constraint.as_ptr().cast(),
                constraint.len(),
                1,
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            let mut operands = [taken];
            LLVMBuildCall2(self.builder, signature, use_it, operands.as_mut_ptr(), 1, c"".as_ptr());
        }
    }

    /// Room for so many bytes in the function's frame, a multiple of 8, that nothing uses yet.
    pub(crate) fn frame_room(&self, function: Function, bytes: u32, shape: RoomShape) -> FrameRoom {
        let entry = function.blocks().next().expect("a function with a body has a block");
        let last_variable = entry.instructions().filter(|at| at.kind() == Kind::Alloca).last();
        let behind_variables = last_variable.and_then(Instruction::next);
        let first = entry.instructions().next();
        let at = match shape {
            RoomShape::Highest => first,
            // Without optimization variables lie in this order.
            RoomShape::Lowest => behind_variables.or(first),
        };
        let at = at.expect("a block has an instruction");
        // SAFETY: builder, instruction, context and what is made of it here are live.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, at.raw());
            let kind = match shape {
                RoomShape::Highest => LLVMArrayType2(self.integer(Integer::Byte), u64::from(bytes)),
                RoomShape::Lowest => {
                    let count = bytes / ROOM_ALIGNMENT;
                    let mut words = vec![self.integer(Integer::Word); count as usize];
                    LLVMStructTypeInContext(self.context, words.as_mut_ptr(), count, 0)
                }
            };
            let start = LLVMBuildAlloca(self.builder, kind, c"".as_ptr());
            LLVMSetAlignment(start, ROOM_ALIGNMENT);
            FrameRoom { start, shape }
        }
    }

    /// Makes the function need the room in front of an instruction, and says where it lies, by an
    /// instruction that changes nothing: a prefetch (into all levels but the first), or a store of
    /// `mark` to where nobody looks. Assembly would do without one, but not every compiler can read
    /// assembly: flang cannot.
    pub(crate) fn hold(&self, room: &FrameRoom, mark: u32, at: Instruction) {
        // SAFETY: builder, instruction, values and context are live.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, at.raw());
            match room.shape {
                RoomShape::Highest => self.prefetch(room.start),
                RoomShape::Lowest => {
                    let mark = LLVMConstInt(LLVMInt32TypeInContext(self.context), mark.into(), 0);
                    let stored = LLVMBuildStore(self.builder, mark, room.start);
                    LLVMSetVolatile(stored, 1);
                }
            }
        }
    }

    /// # Safety
    /// The pointer must be a live one.
    unsafe fn prefetch(&self, pointer: LLVMValueRef) {
        const NAME: &str = "llvm.prefetch";
        /// For reading, into the second level, of data.
        const HOW: [u64; 3] = [0, 2, 1];
        const OPERANDS: u32 = 4;
        // SAFETY: builder, values and context are live; the intrinsic is overloaded by the kind of
        // pointer, and takes it and three numbers.
        unsafe {
            let id = LLVMLookupIntrinsicID(NAME.as_ptr().cast(), NAME.len());
            let mut kind = LLVMPointerTypeInContext(self.context, 0);
            let declared = LLVMGetIntrinsicDeclaration(self.module, id, &raw mut kind, 1);
            let signature = LLVMGlobalGetValueType(declared);
            let number = |value| LLVMConstInt(LLVMInt32TypeInContext(self.context), value, 0);
            let [access, locality, cache] = HOW.map(number);
            let mut operands = [pointer, access, locality, cache];
            let (first, count) = (operands.as_mut_ptr(), OPERANDS);
            LLVMBuildCall2(self.builder, signature, declared, first, count, c"".as_ptr());
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and given back once.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}
