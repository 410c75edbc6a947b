//! Files by descriptors that close themselves.

use super::errno::{EINTR, Errno, check};
use crate::arch::{nr, syscall};
use core::ffi::CStr;

/// `O_RDONLY | O_CLOEXEC`.
pub const OPEN_READ: usize = 0o2_000_000;
/// `O_RDWR | O_CLOEXEC`.
pub const OPEN_READ_WRITE: usize = 0o2_000_002;
/// `O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC`.
pub const OPEN_APPEND: usize = 0o2_002_101;
/// `O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC`.
const OPEN_NEW: usize = 0o2_400_302;
/// `O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC`.
const OPEN_OWN: usize = 0o2_402_001;

/// A file descriptor that is closed when it goes out of scope.
pub struct File(i32);

impl File {
    /// `open(2)`; new files get mode 0666 less the umask, and links are followed: for names that
    /// the user gave.
    pub fn open(path: &CStr, flags: usize) -> Result<Self, Errno> {
        Self::open_with(path, flags, 0o666)
    }

    fn open_with(path: &CStr, flags: usize, mode: usize) -> Result<Self, Errno> {
        // SAFETY: the path is a NUL-terminated string.
        let result = unsafe { syscall(nr::OPEN, [path.as_ptr() as usize, flags, mode, 0, 0, 0]) };
        check(result).map(|descriptor| Self(descriptor as i32))
    }

    /// Makes a file that is this user's alone, in place of an older one of that name: for names
    /// that can be foreseen, in a folder that others can write to. No link is followed, and nothing
    /// that another user has put there is written to.
    ///
    /// # Errors
    /// Among others, the name is another user's and may not be taken away.
    pub fn create_own(path: &CStr) -> Result<Self, Errno> {
        unlink(path);
        Self::open_with(path, OPEN_NEW, 0o600)
    }

    /// Opens a file of [`Self::create_own`] to add to it.
    ///
    /// # Errors
    /// Among others, the name leads to a file that is not this user's.
    pub fn append_own(path: &CStr) -> Result<Self, Errno> {
        const EACCES: Errno = Errno(13);
        let file = Self::open_with(path, OPEN_OWN, 0)?;
        // SAFETY: no memory is involved.
        let user = unsafe { syscall(nr::GETEUID, [0; 6]) };
        // st_mode and st_uid are the halves of the word at 24.
        let owner = file.stat()?[3] >> 32;
        if owner == user as u64 { Ok(file) } else { Err(EACCES) }
    }

    /// `memfd_create(2)`, close-on-exec, `bytes` long.
    pub fn memory(name: &CStr, bytes: usize) -> Result<Self, Errno> {
        // SAFETY: the name is a NUL-terminated string.
        let result = unsafe { syscall(nr::MEMFD_CREATE, [name.as_ptr() as usize, 1, 0, 0, 0, 0]) };
        let file = check(result).map(|descriptor| Self(descriptor as i32))?;
        file.set_size(bytes)?;
        Ok(file)
    }

    /// `ftruncate(2)`, without the signal (`SIGXFSZ`) where the limit on the size of files is
    /// lower.
    pub fn set_size(&self, bytes: usize) -> Result<(), Errno> {
        if bytes > super::limit(super::LIMIT_FILE_BYTES) {
            return Err(super::errno::EFBIG);
        }
        // SAFETY: no memory is involved.
        check(unsafe { syscall(nr::FTRUNCATE, [self.0 as usize, bytes, 0, 0, 0, 0]) }).map(drop)
    }

    /// Whether its content may be mapped for execution: it lies on no file system without
    /// (`noexec`).
    pub fn can_be_executed(&self) -> bool {
        let protection = super::PROT_READ | super::PROT_EXEC;
        // SAFETY: without MAP_FIXED nothing existing is touched.
        let mapped = unsafe {
            super::map(0, super::PAGE_BYTES, protection, super::MAP_SHARED, self.descriptor(), 0)
        };
        if let Ok(mapped) = mapped {
            // SAFETY: mapped a moment ago, used by nobody.
            unsafe { super::unmap(mapped, super::PAGE_BYTES) };
        }
        mapped.is_ok()
    }

