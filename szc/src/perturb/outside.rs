//! Reads metrics of a process from outside: proc(5) and its CPU clock.
//!
//! The process is neither stopped nor interrupted. Counts of threads that have ended are kept as
//! they were last seen; resident memory is as exact as the kernel keeps it, some 64 pages.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;

use super::metric::Outside;

/// What is read of one process, with its files open.
pub(super) struct Reader {
    folder: String,
    wanted: Vec<Outside>,
    clock: ClockId,
    stat: File,
    statm: File,
    io: File,
    threads: BTreeMap<String, Thread>,
}

/// What a thread had when it was last seen.
#[derive(Clone, Copy, Default)]
struct Thread {
    switches: f64,
    queued: f64,
}

impl Reader {
    /// Of a process of ours.
    pub(super) fn open(pid: u32, wanted: &[Outside]) -> io::Result<Self> {
        let folder = format!("/proc/{pid}");
        let open = |name: &str| File::open(format!("{folder}/{name}"));
        let (stat, statm, io) = (open("stat")?, open("statm")?, open("io")?);
        let clock = clock_getcpuclockid(Pid::from_raw(pid.cast_signed()))?;
        let (wanted, threads) = (wanted.to_vec(), BTreeMap::new());
        Ok(Self { folder, wanted, clock, stat, statm, io, threads })
    }

    /// The CPU time of all threads; nothing once the process is gone.
    pub(super) fn cpu(&self) -> Option<Duration> {
        self.clock.now().ok().map(Duration::from)
    }

    /// The values now, counts since the process began; nothing once it has ended.
    pub(super) fn read(&mut self) -> io::Result<Option<Vec<f64>>> {
        match self.read_all() {
            Err(error) if is_gone(&error) => Ok(None),
            found => found,
        }
    }

    fn read_all(&mut self) -> io::Result<Option<Vec<f64>>> {
        let stat = text(&self.stat)?;
        let Some((_, fields)) = stat.rsplit_once(')') else { return Ok(None) };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        if matches!(fields.first(), None | Some(&("Z" | "X"))) {
            return Ok(None);
        }
        // Behind the name comes field 3 of proc(5).
        let field = |number: usize| number_of(fields.get(number - 3).copied());
        let wanted = self.wanted.clone();
        let wants = |one: &[Outside]| wanted.iter().any(|wanted| one.contains(wanted));
        if wants(&[Outside::Switches, Outside::Queued]) {
            self.read_threads()?;
        }
        let io = if wants(&IO) { text(&self.io)? } else { String::new() };
        let of_io = |name: &str| {
            let line = io.lines().find_map(|line| line.strip_prefix(name));
            number_of(line.map(str::trim))
        };
        let sum = |of: fn(&Thread) -> f64| self.threads.values().map(of).sum();
        let mut values = Vec::with_capacity(wanted.len());
        for wanted in &wanted {
            values.push(match wanted {
                Outside::Cpu => {
                    Duration::from(self.clock.now().map_err(io::Error::from)?).as_nanos() as f64
                }
                Outside::Queued => sum(|thread| thread.queued),
                Outside::Switches => sum(|thread| thread.switches),
                Outside::Faults => field(10),
                Outside::MajorFaults => field(12),
                Outside::Threads => field(20),
                Outside::Rss => {
                    let pages = number_of(text(&self.statm)?.split_whitespace().nth(1));
                    if pages <= 0.0 {
                        // It is ending: its memory goes before its state says so.
                        return Ok(None);
                    }
                    pages
                }
                Outside::Read => of_io("rchar:"),
                Outside::Written => of_io("wchar:"),
                Outside::ReadCalls => of_io("syscr:"),
                Outside::WriteCalls => of_io("syscw:"),
            });
        }
        Ok(Some(values))
    }

    fn read_threads(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(format!("{}/task", self.folder))? {
            let entry = entry?;
            let file = |name: &str| fs::read_to_string(entry.path().join(name));
            // It may end while it is read: then it keeps what it had.
            let (Ok(status), Ok(schedule)) = (file("status"), file("schedstat")) else { continue };
            let switches = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
            let thread = Thread {
                switches: switches.map(|(_, count)| number_of(Some(count.trim()))).sum(),
                queued: number_of(schedule.split_whitespace().nth(1)),
            };
            self.threads.insert(entry.file_name().to_string_lossy().into_owned(), thread);
        }
        Ok(())
    }
}

const IO: [Outside; 4] = [Outside::Read, Outside::Written, Outside::ReadCalls, Outside::WriteCalls];

fn number_of(text: Option<&str>) -> f64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// All of a file of proc(5), read anew.
fn text(file: &File) -> io::Result<String> {
    let mut bytes = [0; 4096];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Whether a process has ended, by the error of reading about it.
pub(super) fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(nix::errno::Errno::ESRCH as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_this_process_does_is_seen() {
        let wanted = [Outside::Cpu, Outside::Faults, Outside::Written, Outside::WriteCalls];
        let mut reader = Reader::open(std::process::id(), &wanted).unwrap();
        let before = reader.read().unwrap().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 5000]).unwrap();
        let memory = std::hint::black_box(vec![1_u8; 4 << 20]);
        let after = reader.read().unwrap().unwrap();
        assert!(memory.len() > 4096);
        let grown: Vec<f64> = before.iter().zip(&after).map(|(one, other)| other - one).collect();
        assert!(grown[0] > 0.0 && grown[1] >= 1.0, "{grown:?}");
        // Other tests may write, too.
        assert!(grown[2] >= 5000.0 && grown[3] >= 1.0, "{grown:?}");
    }

    #[test]
    fn levels_and_threads_are_read() {
        let wanted = [Outside::Rss, Outside::Threads, Outside::Switches, Outside::Queued];
        let mut reader = Reader::open(std::process::id(), &wanted).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let values = reader.read().unwrap().unwrap();
        assert!(values[0] > 100.0 && values[1] >= 1.0 && values[2] >= 1.0, "{values:?}");
        assert!(values.iter().all(|value| *value >= 0.0), "{values:?}");
    }

    #[test]
    fn a_process_that_has_ended_has_no_more_values() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let mut reader = Reader::open(child.id(), &[Outside::Cpu, Outside::Switches]).unwrap();
        assert!(reader.read().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(reader.read().unwrap(), None);
    }
}
