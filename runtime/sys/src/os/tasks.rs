//! What the kernel tells about the threads of this process, without disturbing them.
//!
//! Sources: `proc(5)` (`/proc/pid/task`, `/proc/pid/status`), `proc_pid_syscall(5)`,
//! `getdents64(2)`, `get_robust_list(2)`, `process_vm_readv(2)`; Linux `fs/proc/base.c`,
//! `proc_task_readdir`.

use super::{Errno, File, OPEN_READ, check, process_id};
use crate::arch::{nr, syscall};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use szc_abi::text::{Buffer, parse_decimal, parse_hexadecimal};

/// What has a folder for each thread of this process.
const TASK_DIRECTORY: &CStr = c"/proc/self/task";

/// `O_DIRECTORY`.
const DIRECTORY: usize = 0o200_000;

/// No such file: the thread has ended.
const ENOENT: Errno = Errno(2);
/// No such process: the thread is ending.
const ESRCH: Errno = Errno(3);
/// Bad address.
pub const EFAULT: Errno = Errno(14);

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It waits in the kernel.
    Waits(Wait),
    /// It runs, waits for a processor, or waits for a page.
    Runs,
    /// It has ended.
    Ended,
    /// The kernel does not tell.
    Hidden,
}

/// A thread that waits in a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Number of the system call.
    pub call: usize,
    /// Stack pointer of the caller.
    pub stack_pointer: usize,
    /// Where the caller goes on.
    pub program_counter: usize,
    /// How often the thread has stopped running in its life: as long as that stays the same, and
    /// the thread waits, it has not run.
    pub stops: u64,
}

/// What a thread of this process does.
pub fn look_at(thread: u32) -> Doing {
    match stops(thread).and_then(|stops| call(thread).map(|call| (stops, call))) {
        Ok((stops, Some(wait))) => Doing::Waits(Wait { stops, ..wait }),
        Ok((_, None)) => Doing::Runs,
        Err(ending) => ending,
    }
}

/// Whether a thread that [`look_at`] found waiting has not run since, and still waits.
///
/// The number of stops is read first there and last here: a thread that ran in between and waits
/// again has stopped once more.
pub fn has_waited_since(thread: u32, before: &Wait) -> bool {
    let call = call(thread);
    call == Ok(Some(Wait { stops: 0, ..*before })) && stops(thread) == Ok(before.stops)
}

/// How often a thread has stopped running.
fn stops(thread: u32) -> Result<u64, Doing> {
    let mut buffer = [0; 4096];
    let status = read(thread, b"/status", &mut buffer)?;
    if matches!(field(status, b"State:"), Some(b"Z" | b"X")) {
        return Err(Doing::Ended);
    }
    let count = |name| field(status, name).and_then(parse_decimal).ok_or(Doing::Hidden);
    Ok(count(b"voluntary_ctxt_switches:")? + count(b"nonvoluntary_ctxt_switches:")?)
}

/// The system call in which a thread waits, with 0 stops; nothing if it waits in none.
fn call(thread: u32) -> Result<Option<Wait>, Doing> {
    let mut buffer = [0; 256];
    read(thread, b"/syscall", &mut buffer).map(waiting)
}

/// Number of system call filters (seccomp) that hold for a thread.
pub fn filters(thread: u32) -> Option<u64> {
    let mut buffer = [0; 4096];
    let status = read(thread, b"/status", &mut buffer).ok()?;
    // Kernels before 5.9 tell only whether there are any.
    field(status, b"Seccomp_filters:")
        .or_else(|| field(status, b"Seccomp:"))
        .and_then(parse_decimal)
}

/// A line `CALL ARGUMENT… STACK_POINTER PROGRAM_COUNTER`, of a thread that is in a system call.
fn waiting(line: &[u8]) -> Option<Wait> {
    let mut words = line.trim_ascii().split(|&byte| byte == b' ');
    // "running", or "-1" for a thread that waits elsewhere.
    let call = parse_decimal(words.next()?)? as usize;
    let (mut stack_pointer, mut program_counter) = (None, None);
    for word in words {
        (stack_pointer, program_counter) = (program_counter, Some(word));
    }
    Some(Wait {
        call,
        stack_pointer: hexadecimal(stack_pointer?)?,
        program_counter: hexadecimal(program_counter?)?,
        stops: 0,
    })
}

/// The first word behind a name at the start of a line.
fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name))?;
    value.trim_ascii().split(|&byte| byte == b' ').next()
}

