//! Signals that end a link: SIGINT, SIGTERM and SIGHUP wait until nothing is left behind that looks
//! finished.
//!
//! Between the linker's end and the last step the image is executable and has no table; make would
//! take it for what it asked for. Handlers, which children do not inherit, note the signal; a
//! terminal sends it to the children as well.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise, sigaction};
use std::sync::atomic::{AtomicI32, Ordering};

/// The first signal that came, or 0.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: i32) {
    // Only the thread that links reads it, and nothing else depends on it.
    let _ = CAUGHT.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
}

/// Notes such signals from now on. One that is ignored (as under `nohup`) stays ignored.
pub(super) fn catch() {
    let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        let before = unsafe { sigaction(signal, &action) };
        if let Ok(before) = before
            && matches!(before.handler(), SigHandler::SigIgn)
        {
            // SAFETY: puts back the disposition the kernel reported above.
            let _ = unsafe { sigaction(signal, &before) };
        }
    }
}

/// The signal that came since, if any did.
pub(super) fn caught() -> Option<Signal> {
    Signal::try_from(CAUGHT.load(Ordering::Relaxed)).ok()
}

/// Ends this process by the signal, so that make and shells see what ended it.
pub(super) fn end_by(signal: Signal) -> ! {
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: sets a disposition; no handler is involved.
    let _ = unsafe { sigaction(signal, &action) };
    let _ = raise(signal);
    // Only if the signal is blocked.
    std::process::exit(128 + signal as i32)
}
