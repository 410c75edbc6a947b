//! Requests to stop that come by signals.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// A request to stop, set by a signal and looked at between polls.
///
/// The atomics carry no data but themselves, hence `Relaxed` everywhere.
#[derive(Debug, Default)]
pub struct Stop {
    signal: AtomicI32,
    requests: AtomicU32,
}

impl Stop {
    /// No request yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { signal: AtomicI32::new(0), requests: AtomicU32::new(0) }
    }

    /// Notes that `signal` asked us to stop.
    pub fn request(&self, signal: i32) {
        self.signal.store(signal, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// The last signal that asked us to stop.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Whether it was asked more than once.
    pub(super) fn insists(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 1
    }
}

static STOP: Stop = Stop::new();

/// Signals that ask us to stop: Ctrl-C, `kill`, and a terminal or connection that is gone.
const REQUESTS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

extern "C" fn note_signal(signal: i32) {
    STOP.request(signal);
}

/// How often a signal asked for something to be shown.
static QUESTIONS: AtomicU32 = AtomicU32::new(0);

extern "C" fn note_question(_: i32) {
    QUESTIONS.fetch_add(1, Ordering::Relaxed);
}

/// Makes SIGUSR1 a question for what is known so far. The number says how many there were.
///
/// # Errors
/// What `sigaction(2)` reports.
pub fn answer_signals() -> io::Result<&'static AtomicU32> {
    let action =
        SigAction::new(SigHandler::Handler(note_question), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler only adds to an atomic, which is async-signal-safe.
    unsafe { sigaction(Signal::SIGUSR1, &action)? };
    Ok(&QUESTIONS)
}

extern "C" fn ignore_signal(_: i32) {}

/// Makes SIGINT, SIGTERM and SIGHUP a request to stop after the current child, and lets a file that
/// grows beyond a limit (`ulimit -f`) be an error of the write instead of our end. By handlers,
/// which children do not inherit.
///
/// A signal that is ignored already (as under `nohup`) stays ignored.
///
/// # Errors
/// What `sigaction(2)` reports.
pub fn stop_on_signals() -> io::Result<&'static Stop> {
    let action =
        SigAction::new(SigHandler::Handler(note_signal), SaFlags::empty(), SigSet::empty());
    for signal in REQUESTS {
        // SAFETY: the handler only stores to atomics, which is async-signal-safe.
        let before = unsafe { sigaction(signal, &action)? };
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: puts back the disposition the kernel reported one line above.
            unsafe { sigaction(signal, &before)? };
        }
    }
    let action =
        SigAction::new(SigHandler::Handler(ignore_signal), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGXFSZ, &action)? };
    Ok(&STOP)
}

/// Lets SIGINT, SIGTERM and SIGHUP end szc again: in front of what may wait for ever on somebody
/// else.
///
/// # Errors
/// What `sigaction(2)` reports.
pub fn end_on_signals() -> io::Result<()> {
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in REQUESTS {
        // SAFETY: sets a disposition; no handler is involved.
        let before = unsafe { sigaction(signal, &action)? };
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: puts back the disposition the kernel reported one line above.
            unsafe { sigaction(signal, &before)? };
        }
    }
    Ok(())
}
