//! A profile with names: what every form of report is made from.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Result;
use szc_abi::copies;

use super::file::{self, Cut, End, Header, Line};
use super::inferred::Counts;
use super::replay::Replay;
use super::symbols::{Frame, Symbols};

/// Index of a frame.
pub type FrameIndex = usize;

/// A profile.
pub struct Profile {
    /// How it was recorded.
    pub header: Header,
    /// How that ended; nothing if it was cut off.
    pub end: Option<End>,
    /// All frames that occur.
    pub frames: Vec<Frame>,
    /// The samples, in order of time.
    pub samples: Vec<Sample>,
    /// Times on no processor, in order of time.
    pub waits: Vec<Wait>,
    /// Names of threads.
    pub threads: BTreeMap<Thread, String>,
    /// Times of the samples of each clock, also of those elsewhere.
    pub clocks: BTreeMap<u32, Vec<u64>>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
    /// Addresses in memory that belongs to no file.
    pub unmapped: u64,
    /// Addresses in copies whose layout was gone before it was read.
    pub in_unread_layouts: u64,
    /// Samples whose callers end too early, by the reason.
    pub cut: BTreeMap<Cut, u64>,
    /// Samples whose callers two registers were asked for.
    pub inferred: Counts,
    /// Files that callers end in for want of unwind tables, and how often.
    pub without_tables: BTreeMap<String, u64>,
}

/// Process and thread.
pub type Thread = (u32, u32);

/// Where a thread was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub time: u64,
    /// Whose.
    pub thread: Thread,
    /// Processor.
    pub cpu: u32,
    /// Epoch of the layout, if it was in a copy.
    pub epoch: Option<u64>,
    /// Address in the original function.
    pub ip: u64,
    /// Where it was, innermost first.
    pub stack: Vec<FrameIndex>,
}

/// A time on no processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// Where the thread was, without the kernel.
    pub sample: Sample,
    /// How long that lasted.
    pub ns: u64,
    /// Whether it could have gone on.
    pub is_preempted: bool,
}

/// What the time in the kernel is shown as.
pub const KERNEL: &str = "[kernel]";

/// What copies are shown as whose layout was gone before it was read: with the process, mostly.
const UNREAD_LAYOUT: &str = "[unread layout]";

/// What maps show in front of the name of a file in memory.
const IN_MEMORY: &str = "/memfd:";

impl Profile {
    /// Reads a profile, and finds names for its addresses.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let mut reading = Reading::default();
        let header = file::read(path, |line| reading.note(line))?;
        let mut profile = Self {
            header,
            end: reading.end,
            frames: reading.frames,
            samples: reading.samples,
            waits: reading.waits,
            threads: reading.threads,
            clocks: reading.clocks,
            unreadable: reading.symbols.unreadable().map(str::to_owned).collect(),
            unmapped: reading.unmapped,
            in_unread_layouts: reading.in_unread_layouts,
            cut: reading.cut,
            inferred: reading.inferred,
            without_tables: reading.without_tables,
        };
        profile.unreadable.sort();
        Ok(profile)
    }

    /// The mean interval between two samples of a clock as it was, in nanoseconds: what a sample
    /// stands for.
    #[must_use]
    pub fn interval_ns(&self) -> f64 {
        if self.header.clocks != file::Clocks::Processors {
            // Between samples a thread may have waited.
            return self.header.period_ns as f64;
        }
        let intervals = self.intervals();
        let count: usize = intervals.iter().map(Vec::len).sum();
        if count == 0 {
            return self.header.period_ns as f64;
        }
        intervals.iter().flatten().sum::<f64>() / count as f64
    }

    /// The intervals of the clocks of processors, in nanoseconds, one series for each time in which
    /// a processor was not idle: then the kernel takes no samples.
    #[must_use]
    pub fn intervals(&self) -> Vec<Vec<f64>> {
        let longest = 1.5 * (1.0 + self.header.jitter) * self.header.period_ns as f64;
        let is_busy = |first: &u64, second: &u64| ((second - first) as f64) < longest;
        let busy = self.clocks.values().flat_map(|times| times.chunk_by(is_busy));
        busy.map(|times| times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect())
            .collect()
    }
}

