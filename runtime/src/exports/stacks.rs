//! Functions of libc that tell of other stacks, or of limits: what the runtime knows of them would
//! be wrong otherwise.
//!
//! The driver gives them their real names, in programs whose frames get pads and in those whose
//! code moves (`szc_abi::FRAMES_EXPORT_PREFIX`).

use super::returned;
use crate::arch::{self, nr};
use crate::next;
use crate::os::limits::{LIMIT_ADDRESS_BYTES, LIMIT_DATA_BYTES, LIMIT_STACK_BYTES, Limits};
use crate::os::memory_limits_were_set;
use crate::reclaim::blocked::{self, Blocked};
use crate::reclaim::signal_stacks;
use core::ffi::c_int;
use szc_stack::pad_range::{self, PadRange};
use szc_stack::pad_reserve;

/// `stack_t`.
#[repr(C)]
struct SignalStack {
    start: usize,
    flags: c_int,
    bytes: usize,
}

/// `SS_DISABLE`: there is to be no alternate stack.
const DISABLE: c_int = 2;

/// sigaltstack(2): a handler on an alternate stack inside this thread's own gets no pads.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_frames_sigaltstack(
    new: *const SignalStack,
    old: *mut SignalStack,
) -> c_int {
    let arguments = [new as usize, old as usize, 0, 0, 0, 0];
    // SAFETY: the caller's promise.
    let result = unsafe { arch::syscall(nr::SIGALTSTACK, arguments) };
    if result < 0 {
        return returned(result);
    }
    // SAFETY: the caller's promise.
    if let Some(new) = unsafe { new.as_ref() } {
        if new.flags & DISABLE == 0 {
            let end = new.start.saturating_add(new.bytes);
            pad_range::exclude(PadRange { low: new.start, end });
            signal_stacks::set(new.start, end);
        } else {
            signal_stacks::set(0, 0);
        }
    }
    0
}

/// The start of glibc's `ucontext_t`.
#[repr(C)]
pub struct Context {
    flags: u64,
    link: *mut Context,
    stack: SignalStack,
}

/// Before makecontext(3): a context on a stack inside this thread's own gets no pads. Where to go
/// on.
///
/// # Safety
/// As the function it stands for.
pub unsafe extern "C" fn before_makecontext(context: *const Context) -> usize {
    blocked::block(Blocked::Contexts);
    // SAFETY: the caller's promise.
    let stack = unsafe { &(*context).stack };
    pad_range::exclude(PadRange { low: stack.start, end: stack.start.saturating_add(stack.bytes) });
    next::MAKECONTEXT.address().unwrap_or(0)
}

/// prlimit(2).
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_frames_prlimit64(
    process: c_int,
    resource: c_int,
    new: *const Limits,
    old: *mut Limits,
) -> c_int {
    let (resource, words) = (resource as usize, [new as usize, old as usize]);
    let arguments = [process as usize, resource, words[0], words[1], 0, 0];
    // SAFETY: the caller's promise.
    let result = unsafe { arch::syscall(nr::PRLIMIT64, arguments) };
    if result < 0 {
        return returned(result);
    }
    if !new.is_null() {
        match resource {
            LIMIT_STACK_BYTES => pad_reserve::growth_reserve_was_raised(),
            LIMIT_ADDRESS_BYTES | LIMIT_DATA_BYTES => memory_limits_were_set(),
            _ => {}
        }
    }
    0
}

/// prlimit(2) under its other name.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_frames_prlimit(
    process: c_int,
    resource: c_int,
    new: *const Limits,
    old: *mut Limits,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { szc_rt_frames_prlimit64(process, resource, new, old) }
}

/// setrlimit(2).
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_frames_setrlimit64(resource: c_int, new: *const Limits) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { szc_rt_frames_prlimit64(0, resource, new, core::ptr::null_mut()) }
}

/// setrlimit(2) under its other name.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_frames_setrlimit(resource: c_int, new: *const Limits) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { szc_rt_frames_prlimit64(0, resource, new, core::ptr::null_mut()) }
}