fn hexadecimal(word: &[u8]) -> Option<usize> {
    parse_hexadecimal(word.strip_prefix(b"0x")?).map(|value| value as usize)
}

/// Reads a file about a thread; the error is what it says about the thread.
fn read<'a>(thread: u32, file: &[u8], buffer: &'a mut [u8]) -> Result<&'a [u8], Doing> {
    let ending = |error| if matches!(error, ENOENT | ESRCH) { Doing::Ended } else { Doing::Hidden };
    let mut path = Buffer::<64>::new();
    path.push(TASK_DIRECTORY.to_bytes()).text("/").decimal(u64::from(thread)).push(file);
    let path = path.as_c_str().ok_or(Doing::Hidden)?;
    let file = File::open(path, OPEN_READ).map_err(ending)?;
    let length = file.read(buffer).map_err(ending)?;
    buffer.get(..length).ok_or(Doing::Hidden)
}

/// Number of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { syscall(nr::GETTID, [0; 6]) as u32 }
}

/// Whether a task of this process has that number.
pub fn exists(task: u32) -> bool {
    let arguments = [process_id() as usize, task as usize, 0, 0, 0, 0];
    // SAFETY: no signal is sent.
    unsafe { syscall(nr::TGKILL, arguments) == 0 }
}

/// A set of processors, as the kernel gives it. (Of the first 1,024: if there are more it is left
/// alone.)
pub struct Processors {
    bits: [AtomicU64; 16],
    bytes: AtomicUsize,
}

impl Default for Processors {
    fn default() -> Self {
        Self::new()
    }
}

impl Processors {
    /// None.
    pub const fn new() -> Self {
        Self { bits: [const { AtomicU64::new(0) }; 16], bytes: AtomicUsize::new(0) }
    }

    /// Becomes those that a task may run on.
    pub fn read(&self, task: u32) {
        let arguments =
            [task as usize, size_of_val(&self.bits), self.bits.as_ptr() as usize, 0, 0, 0];
        // SAFETY: the kernel writes to the words, which are atomic.
        let bytes = unsafe { syscall(nr::SCHED_GETAFFINITY, arguments) };
        self.bytes.store(usize::try_from(bytes).unwrap_or(0), Ordering::Relaxed);
    }

    /// Lets a task run on these, if they are known.
    pub fn give(&self, task: u32) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        if bytes != 0 && task != 0 {
            let arguments = [task as usize, bytes, self.bits.as_ptr() as usize, 0, 0, 0];
            // SAFETY: the kernel reads the words.
            unsafe { syscall(nr::SCHED_SETAFFINITY, arguments) };
        }
    }
}

