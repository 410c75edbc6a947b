//! Functions of libc that the runtime stands in for where frames have pads. No logic beyond what
//! the manual pages say.
//!
//! The driver gives them their real names (`szc_abi::STACK_EXPORT_PREFIX`); those that go on in
//! libc's own definition only in programs in which it can be found behind them
//! (`szc_abi::SHARED_STACK_EXPORT_PREFIX`). Those that tell of other stacks, or of limits, are
//! there in programs whose code moves, too (`szc_abi::FRAMES_EXPORT_PREFIX`).

use super::region::{self, Region};
use super::{room, threads};
use crate::arch::{self, nr, pads::stack_pointer};
use crate::code::reclaim::stacks::{self, Blocked};
use crate::exports::{fail, returned};
use crate::fork;
use crate::os::limits::{LIMIT_ADDRESS_BYTES, LIMIT_DATA_BYTES, LIMIT_STACK_BYTES, Limits};
use crate::os::{Errno, memory_limits_were_set};
use core::ffi::{c_int, c_void};
use threads::{Attributes, CREATE, GET_STACK, StartRoutine, Thread};

/// Resource temporarily unavailable.
const EAGAIN: c_int = 11;

/// Function not implemented.
const ENOSYS: c_int = 38;

/// `thrd_success` and `thrd_error` of C11, as glibc numbers them.
const THREAD_SUCCESS: c_int = 0;
const THREAD_ERROR: c_int = 2;

/// pthread_create(3).
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_stack_pthread_create(
    thread: *mut Thread,
    attributes: *const Attributes,
    start: StartRoutine,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        if threads::create(thread, attributes, start, argument) {
            return 0;
        }
        let Some(next) = CREATE.get() else { return EAGAIN };
        next(thread, attributes, start, argument)
    }
}

/// thrd_create(3). Its threads differ from those of pthread_create(3) in that their start routine
/// returns an `int`, of which thrd_join(3) reads no more than that.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_stack_thrd_create(
    thread: *mut Thread,
    start: StartRoutine,
    argument: *mut c_void,
) -> c_int {
    use crate::next::THRD_CREATE as NEXT;
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        if threads::create(thread, core::ptr::null(), start, argument) {
            return THREAD_SUCCESS;
        }
        let Some(next) = NEXT.get() else { return THREAD_ERROR };
        next(thread, start, argument)
    }
}

/// pthread_getattr_np(3): programs learn here how deep they may recurse. glibc answers for the main
/// thread by the stack limit, which is not what it has.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_stack_pthread_getattr_np(
    thread: Thread,
    attributes: *mut Attributes,
) -> c_int {
    use crate::next::PTHREAD_ATTR_SETSTACK as SET_STACK;
    use crate::next::PTHREAD_GETATTR_NP as NEXT;
    let Some(next) = NEXT.get() else { return ENOSYS };
    // SAFETY: the caller's promise; the functions of these names have these types.
    unsafe {
        let result = next(thread, attributes);
        let lowest = room::lowest().filter(|_| result == 0 && room::is_of_main(thread));
        if let (Some(lowest), Some(get), Some(set)) = (lowest, GET_STACK.get(), SET_STACK.get()) {
            let (mut start, mut bytes) = (0, 0);
            if get(attributes, &raw mut start, &raw mut bytes) == 0 && start > lowest {
                set(attributes, lowest, start + bytes - lowest);
            }
        }
        result
    }
}

/// mlockall(2): room for pads would become resident memory. There is none from now on.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_stack_mlockall(flags: c_int) -> c_int {
    room::give_up();
    threads::stop();
    // SAFETY: changes no contents of memory.
    returned(unsafe { arch::syscall(nr::MLOCKALL, [flags as usize, 0, 0, 0, 0, 0]) })
}

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
            region::exclude(Region { low: new.start, end });
            stacks::set_signal_stack(new.start, end);
        } else {
            stacks::set_signal_stack(0, 0);
        }
    }
    0
}

/// _Fork(3): announced as fork(3) is, which does not come here.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_frames__Fork() -> c_int {
    use crate::next::FORK as NEXT;
    let Some(next) = NEXT.get() else { return fail(Errno(ENOSYS)) };
    // SAFETY: as in C.
    let make = || unsafe { next() };
    if fork::are_wanted() { fork::announced(|| make() as isize) as c_int } else { make() }
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
    use crate::next::MAKECONTEXT as NEXT;
    stacks::block(Blocked::Contexts);
    // SAFETY: the caller's promise.
    let stack = unsafe { &(*context).stack };
    region::exclude(Region { low: stack.start, end: stack.start.saturating_add(stack.bytes) });
    NEXT.address().unwrap_or(0)
}

/// Before clone(2): a child that shares the memory may run on a stack inside this thread's own, of
/// which only the end is known, with this thread's pad state. Where to go on.
pub extern "C" fn before_clone(start: usize, stack_end: usize, flags: usize) -> usize {
    if fork::is_separate(start, stack_end, flags) {
        return fork::announced_clone as *const () as usize;
    }
    stacks::block(Blocked::Child);
    region::exclude(Region { low: stack_pointer().min(stack_end), end: stack_end });
    fork::next_clone() as usize
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
            LIMIT_STACK_BYTES => room::reserve_was_raised(),
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
