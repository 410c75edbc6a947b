//! Functions of libc that the runtime stands in for. No logic beyond what the manual pages say.
//!
//! They exist so that SIGTRAP stays open (a blocked trap is fatal) and stays the runtime's, and so
//! that a program that ends by `_exit` still writes its log.

use crate::handlers::{self, PROGRAM_TRAP};
use crate::next::Next;
use crate::os::{self, EINVAL, Errno, SIGTRAP, SignalAction};
use crate::{arch, report};
use core::ffi::{c_int, c_void};

/// `struct sigaction` of glibc; the kernel's has the same fields in another order.
#[repr(C)]
pub struct LibcAction {
    handler: usize,
    mask: LibcMask,
    flags: c_int,
    restorer: usize,
}

/// `sigset_t` of glibc; only the first word has meaning on Linux.
type LibcMask = [u64; 16];

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    /// Another name of signal(2) in glibc.
    fn ssignal(signal: c_int, handler: usize) -> usize;
}

/// Signals that glibc keeps for itself (SIGCANCEL, SIGSETXID).
const LIBC_SIGNALS: core::ops::RangeInclusive<i32> = 32..=33;

fn fail(error: Errno) -> c_int {
    // SAFETY: libc gives every thread of the program its errno; the maintenance task never gets here.
    unsafe { *__errno_location() = error.0 };
    -1
}

fn open_to_traps(mask: u64) -> u64 {
    let reserved = os::signal_bit(32) | os::signal_bit(33);
    let trap = if handlers::owns_trap() { os::signal_bit(SIGTRAP) } else { 0 };
    mask & !(reserved | trap)
}

/// Installs an action and returns the one before, as the program sees them.
fn change_action(signal: c_int, new: Option<SignalAction>) -> Result<SignalAction, Errno> {
    if !(1..=64).contains(&signal) || LIBC_SIGNALS.contains(&signal) {
        return Err(EINVAL);
    }
    if signal == SIGTRAP && handlers::owns_trap() {
        let old = PROGRAM_TRAP.get();
        if let Some(new) = new {
            PROGRAM_TRAP.set(&new);
        }
        return Ok(old);
    }
    let new = new.map(|action| SignalAction {
        flags: action.flags | os::SA_RESTORER,
        restorer: arch::restorer(),
        mask: if handlers::owns_trap() {
            action.mask & !os::signal_bit(SIGTRAP)
        } else {
            action.mask
        },
        ..action
    });
    // SAFETY: the handler is the program's promise to sigaction(2).
    let old = unsafe { os::signal_action(signal, new.as_ref())? };
    Ok(handlers::visible_action(old))
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
                old.flags = (before.flags & !os::SA_RESTORER) as c_int;
                old.restorer = before.restorer;
            }
            0
        }
        Err(error) => fail(error),
    }
}

/// signal(2), which glibc does itself but for SIGTRAP.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    if signal == SIGTRAP && handlers::owns_trap() {
        let old = PROGRAM_TRAP.get();
        let mask = os::signal_bit(SIGTRAP);
        PROGRAM_TRAP.set(&SignalAction { handler, flags: os::SA_RESTART, restorer: 0, mask });
        return old.handler;
    }
    // SAFETY: the handler is the program's promise to signal(2).
    let old = unsafe { ssignal(signal, handler) };
    if handlers::is_log_handler(old) { os::SIG_DFL } else { old }
}

fn change_mask(how: c_int, new: *const u64, old: *mut u64) -> Result<(), Errno> {
    // SAFETY: the callers below were promised valid pointers.
    let new =
        unsafe { new.as_ref() }.map(|&mask| if how == 1 { mask } else { open_to_traps(mask) });
    let before = os::signal_mask(how, new)?;
    // SAFETY: as above. Only the first word of glibc's sigset_t has meaning.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = before;
    }
    Ok(())
}

/// sigprocmask(2).
///
/// # Safety
/// The pointers must be null or valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sigprocmask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    match change_mask(how, new, old) {
        Ok(()) => 0,
        Err(error) => fail(error),
    }
}

/// pthread_sigmask(3).
///
/// # Safety
/// The pointers must be null or valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn pthread_sigmask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    match change_mask(how, new, old) {
        Ok(()) => 0,
        Err(error) => error.0,
    }
}

/// sigblock(3) and sigsetmask(3), whose masks have 32 signals.
fn change_old_mask(how: c_int, mask: c_int) -> c_int {
    let new = open_to_traps(u64::from(mask.cast_unsigned()));
    match os::signal_mask(how, Some(new)) {
        Ok(before) => before as c_int,
        Err(error) => fail(error),
    }
}

/// sigblock(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn sigblock(mask: c_int) -> c_int {
    change_old_mask(0, mask)
}

