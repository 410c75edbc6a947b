//! Where the stack and the mappings of a child begin, chosen by us instead of by the kernel.
//!
//! - Address space randomization is switched off for the child (personality(2)).
//! - Linux puts the mappings below the room that the limit of the stack asks for, as it is at
//!   `execve` (`mmap_base` in arch/x86/mm/mmap.c). So the child calls `execve` under a limit that
//!   is a number of pages above its own, and has its own again before its first instruction: until
//!   then it is traced (ptrace(2)), and stops when `execve` is done.
//! - Signals that came between would stop it where nobody waits for it, so they are blocked until
//!   then, too.
//!
//! Before it goes on, the start of its stack can be moved (`start`).
//!
//! Not chosen: the base of a position-independent executable and of its heap (`brk`), which are
//! where the kernel puts them without randomization; and the mappings of what the child starts.

use std::io;
use std::ptr;

use nix::libc;
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, pthread_sigmask};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::start;
use crate::samples::design::Addresses;

/// Room for the stack below which Linux does not go, and some more.
const LEAST_ROOM_BYTES: u64 = 160 << 20;

/// A page.
const PAGE_BYTES: u64 = 4096;

/// Bytes of the kernel's set of signals.
const SIGNAL_SET_BYTES: usize = 8;

/// What is done to a child that stops at its first instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preparation {
    /// The limit of the stack at `execve`.
    at_exec: u64,
    /// The one to go back to.
    own: (u64, u64),
    /// By how much the start of its stack is moved down.
    lowered_bytes: u32,
}

/// What some addresses take; nothing if mappings and stack are left where they are.
///
/// # Errors
/// When the limit of this process leaves no choice.
pub(super) fn preparation(addresses: Addresses) -> io::Result<Option<Preparation>> {
    let Addresses { mapping_pages, lowered_bytes } = addresses;
    if mapping_pages.is_none() && lowered_bytes == 0 {
        return Ok(None);
    }
    let own = getrlimit(Resource::RLIMIT_STACK)?;
    let (soft, hard) = own;
    let at_exec = match mapping_pages {
        Some(pages) => limit_at_exec(soft, pages)
            .filter(|limit| *limit <= hard)
            .ok_or_else(|| io::Error::other("the limit of the stack leaves no choice of bases"))?,
        None => soft,
    };
    Ok(Some(Preparation { at_exec, own, lowered_bytes }))
}

/// The limit of the stack, in bytes, under which mappings begin so many pages lower, where it is
/// `own` otherwise; none if that is unlimited, since then mappings begin at the other end.
#[must_use]
pub fn limit_at_exec(own: u64, pages: u32) -> Option<u64> {
    (own != RLIM_INFINITY).then(|| {
        let least = own.max(LEAST_ROOM_BYTES).next_multiple_of(PAGE_BYTES);
        least.saturating_add(u64::from(pages) * PAGE_BYTES)
    })
}

/// Between fork and exec: prepares the calling process. Allocates nothing.
pub(super) fn prepare(preparation: Option<Preparation>) -> io::Result<()> {
    personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    if let Some(Preparation { at_exec, own: (_, hard), .. }) = preparation {
        setrlimit(Resource::RLIMIT_STACK, at_exec, hard)?;
        let mut blocked = SigSet::all();
        blocked.remove(Signal::SIGTRAP);
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&blocked), None)?;
        ptrace::traceme()?;
    }
    Ok(())
}

/// Behind exec, on the thread that forked: moves the start of the child's stack, gives it its limit
/// and its signals back, and lets it go.
pub(super) fn release(child: i32, preparation: Preparation) -> io::Result<()> {
    let pid = Pid::from_raw(child);
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(pid), flags) {
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
            // Killed meanwhile: whoever reaps it will see that.
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => return Ok(()),
            Ok(_) => break,
        }
    }
    if preparation.lowered_bytes > 0 {
        start::lower(pid, preparation.lowered_bytes)?;
    }
    let (soft, hard) = preparation.own;
    let own = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: the new limit is a live local, and no old one is asked for.
    if unsafe { libc::prlimit(child, libc::RLIMIT_STACK, &raw const own, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // The standard library starts children with no signal blocked.
    let none: u64 = 0;
    // SAFETY: PTRACE_SETSIGMASK reads as many bytes from the pointer as the third argument says;
    // the child is stopped and traced by this thread.
    let set =
        unsafe { libc::ptrace(libc::PTRACE_SETSIGMASK, child, SIGNAL_SET_BYTES, &raw const none) };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(ptrace::detach(pid, None)?)
}
