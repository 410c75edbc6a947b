//! The variables that pads are read from. All start as zeros.

use inkwell::comdat::ComdatSelectionKind;
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, PointerValue};
use inkwell::{GlobalVisibility, ThreadLocalMode};
use szc_abi::stack::{
    PAD_STATE_OFFSET_SYMBOL, PAD_STATE_SYMBOL, PAD_TABLE_BYTES, PAD_TABLE_SYMBOL,
    PAD_TABLES_SECTION, PadState,
};

/// Alignment of tables, in bytes: that of cache lines.
const TABLE_ALIGNMENT: u32 = 64;

/// A variable.
#[derive(Clone, Copy, Debug)]
struct Variable<'ctx> {
    bytes: usize,
    /// In bytes.
    alignment: u32,
    section: Option<&'static str>,
    /// One a thread, at a fixed distance from the thread pointer of the program.
    thread_local: bool,
    /// Without an owner it is the image's.
    owner: Option<FunctionValue<'ctx>>,
}

const WORD: Variable = Variable {
    bytes: size_of::<u64>(),
    alignment: 8,
    section: None,
    thread_local: false,
    owner: None,
};

const TABLE: Variable = Variable {
    bytes: PAD_TABLE_BYTES,
    alignment: TABLE_ALIGNMENT,
    section: Some(PAD_TABLES_SECTION),
    ..WORD
};

/// The pad state of the thread, in a program.
pub(crate) fn state<'ctx>(module: &Module<'ctx>) -> PointerValue<'ctx> {
    let state = Variable { bytes: size_of::<PadState>(), thread_local: true, ..WORD };
    find_or_make(module, PAD_STATE_SYMBOL, &state)
}

/// The distance of the pad state from the thread pointer, in code that may be a library's.
pub(crate) fn state_offset<'ctx>(module: &Module<'ctx>) -> PointerValue<'ctx> {
    find_or_make(module, PAD_STATE_OFFSET_SYMBOL, &WORD)
}

/// The pad table of the image.
pub(crate) fn table<'ctx>(module: &Module<'ctx>) -> PointerValue<'ctx> {
    find_or_make(module, PAD_TABLE_SYMBOL, &TABLE)
}

/// Table and index of a function that has its own.
pub(crate) fn of_function<'ctx>(
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> (PointerValue<'ctx>, PointerValue<'ctx>) {
    let owner = Some(function);
    let name = function.get_name().to_str().unwrap_or("");
    let table = Variable { owner, ..TABLE };
    let index = Variable { bytes: 1, alignment: 1, owner, ..WORD };
    (
        find_or_make(module, &format!("{PAD_TABLE_SYMBOL}.{name}"), &table),
        find_or_make(module, &format!("szc_pad_index.{name}"), &index),
    )
}

/// The address of the variable of that name, made like this unless it is there.
fn find_or_make<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    variable: &Variable<'ctx>,
) -> PointerValue<'ctx> {
    if let Some(present) = module.get_global(name) {
        return present.as_pointer_value();
    }
    let bytes = u32::try_from(variable.bytes).expect("a small variable");
    let kind = module.get_context().i8_type().array_type(bytes);
    let global = module.add_global(kind, None, name);
    global.set_initializer(&kind.const_zero());
    global.set_alignment(variable.alignment);
    global.set_section(variable.section);
    if variable.thread_local {
        global.set_thread_local_mode(Some(ThreadLocalMode::LocalExecTLSModel));
    }
    if let Some(owner) = variable.owner {
        global.set_linkage(Linkage::Private);
        if let Some(comdat) = owner.as_global_value().get_comdat() {
            global.set_comdat(comdat);
        }
    } else {
        // Not the ODR kind: another object, the runtime's, has another value.
        global.set_linkage(Linkage::LinkOnceAny);
        global.set_visibility(GlobalVisibility::Hidden);
        let comdat = module.get_or_insert_comdat(name);
        comdat.set_selection_kind(ComdatSelectionKind::Any);
        global.set_comdat(comdat);
    }
    global.as_pointer_value()
}
