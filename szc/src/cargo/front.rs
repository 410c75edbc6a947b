//! cargo with szc as its compiler, and with a target folder of its own.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use super::page::PROGRAM;
use super::rustc;
use super::workspace::{Workspace, cargo};
use crate::error::{Class, report};

/// Becomes cargo with these arguments.
pub(super) fn run(pads: bool, args: &[OsString]) -> ExitCode {
    match command(pads, args) {
        Ok(mut command) => {
            let error = command.exec();
            report(Class::Failed, format_args!("cargo cannot be run: {error}"))
        }
        Err(code) => code,
    }
}

/// cargo with these arguments.
///
/// # Errors
/// With an exit code; why has been said.
pub(super) fn command(pads: bool, args: &[OsString]) -> Result<Command, ExitCode> {
    let own = own().map_err(|error| report(Class::Failed, error))?;
    let folder = folder(&Workspace::of(args)?.target_directory, pads);
    let mut command = cargo();
    command.args(args).envs(rustc::variables(pads, &own)).env("CARGO_TARGET_DIR", folder);
    Ok(command)
}

/// Where builds of one kind lie: cargo does not know of what we add, and would mix them.
fn folder(target: &Path, pads: bool) -> PathBuf {
    target.join(if pads { "szc-pads" } else { "szc" })
}

/// The name of szc by which it has these roles.
fn own() -> Result<PathBuf> {
    let program = env::current_exe().context("szc's own program cannot be found")?;
    let own = program.with_file_name(PROGRAM);
    if !own.exists() {
        bail!(
            "there is no {PROGRAM} beside {szc}\n  needed: a link of that name\n  next: \
             ln -s {name} {own}",
            szc = program.display(),
            name = program.file_name().unwrap_or_default().display(),
            own = own.display(),
        );
    }
    Ok(own)
}
