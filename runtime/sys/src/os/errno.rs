//! Error numbers, as system calls answer them.

/// An error number of the kernel (positive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// A signal came meanwhile.
pub const EINTR: Errno = Errno(4);
/// Invalid argument.
pub const EINVAL: Errno = Errno(22);
/// A file would be larger than the process may make it.
pub const EFBIG: Errno = Errno(27);
/// No room on the disk.
pub const ENOSPC: Errno = Errno(28);

/// What a system call that answered `result` gives.
pub(super) fn check(result: isize) -> Result<usize, Errno> {
    if result < 0 {
        Err(Errno(i32::try_from(-result).unwrap_or(i32::MAX)))
    } else {
        Ok(result.cast_unsigned())
    }
}
