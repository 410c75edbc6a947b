//! Signal actions and masks, as the kernel has them.

use super::errno::{Errno, check};
use super::process::{exit_group, raise};
use crate::arch::{nr, syscall};

/// A signal action as the kernel has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalAction {
    /// `SIG_DFL`, `SIG_IGN`, or the address of a function.
    pub handler: usize,
    /// `SA_…`.
    pub flags: u64,
    /// Where a handler returns to, with [`SA_RESTORER`].
    pub restorer: usize,
    /// Signals that are blocked while the handler runs: bit `n - 1` for signal `n`.
    pub mask: u64,
}

impl SignalAction {
    /// `SIG_DFL`.
    pub const DEFAULT: Self = Self { handler: 0, flags: 0, restorer: 0, mask: 0 };
}

/// The default action.
pub const SIG_DFL: usize = 0;

/// Highest number of a signal.
pub const LAST_SIGNAL: i32 = 64;

/// Signals that glibc keeps for itself (SIGCANCEL, SIGSETXID).
pub const LIBC_SIGNALS: core::ops::RangeInclusive<i32> = 32..=33;
/// A file would have become larger than it may.
pub const SIGXFSZ: i32 = 25;
/// The handler takes three arguments.
pub const SA_SIGINFO: u64 = 4;
/// There is a restorer.
pub const SA_RESTORER: u64 = 0x0400_0000;
/// The default action is back when the handler runs.
pub const SA_RESETHAND: u64 = 0x8000_0000;

/// What abort(3) sends.
pub const SIGABRT: i32 = 6;

/// `rt_sigaction(2)`; returns the action before.
///
/// # Safety
/// The new handler, if any, must be a function of the right shape.
pub unsafe fn signal_action(
    signal: i32,
    new: Option<&SignalAction>,
) -> Result<SignalAction, Errno> {
    let mut old = SignalAction::DEFAULT;
    let new = new.map_or(0, |action| core::ptr::from_ref(action) as usize);
    let arguments = [signal as usize, new, (&raw mut old) as usize, 8, 0, 0];
    // SAFETY: both pointers are to kernel-shaped actions; the handler is the caller's promise.
    check(unsafe { syscall(nr::RT_SIGACTION, arguments) })?;
    Ok(old)
}

/// `SIG_UNBLOCK`.
pub const UNBLOCK: i32 = 1;

/// `rt_sigprocmask(2)`; returns the mask before. `how`: 0 block, 1 unblock, 2 set.
pub fn signal_mask(how: i32, new: Option<u64>) -> Result<u64, Errno> {
    let mut old = 0u64;
    let value = new.unwrap_or(0);
    let new = if new.is_some() { (&raw const value) as usize } else { 0 };
    // SAFETY: both pointers are to masks of eight bytes.
    check(unsafe {
        syscall(nr::RT_SIGPROCMASK, [how as usize, new, (&raw mut old) as usize, 8, 0, 0])
    })?;
    Ok(old)
}

/// Ends the process by SIGABRT, whatever the program does with that signal: with a core dump, if it
/// may have one.
pub fn abort() -> ! {
    // SAFETY: the default action has no handler.
    let _ = unsafe { signal_action(SIGABRT, Some(&SignalAction::DEFAULT)) };
    let _ = signal_mask(UNBLOCK, Some(1 << (SIGABRT - 1)));
    raise(SIGABRT);
    exit_group(128 + SIGABRT)
}

/// Does something for which the kernel may send this thread `signal`; if it says that it was
/// `sent`, that is as if it had not been. Nothing more is asked of the kernel otherwise.
pub fn without_signal(signal: i32, sent: impl FnOnce() -> bool) {
    let bit = 1u64 << (signal - 1);
    let before = signal_mask(0, Some(bit));
    if sent() && before.is_ok() {
        let at_once = [0u64; 2];
        let (set, time) = ((&raw const bit) as usize, at_once.as_ptr() as usize);
        // SAFETY: a mask of eight bytes and a struct timespec; what the signal says is not asked
        // for.
        unsafe { syscall(nr::RT_SIGTIMEDWAIT, [set, 0, time, 8, 0, 0]) };
    }
    if let Ok(before) = before {
        let _ = signal_mask(2, Some(before));
    }
}
