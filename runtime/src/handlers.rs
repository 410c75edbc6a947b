//! The only code that signals enter.
//!
//! Rules of this file: no libc, no allocation, no thread-local storage; all signals are blocked
//! while a handler runs, so that nothing nests.

use crate::arch::{self, SignalFrame};
use crate::fork;
use crate::os::{self, SIG_DFL, SIG_IGN, SIGTRAP, SignalAction};
use crate::report;
use crate::state::CODE;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// `si_code` of a trap that an `int3` caused: the kernel's on x86-64, and valgrind's (`TRAP_BRKPT`).
/// No process can send a signal with either.
const BREAKPOINT_CODES: [i32; 2] = [0x80, 1];
/// Offset of `si_code` in `siginfo_t`.
const SI_CODE_OFFSET: usize = 8;

/// The program's own action for SIGTRAP, which the kernel does not know of.
pub struct ProgramTrap {
    handler: AtomicUsize,
    flags: AtomicU64,
    mask: AtomicU64,
}

/// What the program asked to be done on SIGTRAP.
pub static PROGRAM_TRAP: ProgramTrap = ProgramTrap {
    handler: AtomicUsize::new(SIG_DFL),
    flags: AtomicU64::new(0),
    mask: AtomicU64::new(0),
};

impl ProgramTrap {
    /// Replaces the action.
    pub fn set(&self, action: &SignalAction) {
        self.flags.store(action.flags, Ordering::Relaxed);
        self.mask.store(action.mask, Ordering::Relaxed);
        // Release: a handler that is seen comes with its flags and mask.
        self.handler.store(action.handler, Ordering::Release);
    }

    /// The action.
    pub fn get(&self) -> SignalAction {
        let handler = self.handler.load(Ordering::Acquire);
        SignalAction {
            handler,
            flags: self.flags.load(Ordering::Relaxed),
            restorer: 0,
            mask: self.mask.load(Ordering::Relaxed),
        }
    }
}

/// SIGTRAP belongs to the runtime.
static TRAP_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Signals that end a program by default and can be caught (signal(7)), other than SIGTRAP.
const FATAL_SIGNALS: [i32; 16] = [1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14, 15, 24, 25, 31];

/// Takes SIGTRAP over.
pub fn install_trap() -> Result<(), os::Errno> {
    let action = SignalAction {
        handler: szc_rt_trap as *const () as usize,
        flags: os::SA_SIGINFO | os::SA_RESTORER,
        restorer: arch::restorer(),
        mask: u64::MAX,
    };
    // SAFETY: the handler has the shape that SA_SIGINFO asks for.
    let old = unsafe { os::signal_action(SIGTRAP, Some(&action))? };
    // A program can be started with signals ignored or blocked.
    PROGRAM_TRAP.set(&old);
    os::signal_mask(1, Some(os::signal_bit(SIGTRAP)))?;
    TRAP_INSTALLED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Gives SIGTRAP back, where there is nothing to trap.
pub fn release_trap() {
    TRAP_INSTALLED.store(false, Ordering::Relaxed);
    let action = PROGRAM_TRAP.get();
    // SAFETY: the action that was installed before.
    let _ = unsafe { os::signal_action(SIGTRAP, Some(&action)) };
}

/// Whether SIGTRAP belongs to the runtime.
pub fn owns_trap() -> bool {
    TRAP_INSTALLED.load(Ordering::Relaxed)
}

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

/// Handler of SIGTRAP.
///
/// # Safety
/// Called by the kernel only.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_trap(signal: i32, info: *mut c_void, context: *mut c_void) {
    // SAFETY: the kernel's arguments to a handler with SA_SIGINFO.
    let (frame, code) = unsafe {
        (SignalFrame::new(context), info.cast::<u8>().add(SI_CODE_OFFSET).cast::<i32>().read())
    };
    let breakpoint = BREAKPOINT_CODES.contains(&code);
    if breakpoint {
        fork::adopt_unannounced_child();
        let address = frame.program_counter() - 1;
        if let Some(Some(target)) = CODE.with(|code| code.resolve(address)) {
            frame.set_program_counter(target);
            return;
        }
    }
    // SAFETY: the kernel's arguments, passed on.
    unsafe { forward(signal, info, context, frame, breakpoint) };
}

/// Does what the program asked for, or the default.
unsafe fn forward(
    signal: i32,
    info: *mut c_void,
    context: *mut c_void,
    frame: SignalFrame,
    synchronous: bool,
) {
    let action = PROGRAM_TRAP.get();
    if action.handler == SIG_IGN && !synchronous {
        return;
    }
    if action.handler == SIG_DFL || action.handler == SIG_IGN {
        report::write_log();
        // SAFETY: the default action has no handler.
        let _ = unsafe { os::signal_action(signal, Some(&SignalAction::DEFAULT)) };
        // Blocked until this handler returns, then fatal.
        os::raise(signal);
        return;
    }
    if action.flags & os::SA_RESETHAND != 0 {
        PROGRAM_TRAP.set(&SignalAction::DEFAULT);
    }
    // SIGTRAP itself stays open: the program's handler may call functions that trap.
    let mask = (frame.signal_mask() | action.mask) & !os::signal_bit(SIGTRAP);
    let _ = os::signal_mask(2, Some(mask));
    // SAFETY: the program installed this address as a handler of this shape.
    unsafe {
        let handler: unsafe extern "C" fn(i32, *mut c_void, *mut c_void) =
            core::mem::transmute(action.handler);
        handler(signal, info, context);
    }
}

/// Handler of signals that end the program: writes the log and lets the signal happen again.
///
/// # Safety
/// Called by the kernel only.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_fatal(signal: i32, info: *mut c_void, _context: *mut c_void) {
    report::write_log();
    // SA_RESETHAND made the action the default. A fault happens again by itself when the handler
    // returns, with the registers as they were; a signal that was sent is sent again, and blocked
    // until then.
    // SAFETY: the kernel's arguments to a handler with SA_SIGINFO.
    let code = unsafe { info.cast::<u8>().add(SI_CODE_OFFSET).cast::<i32>().read() };
    let fault = matches!(signal, 4 | 7 | 8 | 11) && code > 0;
    if !fault {
        os::raise(signal);
    }
}
