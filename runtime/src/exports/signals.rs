//! Functions of libc that are about signals and about the end of a process.
//!
//! They exist for the log: a program that ends by `_exit` still writes it, and a program that asks
//! what a signal does is told what it would be told without the handlers that write it.

use super::fail;
use crate::handlers;
use crate::os::{self, EINVAL, Errno, SignalAction};
use crate::{arch, report};
use core::ffi::c_int;

/// `struct sigaction` of glibc; the kernel's has the same fields in another order.
#[repr(C)]
struct LibcAction {
    handler: usize,
    mask: LibcMask,
    flags: c_int,
    restorer: usize,
}

/// `sigset_t` of glibc; only the first word has meaning on Linux.
type LibcMask = [u64; 16];

unsafe extern "C" {
    /// Another name of signal(2) in glibc.
    fn ssignal(signal: c_int, handler: usize) -> usize;
}

/// What signal(2) returns if it fails.
const SIG_ERR: usize = usize::MAX;

/// The action that the kernel has.
fn current_action(signal: c_int) -> Result<SignalAction, Errno> {
    // SAFETY: only asks.
    unsafe { os::signal_action(signal, None) }
}

/// Installs an action and returns the one before, as the program sees them.
fn change_action(signal: c_int, new: Option<SignalAction>) -> Result<SignalAction, Errno> {
    if !(1..=os::LAST_SIGNAL).contains(&signal) || os::LIBC_SIGNALS.contains(&signal) {
        return Err(EINVAL);
    }
    let new = new.map(|action| SignalAction {
        flags: action.flags | os::SA_RESTORER,
        restorer: arch::restorer(),
        ..action
    });
    let before = handlers::visible_action(signal, current_action(signal)?);
    let new = new.map(|action| handlers::action_for(signal, action));
    // SAFETY: the handler is the program's promise to sigaction(2).
    let old = unsafe { os::signal_action(signal, new.as_ref())? };
    // What stood behind the log's handler has just been replaced.
    Ok(if handlers::is_log_handler(old.handler) { before } else { old })
}

/// sigaction(2).
///
/// # Safety
/// The pointers must be null or valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const LibcAction,
    old: *mut LibcAction,
) -> c_int {
    // SAFETY: the caller's promise.
    let new = unsafe { new.as_ref() }.map(|new| SignalAction {
        handler: new.handler,
        flags: u64::from(new.flags.cast_unsigned()),
        restorer: 0,
        mask: new.mask[0],
    });
    match change_action(signal, new) {
        Ok(before) => {
            // SAFETY: the caller's promise.
            if let Some(old) = unsafe { old.as_mut() } {
                old.handler = before.handler;
                old.mask = [0; 16];
                old.mask[0] = before.mask;
                old.flags = before.flags as c_int;
                old.restorer = before.restorer;
            }
            0
        }
        Err(error) => fail(error),
    }
}

/// signal(2).
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: the handler is the program's promise to signal(2).
    let old = unsafe { ssignal(signal, handler) };
    if handler == os::SIG_DFL && old != SIG_ERR {
        // glibc has installed the default action by itself.
        let _ = current_action(signal).and_then(|action| change_action(signal, Some(action)));
    }
    if handlers::is_log_handler(old) { os::SIG_DFL } else { old }
}

/// _exit(2).
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn _exit(status: c_int) -> ! {
    report::write_log();
    os::exit_group(status)
}

/// _Exit(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_snake_case, reason = "the name of the C function")]
extern "C" fn _Exit(status: c_int) -> ! {
    _exit(status)
}
