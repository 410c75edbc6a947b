//! The LLVM plugin of szc: loaded by clang 22 and flang 22 (`-fpass-plugin=`), opt
//! (`-load-pass-plugin=`), and lld for link-time optimization (`--load-pass-plugin=`).
//!
//! It registers one module pass behind all others, where what it sees is what will be emitted. The
//! pass first makes functions ask for the originals of return addresses (`callers`). It then
//! decides about every function (`plan`), inserts stack pads (`stack`) and leaves function records
//! (`records`). Calls that ask the loader about their caller stay calls. It does nothing else to a
//! module.
//!
//! The interface is that of `llvm/Plugins/PassPlugin.h`. The entry point has to be Rust's:
//! a `cdylib` exports no symbol of the C++ shim. LLVM itself is the one in the program that
//! loads the plugin; the plugin brings no copy of its own, since two cannot share a module.

mod callers;
pub mod llvm;
mod mode;
mod plan;
mod records;
mod stack;

use llvm::Module;
use mode::Mode;

/// The pass: changes a module and says whether it did.
pub(crate) fn run(module: Module) -> bool {
    let mode = Mode::of_this_plugin();
    // First: what calls has a frame.
    let shows = plan::is_supported(module.target()) && callers::show_originals(module);
    let Some(plan) = plan::plan(module, mode) else { return false };
    plan::print(module.name(), &plan);
    let pads = stack::Pads::new(module, mode);
    for function in &plan.functions {
        for call in &function.asking {
            call.keep_as_call();
        }
        if plan.records {
            records::record(function);
        }
        match &function.pad {
            Ok(sites) if function.resizable => {
                stack::make_resizable(function.function, function.addressed, sites);
            }
            Ok(sites) => pads.insert(function.function, sites),
            Err(_) => {}
        }
    }
    shows || !plan.functions.is_empty()
}
