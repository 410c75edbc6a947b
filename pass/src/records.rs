//! Leaves a record of each function: the compiler's half of the relocation tables.
//!
//! Code generation itself writes the records (`!pcsections` in LLVM's documentation): beside the
//! function, tied to its section and its group of common code, at the distance that the linker
//! computes. A variable that held the function's address would keep the function, and would look to
//! later passes as if the program had taken its address.

use crate::llvm::raw;
use crate::plan::FunctionPlan;
use szc_abi::stack::{FUNCTIONS_SECTION, FunctionRecord};

/// Leaves the record of a function.
pub(crate) fn record(plan: &FunctionPlan<'_>) {
    let bound = if plan.bounds_stack { FunctionRecord::FLAG_BOUNDS_STACK } else { 0 };
    let flags = match (&plan.pad, plan.resizable) {
        (Err(_), _) => 0,
        (Ok(_), true) => FunctionRecord::FLAG_RESIZABLE,
        (Ok(_), false) => FunctionRecord::FLAG_PADDED,
    };
    let addressed = if plan.addressed { FunctionRecord::FLAG_ADDRESSED } else { 0 };
    let pinned = plan.pinned.map_or(0, |reason| reason as u8);
    let word = FunctionRecord::word(flags | bound | addressed, pinned);
    raw::record(plan.function, FUNCTIONS_SECTION, word);
}
