//! The process and the calling task: numbers, signals, directory, descriptors, and their end.

use super::errno::{Errno, check};
use crate::arch::{nr, syscall};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

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

/// The process whose memory this is: a child that shares it (vfork) has another number.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Notes that the memory is the calling process's: at start, and in a forked child.
pub fn remember_process() {
    OWNER.store(process_id(), Ordering::Relaxed);
}

/// Whether the memory is the calling process's, and not that of its parent (vfork).
pub fn is_remembered_process() -> bool {
    OWNER.load(Ordering::Relaxed) == process_id()
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
