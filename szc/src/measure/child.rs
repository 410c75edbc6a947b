//! Runs one child process to its end and returns its cost: the only unsafe room of measuring.
//!
//! - Cost comes from `wait4(2)`, so it is that of exactly this child and the
//!   descendants it waited for, never of an earlier run.
//! - One thread polls the child's pidfd, stdout and stderr: output is consumed
//!   as it comes, so a child never blocks on a full pipe, and no thread of ours
//!   competes with it otherwise.
//! - The child is forked, not spawned by `vfork`: Linux carries the peak RSS of
//!   the address space that called `execve` over into the child's own, and after
//!   `vfork` that would be ours. [`Usage::max_rss_kib`] still has a floor of 2 MiB (`peak`).
//! - The child stays in our process group, so that Ctrl-C reaches it from the terminal.

mod bases;
pub mod guardian;
mod peak;
mod probe;
mod slice;
mod start;

pub use self::bases::limit_at_exec;
pub use self::probe::{grants_slices, has_code_membarrier};

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;
use sha2::{Digest, Sha256};

use super::descendants::kill_all;
use super::pipe::{Pipe, STDERR_TAIL_BYTES, STDOUT_TAIL_BYTES, Tail};
use crate::measure::stop::Stop;
use crate::samples::Sample;
use crate::samples::design::{Addresses, PlannedRun};

/// The longest sleep between two looks at [`Stop`]: a signal may be delivered
/// just before the poll starts.
const POLL_LIMIT: Duration = Duration::from_millis(200);

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// Program (looked up in PATH) and arguments.
    pub argv: &'a [String],
    /// Variables set over the inherited environment.
    pub environment: &'a [(&'a str, &'a OsStr)],
    /// Kill the child and its descendants after this long.
    pub timeout: Option<Duration>,
    /// Where to run it, unless in our own folder.
    pub folder: Option<&'a Path>,
    /// Let the child run on this CPU only.
    pub cpu: Option<usize>,
    /// How long the scheduler lets it run while others wait, where the kernel can be asked.
    pub slice: Option<Duration>,
    /// Where its addresses begin, if not where the kernel likes.
    pub addresses: Option<Addresses>,
    /// Set by whoever no longer wants the result: kills the child and its descendants.
    pub abandoned: Option<&'a AtomicBool>,
}

impl<'a> Invocation<'a> {
    /// Of these words, with all the rest as it is here.
    #[must_use]
    pub fn new(argv: &'a [String]) -> Self {
        Self {
            argv,
            environment: &[],
            timeout: None,
            folder: None,
            cpu: None,
            slice: None,
            addresses: None,
            abandoned: None,
        }
    }
}

/// How the child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned this exit status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// We killed it when its time was up.
    TimedOut,
}

/// What the kernel accounts to the child and the descendants it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode.
    pub user_us: u64,
    /// CPU time in the kernel.
    pub sys_us: u64,
    /// Peak resident memory of the largest process among them; values up to
    /// about the anonymous memory of this process (1–2 MiB) are its, not theirs.
    pub max_rss_kib: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because its time slice ended.
    pub involuntary_switches: u64,
    /// Blocks of 512 bytes that it made dirty on a disk.
    pub blocks_written: u64,
    /// How long the child's first thread could have run and waited for a processor; 0 where the
    /// kernel does not say.
    pub queued_ns: u64,
}

/// One finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Process id it had.
    pub pid: u32,
    /// How it ended.
    pub end: End,
    /// From before the fork to the exit, by the monotonic clock.
    pub wall_ns: u64,
    /// Cost.
    pub usage: Usage,
    /// SHA-256 of all of stdout, lower-case hexadecimal.
    pub stdout_sha256: String,
    /// Length of stdout.
    pub stdout_bytes: u64,
    /// The end of stdout, at most 64 KiB.
    pub stdout_tail: Vec<u8>,
    /// The end of stderr, at most 4 KiB.
    pub stderr_tail: Vec<u8>,
}

