//! The system calls of the runtime, made directly: usable in a signal handler and on a task that
//! libc does not know. `errno` is never touched.

use crate::arch::{self, nr, syscall};
use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

/// An error number of the kernel (positive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// No such process or child.
pub const EINTR: Errno = Errno(4);
/// Invalid argument.
pub const EINVAL: Errno = Errno(22);
/// `O_RDONLY | O_CLOEXEC`.
pub const OPEN_READ: usize = 0o2_000_000;
/// `O_RDWR | O_CLOEXEC`.
pub const OPEN_READ_WRITE: usize = 0o2_000_002;
/// `O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC`.
pub const OPEN_APPEND: usize = 0o2_002_101;

pub const PROT_NONE: usize = 0;
pub const PROT_READ: usize = 1;
pub const PROT_WRITE: usize = 2;
pub const PROT_EXEC: usize = 4;
pub const MAP_SHARED: usize = 1;
pub const MAP_PRIVATE: usize = 2;
pub const MAP_FIXED: usize = 0x10;
pub const MAP_ANONYMOUS: usize = 0x20;
pub const MAP_NORESERVE: usize = 0x4000;
pub const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

/// Bytes of a page; x86-64 has no other base size.
pub const PAGE_BYTES: usize = 4096;

fn check(result: isize) -> Result<usize, Errno> {
    if result < 0 {
        Err(Errno(i32::try_from(-result).unwrap_or(i32::MAX)))
    } else {
        Ok(result.cast_unsigned())
    }
}

/// `mmap(2)`.
///
/// # Safety
/// With `MAP_FIXED` whatever was mapped there is gone; the caller must own that range.
pub unsafe fn map(
    address: usize,
    bytes: usize,
    protection: usize,
    flags: usize,
    descriptor: i32,
    offset: usize,
) -> Result<*mut u8, Errno> {
    let descriptor = descriptor as isize as usize;
    // SAFETY: the caller's promise covers MAP_FIXED; otherwise the kernel picks unused addresses.
    let result =
        unsafe { syscall(nr::MMAP, [address, bytes, protection, flags, descriptor, offset]) };
    check(result).map(|address| address as *mut u8)
}

/// Private zeroed memory that takes space only where it is touched.
pub fn map_anonymous(bytes: usize) -> Result<*mut u8, Errno> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: without MAP_FIXED nothing existing is touched.
    unsafe { map(0, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) }
}

/// `munmap(2)`.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn unmap(address: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { syscall(nr::MUNMAP, [address as usize, bytes, 0, 0, 0, 0]) };
}

/// `mprotect(2)`.
///
/// # Safety
/// Users of the range must agree with the new protection.
pub unsafe fn protect(address: *mut u8, bytes: usize, protection: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    check(unsafe { syscall(nr::MPROTECT, [address as usize, bytes, protection, 0, 0, 0]) })
        .map(drop)
}

/// Leaves a range out of core dumps (`MADV_DONTDUMP`).
pub fn leave_out_of_dumps(address: *mut u8, bytes: usize) {
    let dont_dump = 16;
    // SAFETY: changes only what a core dump holds.
    unsafe { syscall(nr::MADVISE, [address as usize, bytes, dont_dump, 0, 0, 0]) };
}

/// Memory that a forked child finds zeroed (`MADV_WIPEONFORK`).
pub fn map_wiped_on_fork(bytes: usize) -> Result<*mut u8, Errno> {
    let memory = map_anonymous(bytes)?;
    let wipe_on_fork = 18;
    // SAFETY: our own mapping of a moment ago.
    check(unsafe { syscall(nr::MADVISE, [memory as usize, bytes, wipe_on_fork, 0, 0, 0]) })?;
    Ok(memory)
}

/// Largest file the process may write, in bytes.
pub const LIMIT_FILE_BYTES: usize = 1;
/// Largest address space of the process, in bytes.
pub const LIMIT_ADDRESS_BYTES: usize = 9;

/// A soft limit of the process (`prlimit(2)`); `usize::MAX` if there is none.
pub fn limit(resource: usize) -> usize {
    let mut limits = [u64::MAX; 2];
    // SAFETY: the buffer is a struct rlimit64.
    unsafe { syscall(nr::PRLIMIT64, [0, resource, 0, limits.as_mut_ptr() as usize, 0, 0]) };
    limits[0] as usize
}

