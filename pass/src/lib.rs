//! The LLVM plugin of szc: loaded by clang 22 (`-fpass-plugin=`) and opt
//! (`-load-pass-plugin=`).
//!
//! It registers one module pass behind all others, where what it sees is what will be
//! emitted. Today that pass leaves every module as it is.
//!
//! The interface is that of `llvm/Plugins/PassPlugin.h`. The entry point has to be Rust's:
//! a `cdylib` exports no symbol of the C++ shim. LLVM itself is the one in the program that
//! loads the plugin; the plugin brings no copy of its own, since two cannot share a module.

pub mod llvm;

use llvm::ModuleRef;

/// The pass: looks at a module and says whether it changed it.
pub(crate) fn run(_module: ModuleRef) -> bool {
    false
}
