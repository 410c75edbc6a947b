//! An arena whose memory is an ELF file: for perf and others that look up names and unwind tables
//! by the files that are mapped. Files stay when the program has ended: that is when they are read.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};
use szc_abi::text::Buffer;
use szc_sys::os::{self, Errno, File, PAGE_BYTES};

/// Bytes that such a file has behind the places of an arena. In front of them it has a page, if
/// there are any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileRoom {
    /// Bytes whatever the number of places.
    pub once_bytes: usize,
    /// Bytes for each place.
    pub place_bytes: usize,
}

/// Bytes around the places of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Around {
    pub front_bytes: usize,
    pub behind_bytes: usize,
}

impl Around {
    pub fn new(room: FileRoom, places: usize) -> Self {
        if room == FileRoom::default() {
            return Self::default();
        }
        let behind = room.once_bytes + places * room.place_bytes;
        Self { front_bytes: PAGE_BYTES, behind_bytes: behind.next_multiple_of(PAGE_BYTES) }
    }

    pub fn bytes(self) -> usize {
        self.front_bytes + self.behind_bytes
    }
}

/// Makes `/tmp/szc-PID-N.so`, so many bytes long and empty: once for writing, and once to execute
/// what is in it.
///
/// Tools take a file's lowest mapping for its start. So what is written goes through another name
/// of the same file, which is gone when this returns. The names are short: this also runs in the
/// first call of a forked child, on the little stack that the resolver has.
pub(crate) fn create(bytes: usize) -> Result<(File, File), Errno> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = |ending: &str| {
        let mut name = Buffer::<48>::new();
        name.text("/tmp/szc-").decimal(u64::from(os::process_id())).text("-");
        name.decimal(u64::from(number)).text(ending).text("\0");
        name
    };
    let (named, hidden) = (name(".so"), name(".written"));
    let as_path = |name| CStr::from_bytes_until_nul(name).map_err(|_| os::EINVAL);
    let (named, hidden) = (as_path(named.bytes())?, as_path(hidden.bytes())?);
    // Of another process with this number.
    os::unlink(named);
    os::unlink(hidden);
    let writable = File::create_own(hidden)?;
    let readable = writable.set_size(bytes).and_then(|()| {
        os::link(hidden, named)?;
        File::open(named, os::OPEN_READ)
    });
    os::unlink(hidden);
    match readable {
        Ok(readable) if writable.can_be_executed() => Ok((writable, readable)),
        refused => {
            os::unlink(named);
            Err(refused.err().unwrap_or(Errno(13)))
        }
    }
}