/// Writes the numbers of all threads that live on from before the call until after it into `to`;
/// others may be among them. Returns how many were written.
///
/// The kernel lists threads in the order of their creation, and stops early if the thread it has
/// come to ends. A list that has as many threads as there were before is whole: either it is the
/// same threads, or it has a younger one, in front of which all older ones stand. That holds for
/// one call of getdents64(2), so there must be room in `buffer` for all: nothing if there is not,
/// or if the list ended early.
pub fn threads(to: &mut [u32], buffer: &mut [u8]) -> Option<usize> {
    let before = thread_count()?;
    let directory = File::open(TASK_DIRECTORY, OPEN_READ | DIRECTORY).ok()?;
    let arguments =
        [directory.descriptor() as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
    // SAFETY: the buffer is valid for writing its length.
    let bytes = check(unsafe { syscall(nr::GETDENTS64, arguments) }).ok()?;
    let mut rest = buffer.get(..bytes)?;
    let mut count = 0;
    // struct linux_dirent64: inode, offset (8 bytes each), length of the record (2), type, name.
    while let (Some(&low), Some(&high)) = (rest.get(16), rest.get(17)) {
        let length = usize::from(u16::from_le_bytes([low, high]));
        let name = rest.get(19..length)?;
        let end = name.iter().position(|&byte| byte == 0)?;
        if let Some(thread) = parse_decimal(&name[..end]) {
            *to.get_mut(count)? = thread as u32;
            count += 1;
        }
        rest = rest.get(length..)?;
    }
    (count >= before).then_some(count)
}

/// Number of threads of this process.
pub fn thread_count() -> Option<usize> {
    let mut buffer = [0; 4096];
    let status = read(process_id(), b"/status", &mut buffer).ok()?;
    field(status, b"Threads:").and_then(parse_decimal).map(|count| count as usize)
}

/// Address of what glibc has told the kernel about a thread of this process (`get_robust_list(2)`):
/// a part of the thread's descriptor, which lies above its stack. 0 if that thread is not libc's.
///
/// # Errors
/// There is no such thread, or the kernel does not tell.
pub fn robust_list(thread: u32) -> Result<usize, Errno> {
    let (mut head, mut bytes) = (0usize, 0usize);
    let arguments = [thread as usize, (&raw mut head) as usize, (&raw mut bytes) as usize, 0, 0, 0];
    // SAFETY: both pointers are to words.
    check(unsafe { syscall(nr::GET_ROBUST_LIST, arguments) }).map(|_| head)
}

/// Copies memory of this process that may not be mapped, or may not be readable.
///
/// # Errors
/// [`EFAULT`] if not even the first byte can be read; others if the kernel does not allow it.
pub fn read_memory(address: usize, buffer: &mut [u64]) -> Result<usize, Errno> {
    let bytes = size_of_val(buffer);
    let local = [buffer.as_mut_ptr() as usize, bytes];
    let remote = [address, bytes];
    let (local, remote) = (local.as_ptr() as usize, remote.as_ptr() as usize);
    // The first thread of the process, whose number is the process's, may have ended.
    let arguments = [thread_id() as usize, local, 1, remote, 1, 0];
    // SAFETY: the kernel writes to the buffer alone, and reports what it cannot read.
    check(unsafe { syscall(nr::PROCESS_VM_READV, arguments) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_of_the_kernel_are_read_as_proc_5_says() {
        let line = b"230 0x0 0x0 0x7ffd 0x7ffe 0x0 0x0 0x7ffde0cb2588 0x7ff2802c4503\n";
        let wait = Wait {
            call: 230,
            stack_pointer: 0x7ffd_e0cb_2588,
            program_counter: 0x7ff2_802c_4503,
            stops: 0,
        };
        assert_eq!(waiting(line), Some(wait));
        assert_eq!(waiting(b"running\n"), None);
        assert_eq!(waiting(b"-1 0x7ffde0cb2588 0x7ff2802c4503\n"), None);
        assert_eq!(waiting(b"230\n"), None);
        assert_eq!(field(b"Name:\ta\nState:\tS (sleeping)\n", b"State:"), Some(&b"S"[..]));
    }

    #[test]
    fn a_thread_that_waits_is_seen_on_its_stack_below_its_descriptor() {
        let (id_sender, id) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let local = 7u8;
            id_sender.send((thread_id(), (&raw const local) as usize)).unwrap();
            let _ = ended.recv();
        });
        let (id, local) = id.recv().unwrap();
        let wait = loop {
            if let Doing::Waits(wait) = look_at(id) {
                break wait;
            }
            std::thread::yield_now();
        };
        assert!(wait.stack_pointer < local, "{wait:x?}");
        assert!(has_waited_since(id, &wait), "it has not run");
        assert!(!has_waited_since(id, &Wait { stops: wait.stops + 1, ..wait }));
        let descriptor = robust_list(id).unwrap();
        assert!(descriptor > local, "{descriptor:x}");
        let mut stack = vec![0u64; (descriptor - wait.stack_pointer) / 8];
        assert_eq!(read_memory(wait.stack_pointer, &mut stack), Ok(stack.len() * 8));
        let (mut list, mut buffer) = ([0; 4096], vec![0; 1 << 16]);
        let found = (0..1000).find_map(|_| threads(&mut list, &mut buffer)).unwrap();
        assert!(list[..found].contains(&id) && list[..found].contains(&thread_id()));
        end.send(()).unwrap();
        thread.join().unwrap();
        // The thread's number may stay for a moment.
        while look_at(id) != Doing::Ended {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_runs_does_not_wait() {
        use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
        static ID: AtomicU32 = AtomicU32::new(0);
        static END: AtomicBool = AtomicBool::new(false);
        let thread = std::thread::spawn(|| {
            ID.store(thread_id(), Ordering::Relaxed);
            while !END.load(Ordering::Relaxed) {
                core::hint::spin_loop();
            }
        });
        while ID.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(look_at(ID.load(Ordering::Relaxed)), Doing::Runs);
        END.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    }

    #[test]
    fn memory_that_is_not_there_is_reported() {
        assert_eq!(read_memory(8, &mut [0]), Err(EFAULT));
        assert!(filters(thread_id()).is_some());
    }
}
