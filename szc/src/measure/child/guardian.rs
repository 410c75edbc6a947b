//! Ends what is being measured if we are killed: a process of ours that waits for our end, which
//! nothing else can see to that.
//!
//! It holds one end of a pipe and reads who runs and who has ended; once the other end is closed it
//! kills those that are left and their descendants. It has a session of its own, so that no signal
//! of the terminal reaches it, and a name of its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::OnceLock;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::sys::prctl::set_name;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{ForkResult, fork, pipe2, setsid, write};

use crate::measure::descendants::{kill_all, start_time};

/// The end of the pipe that we write to; `None` where there is no guardian.
static TOLD: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Starts the guardian, once, and only in a process of one thread: a fork has no other, and what
/// these hold would be held for ever.
///
/// # Errors
/// What the system says.
pub fn start() -> io::Result<()> {
    if TOLD.get().is_some() {
        return Ok(());
    }
    let is_alone = fs::read_dir("/proc/self/task")?.count() == 1;
    let guardian = if is_alone { Some(forked()?) } else { None };
    TOLD.get_or_init(|| guardian);
    Ok(())
}

fn forked() -> io::Result<OwnedFd> {
    let (theirs, ours) = pipe2(OFlag::O_CLOEXEC)?;
    // Nothing waits for a guardian that does not read.
    fcntl(&ours, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    // SAFETY: the process has one thread, so its copy may do what it could.
    match unsafe { fork()? } {
        ForkResult::Parent { .. } => Ok(ours),
        ForkResult::Child => {
            drop(ours);
            guard(theirs.into());
            // SAFETY: ends the process without what we registered for our own end.
            unsafe { libc::_exit(0) }
        }
    }
}

/// A child that ends if we are killed, until this is dropped.
#[derive(Debug)]
pub struct Guarded(i32);

impl Drop for Guarded {
    fn drop(&mut self) {
        note_end(self.0);
    }
}

/// Starts a command, and lets its process end if we are killed. What it costs is not measured.
///
/// # Errors
/// It cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<(Child, Guarded)> {
    let note = || {
        note_own_start();
        Ok(())
    };
    // SAFETY: one system call between fork and exec, which allocates nothing.
    let child = unsafe { command.pre_exec(note) }.spawn()?;
    let guarded = Guarded(child.id().cast_signed());
    Ok((child, guarded))
}

/// Notes that the calling process runs. Between fork and exec: one system call, no memory.
pub(super) fn note_own_start() {
    note(nix::unistd::getpid().as_raw());
}

/// Notes that a child has ended; at best before it is reaped, while its number is its own.
pub(super) fn note_end(child: i32) {
    note(-child);
}

fn note(number: i32) {
    if let Some(Some(pipe)) = TOLD.get() {
        // Whole or not at all, since it is short; who measures without a guardian measures still.
        let _ = write(pipe, &number.to_ne_bytes());
    }
}

/// What the guardian does until the pipe is closed, and then.
fn guard(mut pipe: File) {
    let _ = setsid();
    let _ = set_name(c"lab-guardian");
    for one in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        // SAFETY: no handler runs.
        let _ = unsafe { signal(one, SigHandler::SigIgn) };
    }
    close_all_but(pipe.as_raw_fd());
    // With the time of its start, which tells a process from a later one of the same number: who
    // cannot be executed ends without a note.
    let mut running = BTreeMap::new();
    let mut number = [0; 4];
    while pipe.read_exact(&mut number).is_ok() {
        match i32::from_ne_bytes(number) {
            start if start > 0 => running.insert(start, start_time(start)),
            end => running.remove(&-end),
        };
    }
    for (number, start) in running {
        if start.is_some() && start == start_time(number) {
            kill_all(number);
        }
    }
}

/// So that who reads our output sees its end, and no folder or file is held.
fn close_all_but(kept: i32) {
    let last = u32::MAX;
    let kept = kept.cast_unsigned();
    // SAFETY: closes descriptors that nothing of this process uses any more; the pipe stays.
    unsafe {
        libc::syscall(libc::SYS_close_range, kept + 1, last, 0);
        if kept > 0 {
            libc::syscall(libc::SYS_close_range, 0, kept - 1, 0);
        }
    }
    let _ = std::env::set_current_dir("/");
}
