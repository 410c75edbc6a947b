//! The system calls of the runtime, made directly: usable in a signal handler and on a task that
//! libc does not know. `errno` is never touched.

mod clock;
mod errno;
mod file;
pub mod limits;
mod lock;
mod mapped_file;
pub mod mappings;
mod memory;
mod owned;
pub mod pages;
mod process;
mod signals;
pub mod tasks;

use crate::arch::{nr, syscall};
pub use clock::*;
use errno::check;
pub use errno::{EFBIG, EINTR, EINVAL, ENOSPC, Errno};
pub use file::*;
pub use limits::{
    LIMIT_ADDRESS_BYTES, LIMIT_FILE_BYTES, limit, look_at_memory_limits, memory_is_limited,
    memory_limits_were_set, memory_ran_out,
};
pub use lock::*;
pub use mapped_file::map_file;
pub use memory::*;
pub use owned::{Array, Mapping, Shared};
pub use process::*;
pub use signals::*;

/// Random bytes from the kernel as a number.
pub fn random_u64() -> Result<u64, Errno> {
    let mut bytes = [0u8; 8];
    // SAFETY: the buffer has eight bytes.
    check(unsafe { syscall(nr::GETRANDOM, [bytes.as_mut_ptr() as usize, 8, 0, 0, 0, 0]) })?;
    Ok(u64::from_le_bytes(bytes))
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