/// sigsetmask(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn sigsetmask(mask: c_int) -> c_int {
    change_old_mask(2, mask)
}

/// A mask that the kernel may set for the time of a wait.
///
/// # Safety
/// The pointer must be null or valid.
unsafe fn for_waiting(mask: *const LibcMask) -> Option<LibcMask> {
    // SAFETY: the caller's promise.
    let mut mask = *unsafe { mask.as_ref() }?;
    mask[0] = open_to_traps(mask[0]);
    Some(mask)
}

fn pointer(mask: Option<&LibcMask>) -> *const LibcMask {
    mask.map_or(core::ptr::null(), core::ptr::from_ref)
}

fn result_of(result: isize) -> c_int {
    if result < 0 { fail(Errno(-result as i32)) } else { result as c_int }
}

/// sigsuspend(2).
///
/// # Safety
/// The pointer must be valid.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn sigsuspend(mask: *const LibcMask) -> c_int {
    static NEXT: Next = Next::new(c"sigsuspend");
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        let mask = for_waiting(mask);
        match NEXT.get() {
            Some(next) => {
                let next: unsafe extern "C" fn(*const LibcMask) -> c_int =
                    core::mem::transmute(next);
                next(pointer(mask.as_ref()))
            }
            None => {
                let arguments = [pointer(mask.as_ref()) as usize, 8, 0, 0, 0, 0];
                result_of(arch::syscall(arch::nr::RT_SIGSUSPEND, arguments))
            }
        }
    }
}

/// ppoll(2).
///
/// # Safety
/// As the function it stands for.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ppoll(
    entries: *mut c_void,
    count: u64,
    timeout: *const [u64; 2],
    mask: *const LibcMask,
) -> c_int {
    static NEXT: Next = Next::new(c"ppoll");
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        let mask = for_waiting(mask);
        let mask = pointer(mask.as_ref());
        match NEXT.get() {
            Some(next) => {
                let next: unsafe extern "C" fn(
                    *mut c_void,
                    u64,
                    *const [u64; 2],
                    *const LibcMask,
                ) -> c_int = core::mem::transmute(next);
                next(entries, count, timeout, mask)
            }
            None => {
                // The kernel writes the time left; ppoll(3) does not.
                let mut left = timeout.as_ref().copied();
                let left = left.as_mut().map_or(os::null(), core::ptr::from_mut);
                let arguments =
                    [entries as usize, count as usize, left as usize, mask as usize, 8, 0];
                result_of(arch::syscall(arch::nr::PPOLL, arguments))
            }
        }
    }
}

/// pselect(2).
///
/// # Safety
/// As the function it stands for.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut c_void,
    write: *mut c_void,
    except: *mut c_void,
    timeout: *const [u64; 2],
    mask: *const LibcMask,
) -> c_int {
    static NEXT: Next = Next::new(c"pselect");
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        let mask = for_waiting(mask);
        let mask = pointer(mask.as_ref());
        match NEXT.get() {
            Some(next) => {
                let next: unsafe extern "C" fn(
                    c_int,
                    *mut c_void,
                    *mut c_void,
                    *mut c_void,
                    *const [u64; 2],
                    *const LibcMask,
                ) -> c_int = core::mem::transmute(next);
                next(count, read, write, except, timeout, mask)
            }
            None => {
                let mut left = timeout.as_ref().copied();
                let left = left.as_mut().map_or(os::null(), core::ptr::from_mut);
                // The kernel takes mask and size through one pointer.
                let pair = [mask as usize, 8];
                let arguments = [
                    count as usize,
                    read as usize,
                    write as usize,
                    except as usize,
                    left as usize,
                    pair.as_ptr() as usize,
                ];
                result_of(arch::syscall(arch::nr::PSELECT6, arguments))
            }
        }
    }
}

/// epoll_pwait(2).
///
/// # Safety
/// As the function it stands for.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn epoll_pwait(
    descriptor: c_int,
    events: *mut c_void,
    count: c_int,
    timeout: c_int,
    mask: *const LibcMask,
) -> c_int {
    static NEXT: Next = Next::new(c"epoll_pwait");
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        let mask = for_waiting(mask);
        let mask = pointer(mask.as_ref());
        match NEXT.get() {
            Some(next) => {
                let next: unsafe extern "C" fn(
                    c_int,
                    *mut c_void,
                    c_int,
                    c_int,
                    *const LibcMask,
                ) -> c_int = core::mem::transmute(next);
                next(descriptor, events, count, timeout, mask)
            }
            None => {
                let arguments = [
                    descriptor as usize,
                    events as usize,
                    count as usize,
                    timeout as usize,
                    mask as usize,
                    8,
                ];
                result_of(arch::syscall(arch::nr::EPOLL_PWAIT, arguments))
            }
        }
    }
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
