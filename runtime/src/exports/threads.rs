//! Functions of libc that make threads and tell of their stacks, and the first code of a thread
//! that gets pads.
//!
//! The driver gives them their real names where frames have pads (`szc_abi::STACK_EXPORT_PREFIX`);
//! those that go on in libc's own definition only in programs in which it can be found behind them
//! (`szc_abi::SHARED_STACK_EXPORT_PREFIX`).

use super::returned;
use crate::arch::{self, nr};
use crate::next::{
    Attributes, PTHREAD_ATTR_GETSTACK, PTHREAD_ATTR_SETSTACK, PTHREAD_CREATE, PTHREAD_GETATTR_NP,
    StartRoutine, THRD_CREATE, Thread,
};
use core::arch::global_asm;
use core::ffi::{c_int, c_void};
use szc_stack::pad_reserve;
use szc_stack::threads::{self, Begin};

/// Resource temporarily unavailable.
const EAGAIN: c_int = 11;

/// Function not implemented.
const ENOSYS: c_int = 38;

/// `thrd_success` and `thrd_error` of C11, as glibc numbers them.
const THREAD_SUCCESS: c_int = 0;
const THREAD_ERROR: c_int = 2;

// First code of a thread that gets pads. It jumps to the program's start routine, so that the
// thread's frames, its ends and its result are what they would be without szc.
global_asm!(
    ".text",
    ".globl szc_rt_thread",
    ".hidden szc_rt_thread",
    ".type szc_rt_thread, @function",
    ".p2align 4",
    "szc_rt_thread:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {enter}", // rdi: what pthread_create was given; the pair comes back in rax and rdx
    "mov rdi, rdx",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "jmp rax",
    ".cfi_endproc",
    ".size szc_rt_thread, . - szc_rt_thread",
    enter = sym szc_rt_thread_enter,
);

unsafe extern "C" {
    fn szc_rt_thread(number: *mut c_void) -> *mut c_void;
}

/// Address of a thread's first code.
fn thread_start() -> usize {
    szc_rt_thread as *const () as usize
}

/// What a thread's first code asks for.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_thread_enter(number: usize) -> Begin {
    threads::enter(number)
}

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
        if threads::create(thread, attributes, start, argument, thread_start()) {
            return 0;
        }
        let Some(next) = PTHREAD_CREATE.get() else { return EAGAIN };
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
    // SAFETY: the caller's promise; the next definition has this type.
    unsafe {
        if threads::create(thread, core::ptr::null(), start, argument, thread_start()) {
            return THREAD_SUCCESS;
        }
        let Some(next) = THRD_CREATE.get() else { return THREAD_ERROR };
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
    let Some(next) = PTHREAD_GETATTR_NP.get() else { return ENOSYS };
    // SAFETY: the caller's promise; the functions of these names have these types.
    unsafe {
        let result = next(thread, attributes);
        let lowest =
            pad_reserve::lowest().filter(|_| result == 0 && pad_reserve::is_of_main(thread));
        if let (Some(lowest), Some(get), Some(set)) =
            (lowest, PTHREAD_ATTR_GETSTACK.get(), PTHREAD_ATTR_SETSTACK.get())
        {
            let (mut start, mut bytes) = (0, 0);
            if get(attributes, &raw mut start, &raw mut bytes) == 0 && start > lowest {
                set(attributes, lowest, start + bytes - lowest);
            }
        }
        result
    }
}

/// mlockall(2): the pad reserve would become resident memory. There is none from now on.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_stack_mlockall(flags: c_int) -> c_int {
    pad_reserve::give_up();
    threads::stop();
    // SAFETY: changes no contents of memory.
    returned(unsafe { arch::syscall(nr::MLOCKALL, [flags as usize, 0, 0, 0, 0, 0]) })
}
