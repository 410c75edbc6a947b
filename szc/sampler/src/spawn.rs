//! Starts a program and holds it at its first instruction, until its clocks run.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::ptrace;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// A program that has not begun yet.
pub struct Held {
    pid: Pid,
}

impl Held {
    /// Starts a program that waits for [`Self::release`].
    ///
    /// # Errors
    /// It cannot be started, or not held.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        // SAFETY: between fork and exec one system call is made, which allocates nothing.
        unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
        let child = command.spawn()?;
        let pid = Pid::from_raw(child.id().cast_signed());
        // A traced process stops when it has begun its program.
        match waitpid(pid, None)? {
            WaitStatus::Stopped(..) => Ok(Self { pid }),
            other => Err(io::Error::other(format!("the program did not wait: {other:?}"))),
        }
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.as_raw().cast_unsigned()
    }

    /// Lets it begin.
    ///
    /// # Errors
    /// It is gone.
    pub fn release(self) -> io::Result<()> {
        Ok(ptrace::detach(self.pid, None)?)
    }
}
