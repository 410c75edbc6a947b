//! The file that a link makes: whether the linker wrote it, and what is left of it if a later step
//! fails.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Tells whether a file has been written since.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    inode: (u64, u64),
    modified_ns: (i64, i64),
    changed_ns: (i64, i64),
}

impl Fingerprint {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Fingerprint {
            inode: (metadata.dev(), metadata.ino()),
            modified_ns: (metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Links of configure scripts go to `/dev/null`, and linkers make other formats too.
pub(super) fn is_elf(path: &Path) -> bool {
    begins_with(path, *b"\x7fELF")
}

/// Whether this is a regular file whose first bytes are these.
pub(super) fn begins_with(path: &Path, magic: [u8; 4]) -> bool {
    let mut start = [0; 4];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == magic
}

/// make would take an incomplete image for a finished one. The error at hand says more than a
/// failure to remove it could.
pub(super) fn remove_unless<T>(image: &Path, result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.inspect_err(|_| {
        let _ = fs::remove_file(image);
    })
}