impl Outcome {
    /// The sample of a run that was planned so, without figures of instruments and of the runtime.
    #[must_use]
    pub fn sample(&self, run: PlannedRun) -> Sample {
        let usage = self.usage;
        Sample {
            block: run.block,
            position: run.position,
            program: run.program,
            seed: run.seed,
            wall_ns: self.wall_ns,
            user_us: usage.user_us,
            sys_us: usage.sys_us,
            max_rss_kib: usage.max_rss_kib,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            stdout_sha256: self.stdout_sha256.clone(),
            ..Sample::default()
        }
    }
}

/// Runs a program to its end with stdin from `/dev/null`.
///
/// A first request in `stop` lets the child finish (SIGTERM and SIGHUP are passed on to it);
/// a second one, or the end of its time, kills it and its descendants.
///
/// # Errors
/// When the program cannot be started or watched; a program that fails is an
/// [`Outcome`]. No child is left behind.
pub fn run(invocation: &Invocation<'_>, stop: &Stop) -> io::Result<Outcome> {
    let (program, arguments) =
        invocation.argv.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(invocation.environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(folder) = invocation.folder {
        command.current_dir(folder);
    }
    let affinity = invocation.cpu.map(only_cpu).transpose()?;
    let (slice, addresses) = (invocation.slice, invocation.addresses);
    let preparation = addresses.map_or(Ok(None), bases::preparation)?;
    let text = peak::Text::of_this_process();
    let prepare = move || {
        guardian::note_own_start();
        if let Some(set) = &affinity {
            sched_setaffinity(Pid::from_raw(0), set)?;
        }
        if let Some(slice) = slice {
            slice::ask_for(slice);
        }
        addresses.map_or(Ok(()), |_| bases::prepare(preparation))?;
        peak::begin_again(&text);
        Ok(())
    };
    // SAFETY: the closure makes system calls and allocates nothing, so it is safe between fork and
    // exec; its presence is what makes the standard library fork, not vfork.
    unsafe { command.pre_exec(prepare) };

    peak::trim();
    let started = Instant::now();
    let mut child = command.spawn()?;
    let released = match preparation {
        Some(preparation) => bases::release(child.id().cast_signed(), preparation),
        None => Ok(()),
    };
    let watched = released.and_then(|()| watch(&mut child, started, invocation, stop));
    if watched.is_err() {
        guardian::note_end(child.id().cast_signed());
        // Not reaped yet, or `watch` would have succeeded: the id is still the child's.
        let _ = child.kill();
        let _ = child.wait();
    }
    watched
}

fn only_cpu(cpu: usize) -> io::Result<CpuSet> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(set)
}

/// The CPUs that this process may use, and so its children, by number.
///
/// # Errors
/// What `sched_getaffinity(2)` reports.
pub fn usable_cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).collect())
}

