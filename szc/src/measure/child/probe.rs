//! What the kernel grants that takes a system call to find out.

use std::time::Duration;

use nix::libc;

use super::slice;

/// `MEMBARRIER_CMD_QUERY` of membarrier(2).
const QUERY: libc::c_int = 0;

/// `MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE`.
const SYNC_CORE: i64 = 1 << 5;

/// Other than what schedulers take by themselves.
const UNUSUAL_SLICE: Duration = Duration::from_micros(7300);

/// Whether membarrier(2) can make all threads see changed code.
#[must_use]
pub fn has_code_membarrier() -> bool {
    // SAFETY: this command takes integers only, and changes nothing.
    let known = unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) };
    known > 0 && known & SYNC_CORE != 0
}

/// Whether the scheduler takes slices of a length that a thread asks for; tried on a thread of its
/// own.
#[must_use]
pub fn grants_slices() -> bool {
    let asked = || {
        slice::ask_for(UNUSUAL_SLICE);
        slice::granted() == Some(UNUSUAL_SLICE)
    };
    std::thread::spawn(asked).join().unwrap_or(false)
}