#[derive(Default)]
struct Reading {
    replay: Replay,
    symbols: Symbols,
    frames: Vec<Frame>,
    indices: HashMap<Frame, FrameIndex>,
    /// Frames by file and offset, which most samples have in common.
    known: HashMap<(String, u64), Vec<FrameIndex>>,
    samples: Vec<Sample>,
    waits: Vec<Wait>,
    threads: BTreeMap<Thread, String>,
    clocks: BTreeMap<u32, Vec<u64>>,
    end: Option<End>,
    unmapped: u64,
    in_unread_layouts: u64,
    cut: BTreeMap<Cut, u64>,
    inferred: Counts,
    without_tables: BTreeMap<String, u64>,
}

impl Reading {
    fn note(&mut self, line: Line) {
        self.replay.note(&line);
        match line {
            Line::Sample(sample) => {
                self.clocks.entry(sample.cpu).or_default().push(sample.time);
                let sample = self.sample(&sample);
                self.samples.push(sample);
            }
            Line::Waited(file::Waited { at, ns, preempted }) => {
                let sample = self.sample(&file::Sample { kernel: false, ..at });
                self.waits.push(Wait { sample, ns, is_preempted: preempted });
            }
            Line::Elsewhere { cpu, time } => self.clocks.entry(cpu).or_default().push(time),
            Line::Name { pid, tid, name, .. } => {
                self.threads.insert((pid, tid), name);
            }
            Line::End(end) => self.end = Some(end),
            Line::Map { .. } | Line::Fork { .. } | Line::Exit { .. } => {}
        }
    }

    fn sample(&mut self, sample: &file::Sample) -> Sample {
        let thread = (sample.pid, sample.tid);
        self.threads.entry(thread).or_insert_with(|| self.replay.name(sample.tid).to_owned());
        if let Some(cut) = sample.cut {
            self.note_cut(sample, cut);
        }
        let mut stack = Vec::new();
        if sample.kernel {
            stack.push(self.index(Frame::named(KERNEL, "kernel")));
        }
        if sample.ip != 0 {
            stack.extend(self.frames_at(sample.pid, sample.ip));
        }
        if let Some(inferred) = sample.inferred {
            self.inferred.note(inferred);
        }
        let gap = sample.inferred.and_then(|inferred| Some((inferred.gap?, inferred.marker())));
        for index in 0..=sample.callers.len() {
            if let Some((_, marker)) = gap.filter(|(gap, _)| *gap as usize == index) {
                stack.push(self.index(Frame::named(marker, "[unknown]")));
            }
            let Some(caller) = sample.callers.get(index) else { break };
            // The call in front of the return address.
            stack.extend(self.frames_at(sample.pid, caller.saturating_sub(1)));
        }
        Sample {
            time: sample.time,
            thread,
            cpu: sample.cpu,
            epoch: sample.epoch,
            ip: sample.ip,
            stack,
        }
    }

    fn note_cut(&mut self, sample: &file::Sample, cut: Cut) {
        *self.cut.entry(cut).or_default() += 1;
        if cut == Cut::Tables {
            let last = sample.callers.last().map_or(sample.ip, |caller| caller - 1);
            let file = self.replay.locate(sample.pid, last).map_or("no file", |(path, _)| path);
            *self.without_tables.entry(file.to_owned()).or_default() += 1;
        }
    }

    fn frames_at(&mut self, pid: u32, address: u64) -> Vec<FrameIndex> {
        let Some((path, offset)) = self.replay.locate(pid, address) else {
            self.unmapped += 1;
            return vec![self.index(Frame::named("[unknown]", "[unknown]"))];
        };
        if is_of_copies(path) {
            self.in_unread_layouts += 1;
            return vec![self.index(Frame::named(UNREAD_LAYOUT, "[unknown]"))];
        }
        let key = (path.to_owned(), offset);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let frames = self.symbols.frames(path, offset);
        let indices: Vec<FrameIndex> = frames.into_iter().map(|frame| self.index(frame)).collect();
        self.known.insert(key, indices.clone());
        indices
    }

    fn index(&mut self, frame: Frame) -> FrameIndex {
        *self.indices.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            self.frames.len() - 1
        })
    }
}

