//! The LLVM plugin of szc: loaded by clang 22 and flang 22 (`-fpass-plugin=`), opt
//! (`-load-pass-plugin=`), and lld for link-time optimization (`--load-pass-plugin=`).
//!
//! It registers one module pass behind all others, where what it sees is what will be emitted. The
//! pass first makes functions ask for the originals of return addresses (`callers`). It then
//! decides about every function (`plan`), inserts stack pads (`pads`) or the slack that copies take
//! theirs from (`slack`), and leaves function records (`records`). Calls that ask the loader
//! about their caller stay calls. In one mode blocks tell the runtime that they are executed
//! (`paths`). It does nothing else to a module.
//!
//! It is written on inkwell. The entry point has to be Rust's: a `cdylib` exports no symbol of the
//! C++ shim. LLVM itself is the one in the program that loads the plugin; the plugin brings no copy
//! of its own, since two cannot share a module.

#![deny(unsafe_code)]

mod callers;
mod llvm;
mod mode;
mod pads;
mod paths;
mod plan;
mod records;
mod slack;
mod variables;

use inkwell::module::Module;
use mode::Mode;

/// The pass: changes a module and says whether it did.
pub(crate) fn run(module: &Module<'_>) -> llvm::Result<bool> {
    let mode = Mode::of_this_plugin();
    // First: what calls has a frame.
    let translates = plan::is_supported(module) && callers::translate_return_addresses(module)?;
    let Some(plan) = plan::plan(module, mode) else { return Ok(false) };
    if mode == Mode::Paths {
        paths::tell_of_blocks(module, &plan)?;
    }
    plan::print(module, &plan);
    let pads = pads::Pads::new(module, mode);
    for function in &plan.functions {
        for call in &function.caller_sensitive {
            call.forbid_tail_call();
        }
        if plan.records {
            records::record(function);
        }
        match &function.pad {
            Ok(sites) if function.resizable => {
                slack::insert(module, function.function, function.addressed, sites)?;
            }
            Ok(sites) => pads.insert(function.function, sites)?,
            Err(_) => {}
        }
    }
    Ok(translates || !plan.functions.is_empty())
}
