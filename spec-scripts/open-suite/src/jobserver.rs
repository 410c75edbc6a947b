//! How many processes compile at a time, over all programs that are built: GNU make's jobserver, a
//! pipe with a byte for each of them (GNU make manual, "POSIX Jobserver Interaction").
#![forbid(unsafe_code)]

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// How often to look for room when there is none.
const LOOK: Duration = Duration::from_millis(20);

/// The pipe.
pub struct Jobserver {
    reader: PipeReader,
    writer: PipeWriter,
    jobs: usize,
}

impl Jobserver {
    /// With room for `jobs` processes. Programs started from now on can use it.
    ///
    /// # Errors
    /// When the system gives no pipe.
    pub fn new(jobs: usize) -> Result<Self> {
        let (reader, mut writer) = pipe().context("cannot make a pipe")?;
        for descriptor in [reader.as_fd(), writer.as_fd()] {
            fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty())).context("cannot share a pipe")?;
        }
        writer.write_all(&vec![b'+'; jobs]).context("cannot fill a pipe")?;
        Ok(Self { reader, writer, jobs })
    }

    /// The value of `MAKEFLAGS` for a build. It takes part with the byte that its caller holds, and
    /// takes others for what it does at the same time.
    pub fn make_flags(&self) -> String {
        let (reader, writer) = (self.reader.as_raw_fd(), self.writer.as_raw_fd());
        format!(" -j{} --jobserver-auth={reader},{writer}", self.jobs)
    }

    /// Waits until there is room, and keeps it while `work` runs.
    ///
    /// # Errors
    /// When the pipe is broken.
    pub fn with_room<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let byte = self.take().context("the pipe of the jobserver is broken")?;
        let result = work();
        (&self.writer).write_all(&byte).context("the pipe of the jobserver is broken")?;
        Ok(result)
    }

    /// A byte of the pipe. make sets the pipe so that reading does not wait, for all who share it.
    fn take(&self) -> io::Result<[u8; 1]> {
        let mut byte = [0];
        loop {
            match (&self.reader).read_exact(&mut byte) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOK),
                result => return result.map(|()| byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::OFlag;
    use std::process::Command;
    use std::sync::Mutex;

    #[test]
    fn who_finds_no_room_waits_even_if_make_made_reading_not_wait() {
        let jobserver = Jobserver::new(1).unwrap();
        fcntl(jobserver.reader.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        let busy = Mutex::new(());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let alone = || busy.try_lock().map(|_guard| thread::sleep(LOOK)).is_ok();
                    assert!(jobserver.with_room(alone).unwrap());
                });
            }
        });
    }

    #[test]
    fn make_takes_room_from_it_and_gives_it_back() {
        let jobserver = Jobserver::new(3).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Makefile"), "all: a b c d\na b c d:\n\t@echo $@\n")
            .unwrap();
        for _ in 0..5 {
            let output = jobserver
                .with_room(|| {
                    Command::new("make")
                        .current_dir(folder.path())
                        .env("MAKEFLAGS", jobserver.make_flags())
                        .output()
                        .unwrap()
                })
                .unwrap();
            assert!(output.status.success());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("jobserver"), "{said}");
            let mut made: Vec<u8> = output.stdout;
            made.retain(u8::is_ascii_lowercase);
            made.sort_unstable();
            assert_eq!(made, b"abcd");
        }
    }
}