/// Whether this is a file that the runtime maps copies from; behind its name maps say that it is
/// deleted.
fn is_of_copies(path: &str) -> bool {
    let name = path.strip_prefix(IN_MEMORY).map(str::as_bytes);
    name.is_some_and(|name| name.starts_with(copies::FILE_NAME.to_bytes()))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::profile::file::tests::header;
    use crate::profile::inferred::Inferred;

    /// Of samples given as time, epoch and stack of names, taken every millisecond.
    pub fn profile(samples: &[(u64, Option<u64>, &[&str])]) -> Profile {
        let mut reading = Reading::default();
        for &(time, epoch, names) in samples {
            let stack = names.iter().map(|name| reading.index(Frame::named(name, "a"))).collect();
            reading.clocks.entry(0).or_default().push(time);
            reading.samples.push(Sample {
                time,
                epoch,
                thread: (7, 7),
                stack,
                ..Sample::default()
            });
        }
        Profile {
            header: Header { start: 0, ..header() },
            end: Some(End::default()),
            frames: reading.frames,
            samples: reading.samples,
            waits: reading.waits,
            threads: [((7, 7), "a".to_owned())].into(),
            clocks: reading.clocks,
            unreadable: Vec::new(),
            unmapped: 0,
            in_unread_layouts: 0,
            cut: BTreeMap::new(),
            inferred: Counts::default(),
            without_tables: BTreeMap::new(),
        }
    }

    /// Waits given as a stack of names, their length, and whether the thread could have gone on.
    pub fn with_waits(waits: &[(&[&str], u64, bool)]) -> Profile {
        let mut found = profile(&[]);
        for &(names, ns, is_preempted) in waits {
            let mut stack = Vec::new();
            for name in names {
                found.frames.push(Frame::named(name, "a"));
                stack.push(found.frames.len() - 1);
            }
            let sample = Sample { thread: (7, 7), stack, ..Sample::default() };
            found.waits.push(Wait { sample, ns, is_preempted });
        }
        found
    }

    #[test]
    fn a_sample_stands_for_the_mean_interval_as_it_was() {
        // 90 ms without samples: the processor was idle.
        let times = [0, 1_200_000, 2_200_000, 92_000_000, 93_100_000];
        let found = profile(&times.map(|time| (time, None, ["a"].as_slice())));
        assert!((found.interval_ns() - 1.1e6).abs() < 1.0);
        assert_eq!(found.intervals(), [vec![1.2e6, 1e6], vec![1.1e6]]);
        assert!((profile(&[]).interval_ns() - 1e6).abs() < 1.0);
    }

    fn names_of(reading: &Reading, index: usize) -> Vec<&str> {
        let stack = reading.samples[index].stack.iter();
        stack.map(|&frame| reading.frames[frame].function.as_str()).collect()
    }

    #[test]
    fn samples_get_the_names_of_what_was_mapped_and_the_kernel_in_front() {
        let mut reading = Reading::default();
        let path = "/nowhere/a".to_owned();
        reading.note(Line::Map { pid: 1, time: 0, start: 0x1000, bytes: 0x100, offset: 0, path });
        let sample = file::Sample { pid: 1, tid: 2, ip: 0x1010, ..file::Sample::default() };
        reading.note(Line::Sample(file::Sample { kernel: true, ..sample.clone() }));
        reading.note(Line::Sample(file::Sample { callers: vec![0x1021], ..sample.clone() }));
        reading.note(Line::Sample(file::Sample { ip: 0x9000, ..sample }));
        let names = |index| names_of(&reading, index);
        assert_eq!(names(0), [KERNEL, "[a]"]);
        assert_eq!(names(1), ["[a]", "[a]"]);
        assert_eq!(names(2), ["[unknown]"]);
        // What several paths have in common stands on both sides of what they have not.
        let inferred = Some(Inferred { paths: 2, gap: Some(1), ..Inferred::default() });
        let callers = vec![0x1021, 0x1031];
        let sample =
            file::Sample { pid: 1, tid: 2, ip: 0x1010, callers, ..file::Sample::default() };
        reading.note(Line::Sample(file::Sample { inferred, ..sample }));
        assert_eq!(names_of(&reading, 3), ["[a]", "[a]", "[ambiguous]", "[a]"]);
        assert!(reading.inferred.remarks()[0].contains("100.0 % ambiguous"));
        assert_eq!(reading.unmapped, 1);
        let path = "/memfd:szc code (deleted)".to_owned();
        reading.note(Line::Map { pid: 1, time: 0, start: 0x2000, bytes: 0x100, offset: 0, path });
        let sample = file::Sample { pid: 1, tid: 2, ip: 0x2010, ..file::Sample::default() };
        reading.note(Line::Sample(sample));
        assert_eq!(names_of(&reading, 4), [UNREAD_LAYOUT]);
        assert_eq!((reading.unmapped, reading.in_unread_layouts), (1, 1));
        assert_eq!(reading.symbols.unreadable().collect::<Vec<_>>(), ["/nowhere/a"]);
    }
}
