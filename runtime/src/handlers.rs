//! Handlers of signals that would end the program: they write its log first.
//!
//! Installed only if there is a log to write, and invisible to the program. Rules of this file: no libc,
//! no allocation, no thread-local storage; all signals are blocked while a handler runs.

use crate::arch;
use crate::os::{self, SIG_DFL, SignalAction};
use crate::report;
use core::ffi::c_void;

/// Offset of `si_code` in `siginfo_t`.
const SI_CODE_OFFSET: usize = 8;

/// Signals that end a program by default and can be caught (signal(7)).
const FATAL_SIGNALS: [i32; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 24, 25, 31];

/// Makes signals that would end the program write the log first.
pub fn install_fatal() {
    for signal in FATAL_SIGNALS {
        // SAFETY: only asks.
        let default = unsafe { os::signal_action(signal, None) }
            .is_ok_and(|action| action.handler == SIG_DFL);
        if !default {
            continue;
        }
        let action = SignalAction {
            handler: szc_rt_fatal as *const () as usize,
            flags: os::SA_SIGINFO | os::SA_RESTORER | os::SA_RESETHAND,
            restorer: arch::restorer(),
            mask: u64::MAX,
        };
        // SAFETY: the handler has the shape that SA_SIGINFO asks for.
        let _ = unsafe { os::signal_action(signal, Some(&action)) };
    }
}

/// Whether a handler is the one that writes the log, which the program does not know of.
pub fn is_log_handler(handler: usize) -> bool {
    handler == szc_rt_fatal as *const () as usize
}

/// The action that the program believes to be installed.
pub fn visible_action(installed: SignalAction) -> SignalAction {
    let ours = is_log_handler(installed.handler);
    if ours { SignalAction::DEFAULT } else { installed }
}

/// Handler of signals that end the program: writes the log and lets the signal happen again.
///
/// # Safety
/// Called by the kernel only.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_fatal(signal: i32, info: *mut c_void, _context: *mut c_void) {
    report::write_log();
    // SA_RESETHAND made the action the default. A fault happens again by itself when the handler
    // returns, with the registers as they were; a signal that was sent, and a breakpoint, which lies
    // behind the program now, is sent again, and blocked until then.
    // SAFETY: the kernel's arguments to a handler with SA_SIGINFO.
    let code = unsafe { info.cast::<u8>().add(SI_CODE_OFFSET).cast::<i32>().read() };
    let fault = matches!(signal, 4 | 7 | 8 | 11) && code > 0;
    if !fault {
        os::raise(signal);
    }
}