fn watch(
    child: &mut Child,
    started: Instant,
    invocation: &Invocation<'_>,
    stop: &Stop,
) -> io::Result<Outcome> {
    let is_abandoned = || invocation.abandoned.is_some_and(|flag| flag.load(Ordering::Relaxed));
    let pid = child.id();
    let raw_pid = i32::try_from(pid).map_err(io::Error::other)?;
    let exited = open_pidfd(raw_pid)?;
    let mut stdout = Pipe::new(child.stdout.take())?;
    let mut stderr = Pipe::new(child.stderr.take())?;
    let mut hash = Sha256::new();
    let mut stdout_bytes = 0;
    let mut stdout_tail = Tail::new(STDOUT_TAIL_BYTES);
    let mut stderr_tail = Tail::new(STDERR_TAIL_BYTES);
    let mut buffer = vec![0; 1 << 16];

    let mut timed_out = false;
    let mut passed_on = false;
    let wall = loop {
        let left = invocation.timeout.map(|limit| limit.saturating_sub(started.elapsed()));
        if left == Some(Duration::ZERO) && !timed_out {
            timed_out = true;
            kill_all(raw_pid);
        }
        match stop.signal().and_then(|signal| Signal::try_from(signal).ok()) {
            _ if is_abandoned() => kill_all(raw_pid),
            Some(_) if stop.insists() => kill_all(raw_pid),
            Some(signal @ (Signal::SIGTERM | Signal::SIGHUP)) if !passed_on => {
                passed_on = true;
                kill(Pid::from_raw(raw_pid), signal)?;
            }
            _ => {}
        }
        let patience =
            left.filter(|left| !left.is_zero()).map_or(POLL_LIMIT, |left| left.min(POLL_LIMIT));
        let ready =
            poll_readable([exited.as_raw_fd(), stdout.raw_fd(), stderr.raw_fd()], patience)?;
        if ready[0] {
            break started.elapsed();
        }
        if ready[1] {
            stdout.read_some(&mut buffer, |bytes| {
                hash.update(bytes);
                stdout_tail.push(bytes);
                stdout_bytes += bytes.len() as u64;
            })?;
        }
        if ready[2] {
            stderr.read_some(&mut buffer, |bytes| stderr_tail.push(bytes))?;
        }
    };
    stdout.read_rest(&mut buffer, |bytes| {
        hash.update(bytes);
        stdout_tail.push(bytes);
        stdout_bytes += bytes.len() as u64;
    })?;
    stderr.read_rest(&mut buffer, |bytes| stderr_tail.push(bytes))?;
    // What has ended can be asked until it is reaped.
    let queued_ns = slice::queued_ns(raw_pid).unwrap_or(0);
    guardian::note_end(raw_pid);
    let (status, usage) = reap(raw_pid)?;
    let end = match (status.code(), status.signal()) {
        (_, Some(_)) if timed_out => End::TimedOut,
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(0)),
    };
    Ok(Outcome {
        pid,
        end,
        wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
        usage: Usage { queued_ns, ..usage },
        stdout_sha256: format!("{:x}", hash.finalize()),
        stdout_bytes,
        stdout_tail: stdout_tail.into_bytes(),
        stderr_tail: stderr_tail.into_bytes(),
    })
}

fn open_pidfd(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes two integers and touches no memory of ours.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        let error = io::Error::last_os_error();
        return Err(io::Error::new(
            error.kind(),
            format!("pidfd_open: {error}; Linux 5.3 or newer is needed"),
        ));
    }
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the kernel has just given us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until one of the descriptors is readable or closed (negative ones are
/// skipped). An interruption by a signal counts as nothing being ready.
fn poll_readable(descriptors: [i32; 3], patience: Duration) -> io::Result<[bool; 3]> {
    let mut entries = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let milliseconds = i32::try_from(patience.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: the pointer and the count 3 describe `entries`, which outlives the call.
    let count = unsafe { libc::poll(entries.as_mut_ptr(), 3, milliseconds) };
    if count < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok([false; 3]),
            _ => Err(error),
        };
    }
    Ok(entries.map(|entry| entry.revents != 0))
}

/// CPU time of all children that were waited for, and of theirs.
pub(crate) fn cpu_ns_of_children() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let time = usage.user_time() + usage.system_time();
    u64::try_from(time.num_microseconds() * 1000).ok()
}

fn reap(pid: i32) -> io::Result<(ExitStatus, Usage)> {
    let mut status = 0;
    // SAFETY: rusage is plain integers, for which all zeroes is a value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live locals of the types wait4 writes.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut raw) } == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let microseconds = |time: libc::timeval| count(time.tv_sec) * 1_000_000 + count(time.tv_usec);
    let usage = Usage {
        user_us: microseconds(raw.ru_utime),
        sys_us: microseconds(raw.ru_stime),
        max_rss_kib: count(raw.ru_maxrss),
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
        blocks_written: count(raw.ru_oublock),
        queued_ns: 0,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests;
