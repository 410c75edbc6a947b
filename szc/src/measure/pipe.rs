//! The output of a child, read as it comes and never waited for.
#![forbid(unsafe_code)]

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// How much of the end of stderr is kept for error messages.
pub(super) const STDERR_TAIL_BYTES: usize = 4096;

/// How much of the end of stdout is kept for figures that the program prints.
pub(super) const STDOUT_TAIL_BYTES: usize = 1 << 16;

/// A pipe holds at most this much (`/proc/sys/fs/pipe-max-size`), so reading as
/// much after the exit gets all the child wrote, even when a descendant that
/// outlives it keeps writing.
const MAX_PIPE_BYTES: usize = 1 << 20;

/// The reading end of a pipe, read without ever blocking.
pub(super) struct Pipe<R>(Option<R>);

impl<R: Read + AsFd> Pipe<R> {
    pub(super) fn new(reader: Option<R>) -> io::Result<Self> {
        if let Some(reader) = &reader {
            fcntl(reader, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok(Self(reader))
    }

    /// The descriptor, or −1 (which poll skips) after the end of the stream.
    pub(super) fn raw_fd(&self) -> i32 {
        self.0.as_ref().map_or(-1, |reader| reader.as_fd().as_raw_fd())
    }

    /// One read; `None` when there is nothing now or never again.
    pub(super) fn read_some(
        &mut self,
        buffer: &mut [u8],
        consume: impl FnOnce(&[u8]),
    ) -> io::Result<Option<usize>> {
        let Some(reader) = &mut self.0 else {
            return Ok(None);
        };
        match reader.read(buffer) {
            Ok(0) => {
                self.0 = None;
                Ok(None)
            }
            Ok(count) => {
                consume(&buffer[..count]);
                Ok(Some(count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    /// Everything that is in the pipe now.
    pub(super) fn read_rest(
        &mut self,
        buffer: &mut [u8],
        mut consume: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut total = 0;
        while let Some(count) = self.read_some(buffer, &mut consume)? {
            total += count;
            if total >= MAX_PIPE_BYTES {
                break;
            }
        }
        Ok(())
    }
}

/// The last bytes of a stream.
pub(super) struct Tail {
    bytes: Vec<u8>,
    most: usize,
}

impl Tail {
    /// Keeps `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..excess);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