/// A file descriptor that is closed when it goes out of scope.
pub struct File(i32);

impl File {
    /// `open(2)`; new files get mode 0666 less the umask.
    pub fn open(path: &CStr, flags: usize) -> Result<Self, Errno> {
        // SAFETY: the path is a NUL-terminated string.
        let result = unsafe { syscall(nr::OPEN, [path.as_ptr() as usize, flags, 0o666, 0, 0, 0]) };
        check(result).map(|descriptor| Self(descriptor as i32))
    }

    /// `memfd_create(2)`, close-on-exec, `bytes` long.
    pub fn memory(name: &CStr, bytes: usize) -> Result<Self, Errno> {
        // SAFETY: the name is a NUL-terminated string.
        let result = unsafe { syscall(nr::MEMFD_CREATE, [name.as_ptr() as usize, 1, 0, 0, 0, 0]) };
        let file = check(result).map(|descriptor| Self(descriptor as i32))?;
        // SAFETY: no memory is involved.
        check(unsafe { syscall(nr::FTRUNCATE, [file.0 as usize, bytes, 0, 0, 0, 0]) })?;
        Ok(file)
    }

    /// The number, for `map`.
    pub fn descriptor(&self) -> i32 {
        self.0
    }

    /// Size in bytes (`st_size` of `fstat(2)`).
    pub fn size(&self) -> Result<usize, Errno> {
        let mut stat = [0u64; 18]; // struct stat has 144 bytes; st_size is the word at 48
        // SAFETY: the buffer is as large as struct stat.
        check(unsafe {
            syscall(nr::FSTAT, [self.0 as usize, stat.as_mut_ptr() as usize, 0, 0, 0, 0])
        })?;
        Ok(stat[6] as usize)
    }

