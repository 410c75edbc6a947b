//! Limits of the process, and what the kernel does to the mapping of the main thread's stack.
//!
//! Sources: `prlimit(2)`, `madvise(2)`, `mincore(2)`; Linux `mm/mmap.c`, `acct_stack_growth`.

use super::errno::{Errno, check};
use super::memory::PAGE_BYTES;
use super::process::{is_remembered_process, remember_process};
use crate::arch::{nr, syscall};
use core::sync::atomic::{AtomicBool, Ordering};

/// Largest file the process may write, in bytes.
pub const LIMIT_FILE_BYTES: usize = 1;
/// Most private writable memory, in bytes.
pub const LIMIT_DATA_BYTES: usize = 2;
/// Largest stack of the main thread, in bytes.
pub const LIMIT_STACK_BYTES: usize = 3;
/// Largest address space of the process, in bytes.
pub const LIMIT_ADDRESS_BYTES: usize = 9;

/// No limit (`RLIM_INFINITY`).
pub const UNLIMITED: u64 = u64::MAX;

/// A limit: what holds, and what it may be raised to (`struct rlimit64`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Limits {
    /// What holds; [`UNLIMITED`] if nothing does.
    pub soft: u64,
    /// The most that the process may set.
    pub hard: u64,
}

/// `prlimit(2)`: what was, after setting what is to be. `process` 0 is the caller's.
pub fn exchange_limits(
    process: i32,
    resource: usize,
    new: Option<&Limits>,
) -> Result<Limits, Errno> {
    let mut old = Limits { soft: UNLIMITED, hard: UNLIMITED };
    let new = new.map_or(0, |limits| core::ptr::from_ref(limits) as usize);
    let arguments = [process as usize, resource, new, (&raw mut old) as usize, 0, 0];
    // SAFETY: both pointers are to limits of the kernel's shape, or null.
    check(unsafe { syscall(nr::PRLIMIT64, arguments) })?;
    Ok(old)
}

/// What holds of a limit of this process, in its unit; `usize::MAX` if nothing does.
pub fn limit(resource: usize) -> usize {
    exchange_limits(0, resource, None).map_or(usize::MAX, |limits| limits.soft as usize)
}

/// Whether what the process may map is limited, touched or not: as of the last look, because under
/// a system call filter another might be the last thing that the program does. A fact by itself: no
/// order needed. (A child that shares the memory, as that of vfork(2) does, has limits of its own.)
static MEMORY_IS_LIMITED: AtomicBool = AtomicBool::new(false);

/// Whether what the process may map is limited, as far as is known.
pub fn memory_is_limited() -> bool {
    MEMORY_IS_LIMITED.load(Ordering::Relaxed)
}

/// Looks at what the process may map: at start.
pub fn look_at_memory_limits() {
    remember_process();
    memory_limits_were_set();
}

/// The process has set a limit on what it may map.
pub fn memory_limits_were_set() {
    if is_remembered_process() {
        let limited = [LIMIT_ADDRESS_BYTES, LIMIT_DATA_BYTES]
            .into_iter()
            .any(|each| limit(each) != usize::MAX);
        MEMORY_IS_LIMITED.store(limited, Ordering::Relaxed);
    }
}

/// The kernel had no more to map, for whatever reason.
pub fn memory_ran_out() {
    MEMORY_IS_LIMITED.store(true, Ordering::Relaxed);
}

/// Touches 16 bytes at `address` from inside the kernel, which extends a stack that may grow that
/// far, and says so if it may not, where the program itself would get a SIGSEGV.
///
/// # Safety
/// The bytes must belong to nobody: they are overwritten.
pub unsafe fn reach(address: usize) -> bool {
    let monotonic = 1;
    // SAFETY: the kernel writes a struct timespec there or returns EFAULT; the bytes are unused.
    let result = unsafe { syscall(nr::CLOCK_GETTIME, [monotonic, address, 0, 0, 0, 0]) };
    check(result).is_ok()
}

/// Whether nothing is mapped in the page at `address`, a multiple of the page size.
pub fn is_unmapped(address: usize) -> bool {
    let mut resident = [0u8; 1];
    let arguments = [address, PAGE_BYTES, resident.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: the vector has a byte for the one page.
    check(unsafe { syscall(nr::MINCORE, arguments) }) == Err(Errno(12)) // ENOMEM
}

/// Gives a range small pages only, as the kernel gives a stack that grows page by page.
pub fn use_small_pages(start: usize, end: usize) {
    let no_huge_page = 15;
    // SAFETY: changes only how the kernel backs the range.
    unsafe { syscall(nr::MADVISE, [start, end - start, no_huge_page, 0, 0, 0]) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_may_not_be_touched_is_reported_and_not_fatal() {
        use crate::os::{MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MAP_PRIVATE, PROT_READ, PROT_WRITE};
        // Far below where the kernel puts mappings by itself: other threads' tests would take the
        // page that becomes free.
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
        // SAFETY: the test's own mapping, where nothing is; its second page is never used.
        unsafe {
            let memory =
                crate::os::map(1 << 30, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
            let memory = memory.unwrap() as usize;
            assert!(reach(memory));
            assert!(!is_unmapped(memory + PAGE_BYTES));
            crate::os::unmap((memory + PAGE_BYTES) as *mut u8, PAGE_BYTES);
            assert!(is_unmapped(memory + PAGE_BYTES));
            assert!(!reach(memory + PAGE_BYTES));
        }
    }

    #[test]
    fn limits_are_those_that_libc_reports() {
        unsafe extern "C" {
            fn getrlimit(resource: i32, limits: *mut Limits) -> i32;
        }
        let mut expected = Limits { soft: 0, hard: 0 };
        // SAFETY: the pointer is to a struct rlimit.
        assert_eq!(unsafe { getrlimit(LIMIT_STACK_BYTES as i32, &raw mut expected) }, 0);
        assert_eq!(exchange_limits(0, LIMIT_STACK_BYTES, None), Ok(expected));
    }
}
