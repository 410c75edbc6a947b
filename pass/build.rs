//! Compiles the C++ shim against the headers of the LLVM whose clang will load the plugin.

use anyhow::{Context, Result, ensure};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that llvm-sys reads too, so that both use one LLVM.
const PREFIX_VARIABLE: &str = "LLVM_SYS_221_PREFIX";

fn main() -> Result<()> {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed={PREFIX_VARIABLE}");
    let prefix = env::var_os(PREFIX_VARIABLE).map_or("/usr/lib/llvm-22".into(), PathBuf::from);
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .files(["shim/register.cpp", "shim/clone.cpp"])
        .include(include_directory(&prefix)?)
        .flags(["-fno-rtti", "-fno-exceptions", "-fvisibility=hidden"])
        // LLVM's headers are not the project's to mend.
        .warnings(false)
        .try_compile("szc_pass_shim")
        .context("cannot compile pass/shim; it needs a C++17 compiler and LLVM 22's headers")?;
    Ok(())
}

fn include_directory(prefix: &Path) -> Result<PathBuf> {
    let config = prefix.join("bin/llvm-config");
    let output = Command::new(&config).arg("--includedir").output().with_context(|| {
        format!("cannot run {}; install llvm-22-dev, or set {PREFIX_VARIABLE}", config.display())
    })?;
    ensure!(output.status.success(), "{} --includedir failed", config.display());
    let directory = String::from_utf8(output.stdout).context("llvm-config wrote no text")?;
    Ok(PathBuf::from(directory.trim_end()))
}
