//! Runs a command with all that it starts as a process group, which ends when this process does,
//! however that comes about: by Ctrl-C, by a signal to this process alone, or by one that cannot be
//! handled.
//!
//! A watcher leads the group. It waits for the end of a pipe that this process alone holds open,
//! and then ends the group, itself included.
#![forbid(unsafe_code)]

use std::io::{self, PipeWriter, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

/// Nothing is ever written, so that reading ends with the pipe.
const WATCH: &str = "read -r nothing; kill -s TERM 0";

struct Group {
    watcher: Child,
    /// Closed on exec, so that no other process keeps it open.
    open: Option<PipeWriter>,
}

impl Group {
    fn new() -> io::Result<Self> {
        let (reader, open) = pipe()?;
        let mut watcher = Command::new("sh");
        watcher.args(["-c", WATCH]).stdin(reader).process_group(0);
        Ok(Self { watcher: watcher.spawn()?, open: Some(open) })
    }

    fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let leader = i32::try_from(self.watcher.id()).map_err(io::Error::other)?;
        command.process_group(leader).spawn()
    }
}

impl Drop for Group {
    /// The watcher goes first: what a command has left running on purpose is not ended by its
    /// success.
    fn drop(&mut self) {
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
        self.open = None;
    }
}

/// Runs a command to its end, or to that of this process.
///
/// # Errors
/// When it, or its watcher, cannot be started.
pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
    let group = Group::new()?;
    group.spawn(command)?.wait()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    #[test]
    fn the_status_of_a_command_is_its_own() {
        assert_eq!(status(Command::new("sh").args(["-c", "exit 3"])).unwrap().code(), Some(3));
        assert!(status(&mut Command::new("no such command")).is_err());
    }

    #[test]
    fn a_command_and_its_children_end_when_nobody_holds_the_pipe() {
        let mut group = Group::new().unwrap();
        // The last one holds standard output: its end is seen when all of them have ended.
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & sleep 1000"]).stdout(Stdio::piped());
        let mut child = group.spawn(&mut command).unwrap();
        let started = Instant::now();
        group.open = None;
        let mut output = child.stdout.take().unwrap();
        assert_eq!(io::copy(&mut output, &mut io::sink()).unwrap(), 0);
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        assert!(started.elapsed() < Duration::from_secs(100));
    }
}
