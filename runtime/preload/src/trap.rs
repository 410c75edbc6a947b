//! The handler of SIGTRAP, and what the program itself wants to do about that signal.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::zeroed;
use core::ptr::{null, null_mut};

use libc::{
    REG_RIP, REG_RSP, SA_ONSTACK, SA_RESETHAND, SA_RESTART, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGTRAP,
    siginfo_t, ucontext_t,
};

use crate::arrival;
use crate::next;
use crate::sample;
use crate::system::raise;
use crate::task_clock::{ARRIVAL_DATA, SIGNAL_DATA};

/// `TRAP_PERF`: the code of a signal by a clock.
const CODE: c_int = 6;
/// `TRAP_PERF_FLAG_ASYNC`: the signal was blocked when its time came.
const LATE: u32 = 1;

/// Where the kernel says which clock it was.
#[repr(C)]
struct ClockSignal {
    signal: c_int,
    error: c_int,
    code: c_int,
    padding: c_int,
    address: u64,
    data: u64,
    kind: u32,
    flags: u32,
}

struct Action(UnsafeCell<libc::sigaction>);

// SAFETY: programs set it before threads get the signal, or do not mind which of two actions is
// taken, as it is with the kernel's.
unsafe impl Sync for Action {}

/// What the program wants. Zeros are the default action.
// SAFETY: of all zeros.
static PROGRAM: Action = Action(UnsafeCell::new(unsafe { zeroed() }));

/// Takes the signal over.
pub fn install() {
    // SAFETY: the action is complete, and its handler does what a handler may.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
        next::sigaction(SIGTRAP, &raw const action, PROGRAM.0.get());
    }
}

/// sigaction(2) for SIGTRAP, as far as the program can tell.
///
/// # Safety
/// As sigaction(2).
pub unsafe fn set_program_action(new: *const libc::sigaction, old: *mut libc::sigaction) {
    // SAFETY: the caller's promise; the two may be the same.
    unsafe {
        let before = *PROGRAM.0.get();
        if !new.is_null() {
            *PROGRAM.0.get() = *new;
        }
        if !old.is_null() {
            *old = before;
        }
    }
}

unsafe extern "C" fn on_trap(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own structures, on this stack.
    unsafe {
        let clock = info.cast::<ClockSignal>();
        match ((*clock).code, (*clock).data) {
            (CODE, SIGNAL_DATA) => {}
            (CODE, ARRIVAL_DATA) => return arrival::here(),
            _ => return hand_on(signal, info, context),
        }
        let registers = &(*context.cast::<ucontext_t>()).uc_mcontext.gregs;
        let register = |number: c_int| registers[number as usize].cast_unsigned();
        sample::take(register(REG_RIP), register(REG_RSP), (*clock).flags & LATE != 0);
    }
}

/// # Safety
/// As a handler of signals.
unsafe fn hand_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the program's handler gets what it would have got.
    unsafe {
        let action = *PROGRAM.0.get();
        if action.sa_sigaction == SIG_IGN {
            return;
        }
        if action.sa_sigaction == SIG_DFL {
            let default: libc::sigaction = zeroed();
            next::sigaction(SIGTRAP, &raw const default, null_mut());
            // It is blocked until this handler returns.
            return raise(signal);
        }
        if action.sa_flags & SA_RESETHAND != 0 {
            set_program_action(&raw const DEFAULT.0, null_mut());
        }
        let handler = action.sa_sigaction as *const ();
        if action.sa_flags & SA_SIGINFO == 0 {
            let handler: unsafe extern "C" fn(c_int) = core::mem::transmute(handler);
            handler(signal);
        } else {
            let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                core::mem::transmute(handler);
            handler(signal, info, context);
        }
    }
}

struct Default(libc::sigaction);
// SAFETY: it is never changed.
unsafe impl Sync for Default {}
// SAFETY: of all zeros.
static DEFAULT: Default = Default(unsafe { zeroed() });

/// A set of signals without SIGTRAP: one that is blocked would cost samples.
///
/// # Safety
/// The set, if there is one, must be readable.
pub unsafe fn without_trap(
    set: *const libc::sigset_t,
    copy: &mut libc::sigset_t,
) -> *const libc::sigset_t {
    if set.is_null() {
        return null();
    }
    // SAFETY: the caller's promise.
    unsafe {
        *copy = *set;
        libc::sigdelset(copy, SIGTRAP);
    }
    copy
}
