//! What is done with the descriptors of clocks, which the crate that opens them gives as numbers.

use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

// PERF_EVENT_IOC_PERIOD of linux/perf_event.h.
nix::ioctl_write_ptr!(perf_event_ioc_period, b'$', 4, u64);

/// Starts an interval of so many nanoseconds on the clock with this descriptor, in place of the one
/// that runs.
///
/// # Errors
/// What ioctl(2) reports.
pub fn start_period(clock: RawFd, nanoseconds: u64) -> io::Result<()> {
    // SAFETY: the kernel reads eight bytes through the pointer during the call, of a value that
    // lives until it returns.
    unsafe { perf_event_ioc_period(clock, &raw const nanoseconds) }?;
    Ok(())
}

/// Where a thread's list of robust mutexes begins (get_robust_list(2)), which glibc keeps in the
/// thread's descriptor.
pub fn robust_list(tid: u32) -> Option<u64> {
    let (mut head, mut bytes) = (0_u64, 0_u64);
    // SAFETY: the kernel writes a word through each pointer during the call, to values that live
    // until it returns.
    let result = unsafe {
        nix::libc::syscall(
            nix::libc::SYS_get_robust_list,
            i64::from(tid),
            &raw mut head,
            &raw mut bytes,
        )
    };
    (result == 0).then_some(head)
}

/// Waits until one of these clocks has something to report, a signal comes, or the time is up.
/// Returns the clocks whose threads have ended.
///
/// # Errors
/// What poll(2) reports.
pub fn wait(clocks: &[RawFd], timeout: Duration) -> io::Result<Vec<RawFd>> {
    // SAFETY: the caller holds the clocks, whose descriptors stay open while this function runs.
    let borrow = |&clock: &RawFd| unsafe { BorrowedFd::borrow_raw(clock) };
    let mut descriptors: Vec<PollFd<'_>> =
        clocks.iter().map(|clock| PollFd::new(borrow(clock), PollFlags::POLLIN)).collect();
    let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
    match poll(&mut descriptors, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let hung_up = |descriptor: &PollFd<'_>| {
        descriptor.revents().is_some_and(|events| events.contains(PollFlags::POLLHUP))
    };
    let ended = clocks.iter().zip(&descriptors).filter(|(_, descriptor)| hung_up(descriptor));
    Ok(ended.map(|(&clock, _)| clock).collect())
}

/// As many descriptors as this process may ever have, until this is dropped. Children that begin
/// meanwhile would inherit it.
pub struct MoreDescriptors {
    before: rlim_t,
    most: rlim_t,
}

impl MoreDescriptors {
    /// Raises the soft limit to the hard one; `None` where the system says no.
    pub fn take() -> Option<Self> {
        let (before, most) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most).ok()?;
        Some(Self { before, most })
    }
}

impl Drop for MoreDescriptors {
    fn drop(&mut self) {
        // A limit below what is open is allowed.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, self.before, self.most);
    }
}
