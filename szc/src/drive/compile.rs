//! Invocations that clang handles alone: the driver becomes clang.

use super::parts::{Clang, Language};
use anyhow::Context;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The command that runs clang with these arguments.
pub(super) fn command(clang: &Clang, args: &[OsString]) -> Command {
    let mut command = Command::new(&clang.program);
    command.args(&clang.first_args);
    if clang.language == Language::Fortran {
        command.args(for_flang(args));
    } else {
        command.args(args);
    }
    command
}

/// flang's driver is clang's, but knows fewer options: none that silences warnings of unused
/// arguments, of which it gives none, and none for the linker's path but the one for its name.
fn for_flang(args: &[OsString]) -> Vec<OsString> {
    let path = args.iter().find_map(|arg| arg.as_bytes().strip_prefix(b"--ld-path="));
    let mut rendered = Vec::with_capacity(args.len());
    for arg in args {
        match (arg.as_bytes(), path) {
            (b"--start-no-unused-arguments" | b"--end-no-unused-arguments", _) => {}
            (bytes, Some(_)) if bytes.starts_with(b"--ld-path=") => {}
            (b"-fuse-ld=lld", Some(path)) => {
                let mut arg = OsString::from("-fuse-ld=");
                arg.push(OsStr::from_bytes(path));
                rendered.push(arg);
            }
            _ => rendered.push(arg.clone()),
        }
    }
    rendered
}

/// Replaces this process by clang, so that nothing stands between it and its caller.
///
/// # Errors
/// clang cannot be started.
pub(super) fn become_clang(clang: &Clang, args: &[OsString]) -> anyhow::Result<Infallible> {
    let failure = command(clang, args).exec();
    Err(failure).with_context(|| format!("cannot run {}", clang.program.display()))
}