    /// The number, for `map`.
    pub fn descriptor(&self) -> i32 {
        self.0
    }

    /// Size in bytes (`st_size` of `fstat(2)`).
    pub fn size(&self) -> Result<usize, Errno> {
        Ok(self.stat()?[6] as usize)
    }

    /// Inode number (`st_ino` of `fstat(2)`).
    pub fn inode(&self) -> Result<u64, Errno> {
        Ok(self.stat()?[1])
    }

    /// `struct stat` in words.
    fn stat(&self) -> Result<[u64; 18], Errno> {
        let mut stat = [0u64; 18]; // it has 144 bytes; st_ino is the word at 8, st_size that at 48
        // SAFETY: the buffer is as large as struct stat.
        check(unsafe {
            syscall(nr::FSTAT, [self.0 as usize, stat.as_mut_ptr() as usize, 0, 0, 0, 0])
        })?;
        Ok(stat)
    }

    /// Reads up to the buffer's length.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let arguments = [self.0 as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the buffer is valid for writing.
        check(unsafe { syscall(nr::READ, arguments) })
    }

    /// Reads up to the buffer's length, from an offset on.
    pub fn read_at(&self, buffer: &mut [u64], offset: usize) -> Result<usize, Errno> {
        let (to, bytes) = (buffer.as_mut_ptr() as usize, size_of_val(buffer));
        // SAFETY: the buffer is valid for writing.
        check(unsafe { syscall(nr::PREAD64, [self.0 as usize, to, bytes, offset, 0, 0]) })
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

/// `unlink(2)`, of a file that may be there.
pub fn unlink(path: &CStr) {
    // SAFETY: the path is a NUL-terminated string.
    unsafe { syscall(nr::UNLINK, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// `link(2)`.
pub fn link(from: &CStr, to: &CStr) -> Result<(), Errno> {
    let arguments = [from.as_ptr() as usize, to.as_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: both paths are NUL-terminated strings.
    check(unsafe { syscall(nr::LINK, arguments) }).map(drop)
}

/// `readlink(2)`: where a link leads, as a part of `buffer`.
pub fn read_link<'a>(path: &CStr, buffer: &'a mut [u8]) -> Result<&'a [u8], Errno> {
    let (name, to) = (path.as_ptr() as usize, buffer.as_mut_ptr() as usize);
    // SAFETY: the path is a NUL-terminated string, and the buffer valid for writing.
    let bytes = check(unsafe { syscall(nr::READLINK, [name, to, buffer.len(), 0, 0, 0]) })?;
    Ok(buffer.get(..bytes).unwrap_or_default())
}

/// Writes to standard error.
pub fn write_error(bytes: &[u8]) {
    let stderr = core::mem::ManuallyDrop::new(File(2));
    let _ = stderr.write(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::{Path, PathBuf};

    /// A folder that is gone when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("szc-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn c(path: &Path) -> CString {
        CString::new(path.as_os_str().as_bytes()).unwrap()
    }

    #[test]
    fn a_file_under_a_name_that_can_be_foreseen_is_the_users_alone_and_never_a_links_target() {
        let folder = Folder::new("own-file");
        let (path, target) = (folder.0.join("map"), folder.0.join("target"));
        std::fs::write(&target, "precious").unwrap();
        symlink(&target, &path).unwrap();
        assert!(File::append_own(&c(&path)).is_err(), "it is a link");
        File::create_own(&c(&path)).unwrap().write(b"one\n").unwrap();
        File::append_own(&c(&path)).unwrap().write(b"two\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        assert_eq!(std::fs::read(&target).unwrap(), b"precious");
        File::create_own(&c(&path)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"", "an older one is replaced");
    }
}
