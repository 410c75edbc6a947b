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

/// For how long the calling thread has waited for a processor.
pub fn waited_ns() -> u64 {
    let path = c"/proc/thread-self/schedstat";
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    let mut text = [0_u8; 64];
    // SAFETY: the path ends with a zero, and no more is read than there is room for.
    let read = unsafe {
        let here = libc::AT_FDCWD as usize;
        let file = call(libc::SYS_openat, [here, path.as_ptr() as usize, flags, 0, 0, 0]);
        let Ok(file) = usize::try_from(file) else { return 0 };
        let read = call(libc::SYS_read, [file, text.as_mut_ptr() as usize, text.len(), 0, 0, 0]);
        call(libc::SYS_close, [file, 0, 0, 0, 0, 0]);
        read
    };
    text.get(..read.max(0).cast_unsigned()).map_or(0, second_number)
}

/// The second one of numbers with blanks between them.
fn second_number(text: &[u8]) -> u64 {
    let second = text.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let digits = second.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
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

/// Whether there is a process with this number, as far as this one can see.
pub fn is_there(process: u32) -> bool {
    // SAFETY: no memory is involved, and no signal sent.
    let result = unsafe { call(libc::SYS_kill, [process as usize, 0, 0, 0, 0, 0]) };
    result != -(libc::ESRCH as isize)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_there_until_it_ends() {
        assert!(is_there(process_id()) && !is_there(i32::MAX.cast_unsigned()));
    }

    #[test]
    fn the_second_number_of_a_line_is_found() {
        assert_eq!(second_number(b"12 3456 7\n"), 3456);
        assert_eq!((second_number(b"12"), second_number(b"1 2\n")), (0, 2));
    }
}
