//! Invocations that clang handles alone: the driver becomes clang.

use super::parts::Clang;
use anyhow::Context;
use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The command that runs clang with these words.
pub(super) fn command(clang: &Clang, words: &[OsString]) -> Command {
    let mut command = Command::new(&clang.program);
    command.args(&clang.first_words).args(words);
    command
}

/// Replaces this process by clang, so that nothing stands between it and its caller.
///
/// # Errors
/// clang cannot be started.
pub(super) fn become_clang(clang: &Clang, words: &[OsString]) -> anyhow::Result<Infallible> {
    let failure = command(clang, words).exec();
    Err(failure).with_context(|| format!("cannot run {}", clang.program.display()))
}
