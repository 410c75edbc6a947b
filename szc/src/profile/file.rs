//! The file of a profile: one JSON object a line, written as samples come. What was written stays
//! whatever happens afterwards; a last line that is cut off is left out.
//!
//! The form is described in `szc/docs/src/profile-format.md`.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::inferred::Inferred;

/// The version that is written.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Header {
    /// Version of the form.
    pub szc_profile: u32,
    /// The program and its arguments; empty if it ran already.
    pub command: Vec<String>,
    /// The process that was sampled first.
    pub pid: u32,
    /// Mean interval between samples of a clock.
    pub period_ns: u64,
    /// Greatest deviation of an interval from the mean, as a share of it.
    pub jitter: f64,
    /// What the intervals were drawn by.
    pub seed: u64,
    /// Which clocks took the samples.
    pub clocks: Clocks,
    /// Whether samples have callers.
    pub callers: bool,
    /// By unwind tables, and so many bytes of each stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u32>,
    /// By two registers, and this path map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<String>,
    /// When it began, by the monotonic clock that the samples have.
    pub start: u64,
    /// When that was, in UTC.
    pub date: String,
}

/// Which clocks took samples.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Clocks {
    /// One for each processor.
    Processors,
    /// One for each thread.
    Threads,
    /// One for each thread, that does not run in the kernel.
    ThreadsInUserMode,
}

/// A line behind the first one.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// Where a thread was.
    Sample(Sample),
    /// A thread was on no processor.
    Waited(Waited),
    /// A processor was doing something else.
    Elsewhere {
        /// Which one.
        cpu: u32,
        /// When.
        time: u64,
    },
    /// Executable memory was mapped.
    Map {
        /// Process.
        pid: u32,
        /// When.
        time: u64,
        /// First address.
        start: u64,
        /// Bytes.
        bytes: u64,
        /// Offset in the file.
        offset: u64,
        /// The file.
        path: String,
    },
    /// A thread got a name.
    Name {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// When.
        time: u64,
        /// The name.
        name: String,
        /// Because its process began a new program.
        #[serde(default, skip_serializing_if = "is_false")]
        exec: bool,
    },
    /// A thread began.
    Fork {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// Process of the thread that made it.
        parent: u32,
        /// When.
        time: u64,
    },
    /// A thread ended.
    Exit {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// When.
        time: u64,
    },
    /// The last line of a recording that was not cut off.
    End(End),
}

/// Where a thread was.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub time: u64,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Processor.
    pub cpu: u32,
    /// Address, in the original function if `copy` is there; 0 if it has none in user mode.
    pub ip: u64,
    /// Whether it was in the kernel.
    #[serde(default, skip_serializing_if = "is_false")]
    pub kernel: bool,
    /// Address in the copy of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<u64>,
    /// Epoch of the layout that the copy belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Return addresses, innermost first, in original functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u64>,
    /// Why they do not lead to where the thread began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What two registers say of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<Inferred>,
}

/// Why callers end too early.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// More of the stack would be needed.
    Stack,
    /// There are no unwind tables for the last one.
    Tables,
    /// The last one is in a copy of a process that was gone before it was looked at.
    Gone,
}

/// A time in which a thread was on no processor.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Waited {
    /// Where it was, and when that began.
    #[serde(flatten)]
    pub at: Sample,
    /// How long that lasted.
    pub ns: u64,
    /// Whether it could have gone on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub preempted: bool,
}

/// How a recording ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct End {
    /// When.
    pub time: u64,
    /// Records for which there was no room.
    pub lost: u64,
    /// Threads that ended before their clock was started.
    pub missed_threads: u64,
    /// From the beginning of threads to the start of their clocks, summed up.
    pub missed_ns: u64,
    /// CPU time of the program and the descendants that it waited for, if szc started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// How the program ended, if szc started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

// serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !value
}

/// Writes a profile.
pub struct Writer {
    out: BufWriter<File>,
}

impl Writer {
    /// Begins a profile.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let mut writer = Self { out: BufWriter::new(File::create(path)?) };
        writer.put(header)?;
        writer.flush()?;
        Ok(writer)
    }

    fn put(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, line: &Line) -> io::Result<()> {
        self.put(line)
    }

    /// Hands everything to the kernel.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a profile, and hands on its lines in order.