    /// Reads up to the buffer's length.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let arguments = [self.0 as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the buffer is valid for writing.
        check(unsafe { syscall(nr::READ, arguments) })
    }

    /// Writes all bytes, or as many as the file takes.
    pub fn write(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            let arguments = [self.0 as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0];
            // SAFETY: the bytes are valid for reading.
            match check(unsafe { syscall(nr::WRITE, arguments) }) {
                Ok(0) => return Err(Errno(5)),
                Ok(written) => bytes = bytes.get(written..).unwrap_or(&[]),
                Err(EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes at an offset. Through `/proc/self/mem` the offset is an address.
    ///
    /// # Safety
    /// If the file is `/proc/self/mem`, changing those bytes must be sound.
    pub unsafe fn write_at(&self, bytes: &[u8], offset: usize) -> Result<(), Errno> {
        let arguments = [self.0 as usize, bytes.as_ptr() as usize, bytes.len(), offset, 0, 0];
        // SAFETY: the caller's promise.
        let written = check(unsafe { syscall(nr::PWRITE64, arguments) })?;
        if written == bytes.len() { Ok(()) } else { Err(Errno(5)) }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and used by nobody else.
        unsafe { syscall(nr::CLOSE, [self.0 as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Writes to standard error.
pub fn write_error(bytes: &[u8]) {
    let stderr = core::mem::ManuallyDrop::new(File(2));
    let _ = stderr.write(bytes);
}

/// Ends the process at once.
pub fn exit_group(code: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(nr::EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Ends the calling task only.
pub fn exit_task() -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(nr::EXIT, [0; 6]) };
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

/// Whether the process has no child, alive or not yet reaped.
pub fn has_no_child() -> bool {
    let mut info = [0u64; 16]; // siginfo_t has 128 bytes
    let (any, exited_nohang_nowait) = (0, 4 | 1 | 0x0100_0000);
    let arguments = [any, 0, info.as_mut_ptr() as usize, exited_nohang_nowait, 0, 0];
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
/// The calling thread is one of them since Linux 5.11. Before, it relies on processors comparing what
/// they store with what they fetch by physical address, as they do.
pub fn synchronize_cores() {
    // SAFETY: no memory is involved. Registered at start, so the only failure is a seccomp filter
    // installed since; x86 instruction fetch is coherent enough that the entry protocol then rests
    // on the ordering of stores alone.
    unsafe { syscall(nr::MEMBARRIER, [MEMBARRIER_SYNC_CORE, 0, 0, 0, 0, 0]) };
}

/// A signal action as the kernel has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalAction {
    pub handler: usize,
    pub flags: u64,
    pub restorer: usize,
    pub mask: u64,
}

impl SignalAction {
    /// `SIG_DFL`.
    pub const DEFAULT: Self = Self { handler: 0, flags: 0, restorer: 0, mask: 0 };
}

pub const SIG_DFL: usize = 0;
pub const SA_SIGINFO: u64 = 4;
pub const SA_RESTORER: u64 = 0x0400_0000;
pub const SA_RESETHAND: u64 = 0x8000_0000;

/// `rt_sigaction(2)`; returns the action before.
///
/// # Safety
/// The new handler, if any, must be a function of the right shape.
pub unsafe fn signal_action(
    signal: i32,
    new: Option<&SignalAction>,
) -> Result<SignalAction, Errno> {
    let mut old = SignalAction::DEFAULT;
    let new = new.map_or(0, |action| core::ptr::from_ref(action) as usize);
    let arguments = [signal as usize, new, (&raw mut old) as usize, 8, 0, 0];
    // SAFETY: both pointers are to kernel-shaped actions; the handler is the caller's promise.
    check(unsafe { syscall(nr::RT_SIGACTION, arguments) })?;
    Ok(old)
}

/// `rt_sigprocmask(2)`; returns the mask before. `how`: 0 block, 1 unblock, 2 set.
pub fn signal_mask(how: i32, new: Option<u64>) -> Result<u64, Errno> {
    let mut old = 0u64;
    let value = new.unwrap_or(0);
    let new = if new.is_some() { (&raw const value) as usize } else { 0 };
    // SAFETY: both pointers are to masks of eight bytes.
    check(unsafe {
        syscall(nr::RT_SIGPROCMASK, [how as usize, new, (&raw mut old) as usize, 8, 0, 0])
    })?;
    Ok(old)
}

/// Waits while `*word == expected`, at most about `timeout_ns`. May return early.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout_ns: u64, shared: bool) {
    let time = [timeout_ns / 1_000_000_000, timeout_ns % 1_000_000_000];
    let operation = if shared { 0 } else { 128 };
    let arguments =
        [word.as_ptr() as usize, operation, expected as usize, time.as_ptr() as usize, 0, 0];
    // SAFETY: the word outlives the call; the timeout is a struct timespec.
    unsafe { syscall(nr::FUTEX, arguments) };
}

/// Wakes up to `count` waiters.
pub fn futex_wake(word: &AtomicU32, count: u32, shared: bool) {
    let operation = if shared { 1 } else { 129 };
    // SAFETY: the kernel only uses the address.
    unsafe { syscall(nr::FUTEX, [word.as_ptr() as usize, operation, count as usize, 0, 0, 0]) };
}

/// A lock for handlers and the maintenance task. Waiters sleep in the kernel.
///
/// The states are free, held, held with waiters (Drepper, "Futexes are tricky", mutex 2).
pub struct Lock(AtomicU32);

impl Lock {
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Runs `action` while holding the lock.
    pub fn with<T>(&self, action: impl FnOnce() -> T) -> T {
        self.acquire();
        let result = action();
        self.release();
        result
    }

    /// Takes the lock; every acquire must meet a release.
    pub fn acquire(&self) {
        for _ in 0..100 {
            // Acquire: pairs with the release store below; what the last holder wrote is visible.
            if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
            arch::relax();
        }
        while self.0.swap(2, Ordering::Acquire) != 0 {
            futex_wait(&self.0, 2, 1_000_000_000, false);
        }
    }

    /// Gives the lock back.
    pub fn release(&self) {
        // Release: pairs with the acquire above.
        if self.0.swap(0, Ordering::Release) == 2 {
            futex_wake(&self.0, 1, false);
        }
    }

    /// Frees the lock in a forked child, where its holder does not exist.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// `MAP_SHARED` memory that a parent and its forked child both see.
pub fn map_shared(bytes: usize) -> Result<*mut u8, Errno> {
    // SAFETY: without MAP_FIXED nothing existing is touched.
    unsafe { map(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) }
}

/// A null pointer of any type.
pub const fn null<T>() -> *mut T {
    null_mut()
}
