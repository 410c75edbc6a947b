//! Handlers of signals that would end the program: they write its log first.
//!
//! Installed only if there is a log to write, and invisible to the program. Rules of this file: no
//! libc, no allocation, no thread-local storage; all signals are blocked while a handler runs.

use crate::arch;
use crate::exports::entries::fatal_handler;
use crate::facts;
use crate::os::{self, LAST_SIGNAL, LIBC_SIGNALS, SIG_DFL, SignalAction};
use crate::report;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

const SIGBUS: i32 = 7;
/// Memory is broken that nobody has touched yet: no instruction will do it again (sigaction(2)).
const BUS_MCEERR_AO: i32 = 5;

/// Offset of `si_code` in `siginfo_t`.
const SI_CODE_OFFSET: usize = 8;

/// Signals that cannot be caught, or do not end a program by default (signal(7)): KILL, CHLD, CONT,
/// STOP, TSTP, TTIN, TTOU, URG, WINCH.
const NOT_FATAL: [i32; 9] = [9, 17, 18, 19, 20, 21, 22, 23, 28];

/// Flags and mask of the default actions that the program has set, which it is told when it asks.
static FLAGS_SET: [AtomicU64; LAST_SIGNAL as usize + 1] =
    [const { AtomicU64::new(0) }; LAST_SIGNAL as usize + 1];
static MASK_SET: [AtomicU64; LAST_SIGNAL as usize + 1] =
    [const { AtomicU64::new(0) }; LAST_SIGNAL as usize + 1];

/// Makes signals that would end the program write the log first.
pub fn install_fatal() {
    for signal in (1..=LAST_SIGNAL).filter(|signal| ends_by_default(*signal)) {
        // SAFETY: only asks.
        let default = unsafe { os::signal_action(signal, None) }
            .is_ok_and(|action| action.handler == SIG_DFL);
        if default {
            // SAFETY: the handler has the shape that SA_SIGINFO asks for.
            let _ = unsafe { os::signal_action(signal, Some(&log_action())) };
        }
    }
}

/// Whether the default action of a signal, which the program may set, ends it.
fn ends_by_default(signal: i32) -> bool {
    !NOT_FATAL.contains(&signal) && !LIBC_SIGNALS.contains(&signal)
}

fn log_action() -> SignalAction {
    SignalAction {
        handler: fatal_handler(),
        flags: os::SA_SIGINFO | os::SA_RESTORER | os::SA_RESETHAND,
        restorer: arch::restorer(),
        mask: u64::MAX,
    }
}

/// The action that stands in for one that the program sets: one that ends the program writes the
/// log first. Programs set it again behind their own handlers, to end by the signal after all.
pub fn action_for(signal: i32, wanted: SignalAction) -> SignalAction {
    let ends = wanted.handler == SIG_DFL && ends_by_default(signal);
    if !ends || !facts::expects_log() {
        return wanted;
    }
    // What the program is told of this is worth no more than the order of two threads that set it
    // at a time.
    FLAGS_SET[signal as usize].store(wanted.flags, Ordering::Relaxed);
    MASK_SET[signal as usize].store(wanted.mask, Ordering::Relaxed);
    log_action()
}

/// Whether a handler is the one that writes the log, which the program does not know of.
pub fn is_log_handler(handler: usize) -> bool {
    handler == fatal_handler()
}

/// The action that the program believes to be installed.
pub fn visible_action(signal: i32, installed: SignalAction) -> SignalAction {
    if !is_log_handler(installed.handler) {
        return installed;
    }
    let flags = FLAGS_SET[signal as usize].load(Ordering::Relaxed);
    let mask = MASK_SET[signal as usize].load(Ordering::Relaxed);
    let restorer = if flags & os::SA_RESTORER != 0 { arch::restorer() } else { 0 };
    SignalAction { handler: SIG_DFL, flags, restorer, mask }
}

/// Handler of signals that end the program: writes the log and lets the signal happen again.
///
/// # Safety
/// Called by the kernel only, by way of [`fatal_handler`].
pub unsafe extern "C" fn fatal(signal: i32, info: *mut c_void, _context: *mut c_void) {
    report::write_log();
    // SA_RESETHAND made the action the default. A fault happens again by itself when the handler
    // returns, with the registers as they were; a signal that was sent, and a breakpoint, which
    // lies behind the program now, is sent again, and blocked until then. SAFETY: the kernel's
    // arguments to a handler with SA_SIGINFO.
    let code = unsafe { info.cast::<u8>().add(SI_CODE_OFFSET).cast::<i32>().read() };
    let early = signal == SIGBUS && code == BUS_MCEERR_AO;
    let fault = matches!(signal, 4 | SIGBUS | 8 | 11) && code > 0 && !early;
    if !fault {
        os::raise(signal);
    }
}