///
/// # Errors
/// It cannot be read, or is none of this version.
pub fn read(path: &Path, mut line: impl FnMut(Line)) -> Result<Header> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let mut reader = BufReader::new(file);
    let mut text = Vec::new();
    reader.read_until(b'\n', &mut text).with_context(|| format!("cannot read {shown}"))?;
    let header: Header = serde_json::from_slice(&text).with_context(|| {
        format!("{shown} is no profile of szc; `szc profile record` writes one")
    })?;
    if header.szc_profile > VERSION {
        bail!("{shown} is of version {}, and this szc reads up to {VERSION}", header.szc_profile);
    }
    let mut number = 1;
    loop {
        text.clear();
        reader.read_until(b'\n', &mut text).with_context(|| format!("cannot read {shown}"))?;
        number += 1;
        if !text.ends_with(b"\n") {
            // The end, or a line that was cut off.
            return Ok(header);
        }
        let read = serde_json::from_slice(&text);
        line(read.with_context(|| format!("line {number} of {shown} is damaged"))?);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::fs;

    pub fn header() -> Header {
        Header {
            szc_profile: VERSION,
            command: vec!["./a".into()],
            pid: 7,
            period_ns: 1_000_000,
            jitter: 0.3,
            seed: 1,
            clocks: Clocks::Processors,
            callers: false,
            stack_bytes: None,
            paths: None,
            start: 5,
            date: "2026-01-01T00:00:00Z".into(),
        }
    }

    fn lines() -> Vec<Line> {
        vec![
            Line::Name { pid: 7, tid: 7, time: 6, name: "a".into(), exec: true },
            Line::Elsewhere { cpu: 1, time: 8 },
            Line::Sample(Sample { time: 9, pid: 7, tid: 7, ip: 64, ..Sample::default() }),
            Line::Waited(Waited { ns: 3, preempted: true, ..Waited::default() }),
            Line::End(End { time: 10, ..End::default() }),
        ]
    }

    fn written() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile");
        let mut writer = Writer::create(&path, &header()).unwrap();
        for line in lines() {
            writer.add(&line).unwrap();
        }
        writer.flush().unwrap();
        (folder, path)
    }

    fn read_all(path: &Path) -> Result<(Header, Vec<Line>)> {
        let mut found = Vec::new();
        let header = read(path, |line| found.push(line))?;
        Ok((header, found))
    }

    #[test]
    fn what_was_written_is_read_again() {
        let (_folder, path) = written();
        assert_eq!(read_all(&path).unwrap(), (header(), lines()));
    }

    #[test]
    fn wherever_a_file_is_cut_off_its_whole_lines_are_read() {
        let (_folder, path) = written();
        let text = fs::read(&path).unwrap();
        let first = text.iter().position(|&byte| byte == b'\n').unwrap();
        for end in first + 1..=text.len() {
            fs::write(&path, &text[..end]).unwrap();
            let whole = text[..end].iter().filter(|&&byte| byte == b'\n').count() - 1;
            assert_eq!(read_all(&path).unwrap().1, lines()[..whole]);
        }
    }

    #[test]
    fn a_file_that_is_no_profile_or_of_a_newer_szc_or_damaged_is_refused() {
        let (folder, path) = written();
        let text = fs::read_to_string(&path).unwrap();
        let refused = |text: String| {
            let path = folder.path().join("other");
            fs::write(&path, text).unwrap();
            format!("{:#}", read_all(&path).unwrap_err())
        };
        assert!(refused(String::new()).contains("is no profile of szc"));
        assert!(refused("{}\n".into()).contains("is no profile of szc"));
        let newer = text.replace("\"szc_profile\":1", "\"szc_profile\":2");
        assert!(refused(newer).contains("reads up to 1"));
        assert!(refused(text.replace("\"elsewhere\"", "\"else\"")).contains("line 3 of"));
    }

    #[test]
    fn a_full_disk_is_an_error_of_the_write() {
        let mut writer = Writer::create(Path::new("/dev/full"), &header());
        assert_eq!(writer.as_mut().err().map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
    }
}
