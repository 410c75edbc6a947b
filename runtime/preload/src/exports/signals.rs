//! What programs do about SIGTRAP, which is this library's.

use core::ffi::c_int;
use core::mem::zeroed;

use libc::{SA_RESTART, SIG_ERR, SIGTRAP, sighandler_t, sigset_t};

use crate::delay::memory;
use crate::next::{self, Next};
use crate::trap::{set_program_action, without_trap};

/// `sigaction`
///
/// # Safety
/// As that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if signal == SIGTRAP && memory().is_some() {
            set_program_action(new, old);
            return 0;
        }
        next::sigaction(signal, new, old)
    }
}

/// `signal`
///
/// # Safety
/// As that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    static NEXT: Next = Next::new(c"signal");
    type Function = unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t;
    // SAFETY: the type is that of signal.h; the rest is the caller's promise.
    unsafe {
        if number != SIGTRAP || memory().is_none() {
            return core::mem::transmute::<usize, Function>(NEXT.address())(number, handler);
        }
        if handler == SIG_ERR {
            return SIG_ERR;
        }
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (zeroed(), zeroed());
        new.sa_sigaction = handler;
        new.sa_flags = SA_RESTART;
        set_program_action(&raw const new, &raw mut old);
        old.sa_sigaction
    }
}

macro_rules! masks {
    ($($name:ident $text:literal;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// As that.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            how: c_int,
            new: *const sigset_t,
            old: *mut sigset_t,
        ) -> c_int {
            static NEXT: Next = Next::new($text);
            type Function = unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;
            // SAFETY: the type is that of signal.h; the rest is the caller's promise.
            unsafe {
                let next = core::mem::transmute::<usize, Function>(NEXT.address());
                if memory().is_none() || how == libc::SIG_UNBLOCK {
                    return next(how, new, old);
                }
                let mut copy = zeroed();
                next(how, without_trap(new, &mut copy), old)
            }
        }
    )* };
}

masks! {
    pthread_sigmask c"pthread_sigmask";
    sigprocmask c"sigprocmask";
}
