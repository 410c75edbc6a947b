//! System calls that are made here themselves: libc's forms set errno, and some of them are where a
//! thread can be cancelled.

use core::arch::asm;

use libc::{CLOCK_MONOTONIC, TIMER_ABSTIME, timespec};

const SECOND_NS: u64 = 1_000_000_000;

/// # Safety
/// As the system call itself.
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers rax, rcx and r11 only; the rest is the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result
}

/// The monotonic clock, which programs read without the kernel.
pub fn now_ns() -> u64 {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to the place that it is given, and does nothing else.
    unsafe { libc::clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned() * SECOND_NS + time.tv_nsec.cast_unsigned()
}

/// Sleeps, or for less if a signal comes.
pub fn sleep_until(deadline_ns: u64) {
    let time = timespec {
        tv_sec: (deadline_ns / SECOND_NS).cast_signed(),
        tv_nsec: (deadline_ns % SECOND_NS).cast_signed(),
    };
    let arguments =
        [CLOCK_MONOTONIC as usize, TIMER_ABSTIME as usize, (&raw const time) as usize, 0, 0, 0];
    // SAFETY: the time is read during the call.
    unsafe { call(libc::SYS_clock_nanosleep, arguments) };
}

/// Reads words of this process's memory, if it can be read.
pub fn read_words<const N: usize>(address: u64) -> Option<[u64; N]> {
    let mut words = [0; N];
    let own = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: 8 * N };
    let other = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: 8 * N };
    let arguments =
        [process_id() as usize, (&raw const own) as usize, 1, (&raw const other) as usize, 1, 0];
    // SAFETY: it writes to the words; what it reads it checks by itself.
    let read = unsafe { call(libc::SYS_process_vm_readv, arguments) };
    (read == (8 * N).cast_signed()).then_some(words)
}

/// The process.
pub fn process_id() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { call(libc::SYS_getpid, [0; 6]) as u32 }
}

/// The thread.
pub fn thread_id() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { call(libc::SYS_gettid, [0; 6]) as u32 }
}

/// Sends a signal to this thread.
pub fn raise(signal: i32) {
    let arguments = [process_id() as usize, thread_id() as usize, signal as usize, 0, 0, 0];
    // SAFETY: no memory is involved.
    unsafe { call(libc::SYS_tgkill, arguments) };
}

/// Ends the process as abort(3) does.
pub fn abort() -> ! {
    loop {
        raise(libc::SIGKILL);
    }
}
