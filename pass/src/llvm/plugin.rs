//! The entry point of the plugin (`llvm/Plugins/PassPlugin.h`), and the pass that it registers.

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// `LLVM_PLUGIN_API_VERSION` of LLVM 22; a program with another one refuses the plugin.
const PLUGIN_API_VERSION: u32 = 2;

/// `llvm::PassBuilder`, known to C++ only.
#[repr(C)]
pub struct PassBuilder {
    opaque: [u8; 0],
}

/// `llvm::PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    plugin_name: *const c_char,
    plugin_version: *const c_char,
    register_pass_builder_callbacks: Option<unsafe extern "C" fn(*mut PassBuilder)>,
    /// Would replace code generation; it takes C++ references, and stays null.
    pre_code_gen_callback: Option<unsafe extern "C" fn()>,
}

const _: () = {
    assert!(size_of::<PassPluginLibraryInfo>() == 40);
    assert!(std::mem::offset_of!(PassPluginLibraryInfo, plugin_name) == 8);
    assert!(std::mem::offset_of!(PassPluginLibraryInfo, register_pass_builder_callbacks) == 24);
};

unsafe extern "C" {
    /// In `shim/register.cpp`.
    fn szc_pass_register(builder: *mut PassBuilder);
}

/// What LLVM calls when it loads the plugin.
// SAFETY: LLVM reserves the name for plugins and looks it up with this signature, and no
// other object of the plugin defines it.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: PLUGIN_API_VERSION,
        plugin_name: c"szc".as_ptr(),
        plugin_version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register_pass_builder_callbacks: Some(szc_pass_register),
        pre_code_gen_callback: None,
    }
}

/// The shim's way into the pass.
// SAFETY: the shim declares this name with this signature, and nothing else defines it.
#[unsafe(no_mangle)]
extern "C" fn szc_pass_run(module: LLVMModuleRef) -> bool {
    // SAFETY: the shim hands over the live module that LLVM wants the pass to run over. LLVM owns
    // it, so inkwell must not dispose of it.
    let module = unsafe { ManuallyDrop::new(Module::new(module)) };
    crate::run(&module).expect("the pass builds only what inkwell accepts")
}
