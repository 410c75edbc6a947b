//! The system calls of the runtime, made directly: usable in a signal handler and on a task that
//! libc does not know. `errno` is never touched.

mod file;
pub mod limits;
mod lock;
pub mod mappings;
mod memory;
mod owned;
mod signals;
pub mod tasks;

use crate::arch::{nr, syscall};
use core::ffi::CStr;
use core::ptr::null_mut;
pub use file::*;
pub use limits::{
    LIMIT_ADDRESS_BYTES, LIMIT_FILE_BYTES, limit, look_at_memory_limits, memory_is_limited,
    memory_limits_were_set, memory_ran_out, remember_limited_process,
};
pub use lock::*;
pub use memory::*;
pub use owned::{Array, Mapping, Shared};
pub use signals::*;

/// An error number of the kernel (positive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// A signal came meanwhile.
pub const EINTR: Errno = Errno(4);
/// Invalid argument.
pub const EINVAL: Errno = Errno(22);
/// A file would be larger than the process may make it.
pub const EFBIG: Errno = Errno(27);
/// No room on the disk.
pub const ENOSPC: Errno = Errno(28);

fn check(result: isize) -> Result<usize, Errno> {
    if result < 0 {
        Err(Errno(i32::try_from(-result).unwrap_or(i32::MAX)))
    } else {
        Ok(result.cast_unsigned())
    }
}

/// Ends the process at once.
pub fn exit_group(code: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(nr::EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Ends the calling task only. If it is the last one, the code is the process's.
pub fn exit_task(code: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(nr::EXIT, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Process number.
pub fn process_id() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { syscall(nr::GETPID, [0; 6]) as u32 }
}

/// Sends a signal to the calling thread.
pub fn raise(signal: i32) {
    // SAFETY: no memory is involved.
    unsafe {
        let thread = syscall(nr::GETTID, [0; 6]).cast_unsigned();
        syscall(nr::TKILL, [thread, signal as usize, 0, 0, 0, 0]);
    }
}

/// Whether the process has no child of any kind (`__WALL`), alive or not yet reaped.
pub fn has_no_child() -> bool {
    let mut info = [0u64; 16]; // siginfo_t has 128 bytes
    let (any, exited_nohang_nowait_wall) = (0, 4 | 1 | 0x0100_0000 | 0x4000_0000);
    let arguments = [any, 0, info.as_mut_ptr() as usize, exited_nohang_nowait_wall, 0, 0];
    // SAFETY: the buffer is as large as siginfo_t.
    check(unsafe { syscall(nr::WAITID, arguments) }) == Err(Errno(10)) // ECHILD
}

/// End of the heap that `brk(2)` manages.
pub fn heap_end() -> usize {
    // SAFETY: 0 changes nothing.
    unsafe { syscall(nr::BRK, [0; 6]).cast_unsigned() }
}

/// Random bytes from the kernel as a number.
pub fn random_u64() -> Result<u64, Errno> {
    let mut bytes = [0u8; 8];
    // SAFETY: the buffer has eight bytes.
    check(unsafe { syscall(nr::GETRANDOM, [bytes.as_mut_ptr() as usize, 8, 0, 0, 0, 0]) })?;
    Ok(u64::from_le_bytes(bytes))
}

/// The monotonic clock in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the buffer is a struct timespec.
    unsafe { syscall(nr::CLOCK_GETTIME, [1, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Sleeps until the monotonic clock shows `deadline_ns`.
pub fn sleep_until(deadline_ns: u64) {
    let time = [deadline_ns / 1_000_000_000, deadline_ns % 1_000_000_000];
    let absolute = 1;
    // SAFETY: the buffer is a struct timespec.
    while check(unsafe {
        syscall(nr::CLOCK_NANOSLEEP, [1, absolute, time.as_ptr() as usize, 0, 0, 0])
    }) == Err(EINTR)
    {}
}

/// Current directory, with the NUL, as a part of `buffer`.
pub fn current_directory(buffer: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the buffer is valid for writing.
    check(unsafe { syscall(nr::GETCWD, [buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0, 0]) })
}

/// Makes `/` the directory of the calling task.
pub fn leave_directory() {
    // SAFETY: the path is a NUL-terminated string.
    unsafe { syscall(nr::CHDIR, [c"/".as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Closes every descriptor of the calling task's table.
pub fn close_all() -> Result<(), Errno> {
    // SAFETY: only called where the table belongs to the task alone.
    check(unsafe { syscall(nr::CLOSE_RANGE, [0, u32::MAX as usize, 0, 0, 0, 0]) }).map(drop)
}

/// Names the calling task.
pub fn set_task_name(name: &CStr) {
    let set_name = 15;
    // SAFETY: the name is a NUL-terminated string.
    unsafe { syscall(nr::PRCTL, [set_name, name.as_ptr() as usize, 0, 0, 0, 0]) };
}

/// Makes sleeps of the calling task end when they should, instead of up to 50 microseconds later.
pub fn sleep_exactly() {
    let set_timer_slack = 29;
    // SAFETY: no memory is involved.
    unsafe { syscall(nr::PRCTL, [set_timer_slack, 1, 0, 0, 0, 0]) };
}

const MEMBARRIER_SYNC_CORE: usize = 1 << 5;
const MEMBARRIER_REGISTER_SYNC_CORE: usize = 1 << 6;

/// Registers for [`synchronize_cores`]; cheap while the process has one thread.
pub fn register_core_synchronization() -> Result<(), Errno> {
    // SAFETY: no memory is involved.
    check(unsafe { syscall(nr::MEMBARRIER, [MEMBARRIER_REGISTER_SYNC_CORE, 0, 0, 0, 0, 0]) })
        .map(drop)
}

/// Makes every thread of the process execute a serializing instruction before it runs on: code
/// written before is what they fetch after.
///
/// The calling thread is one of them since Linux 5.11. Before, it relies on processors comparing
/// what they store with what they fetch by physical address, as they do.
pub fn synchronize_cores() {
    // SAFETY: no memory is involved. Registered at start, so the only failure is a seccomp filter
    // installed since; x86 instruction fetch is coherent enough that the entry protocol then rests
    // on the ordering of stores alone.
    unsafe { syscall(nr::MEMBARRIER, [MEMBARRIER_SYNC_CORE, 0, 0, 0, 0, 0]) };
}

/// A null pointer of any type.
pub const fn null<T>() -> *mut T {
    null_mut()
}
