//! Reports of the sampler as lines of a profile.
#![forbid(unsafe_code)]

use std::io;
use std::path::Path;

use szc_sampler::copies::Original;
use szc_sampler::event::{self, Event, Map};
use szc_sampler::recorder::Report;
use szc_sampler::switches::Wait;
use szc_sampler::unwind;

use crate::profile::file::{Cut, Header, Line, Sample, Waited, Writer};

/// What is being written, until it cannot be.
pub struct Recording {
    writer: Option<Writer>,
    /// Why no more can be written.
    pub failure: Option<io::Error>,
    /// Samples that were written.
    pub samples: u64,
    /// Nothing is written, and samples are only counted.
    is_counting: bool,
}

impl Recording {
    /// One that counts samples, and writes nothing.
    pub fn counting() -> Self {
        Self { writer: None, failure: None, samples: 0, is_counting: true }
    }

    /// Begins a profile.
    pub fn begin(path: &Path, header: &Header) -> Self {
        let mut recording = Self { is_counting: false, ..Self::counting() };
        match Writer::create(path, header) {
            Ok(writer) => recording.writer = Some(writer),
            Err(error) => recording.failure = Some(error),
        }
        recording
    }

    /// Whether there is a use for more reports.
    pub fn goes_on(&self) -> bool {
        self.is_counting || self.writer.is_some()
    }

    /// Adds a report.
    pub fn put(&mut self, report: Report) {
        let line = match report {
            Report::Sample(sample, original) => {
                self.samples += 1;
                Line::Sample(place(sample, original))
            }
            Report::Waited(Wait { sample, ns, is_preempted }, original) => {
                let at = place(sample, original);
                Line::Waited(Waited { at, ns, preempted: is_preempted })
            }
            Report::Elsewhere(cpu, time) => Line::Elsewhere { cpu, time },
            Report::Other(event) => match line(event) {
                Some(line) => line,
                None => return,
            },
        };
        self.put_line(&line);
    }

    /// Adds a line.
    pub fn put_line(&mut self, line: &Line) {
        let result = self.writer.as_mut().map_or(Ok(()), |writer| writer.add(line));
        self.note(result);
    }

    /// Hands everything to the kernel.
    pub fn flush(&mut self) {
        let result = self.writer.as_mut().map_or(Ok(()), Writer::flush);
        self.note(result);
    }

    /// What cannot be written ends the recording, not the program.
    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.writer = None;
            self.failure = Some(error);
        }
    }
}

fn place(sample: event::Sample, original: Option<Original>) -> Sample {
    Sample {
        time: sample.time,
        pid: sample.pid,
        tid: sample.tid,
        cpu: sample.cpu,
        ip: original.map_or(sample.ip, |original| original.address),
        kernel: sample.in_kernel,
        copy: original.map(|_| sample.ip),
        epoch: original.map(|original| original.epoch),
        callers: sample.callers,
        inferred: sample.inferred.map(Into::into),
        cut: sample.cut.map(|cut| match cut {
            unwind::Cut::Stack => Cut::Stack,
            unwind::Cut::Tables => Cut::Tables,
            unwind::Cut::Gone => Cut::Gone,
        }),
    }
}

fn line(event: Event) -> Option<Line> {
    Some(match event {
        Event::Map(Map { pid, time, start, bytes, offset, path }) => {
            let path = path.to_string_lossy().into_owned();
            Line::Map { pid, time, start, bytes, offset, path }
        }
        Event::Name { pid, tid, time, name, is_exec } => {
            Line::Name { pid, tid, time, name, exec: is_exec }
        }
        Event::Fork { pid, tid, parent, time } => Line::Fork { pid, tid, parent, time },
        Event::Exit { pid, tid, time } => Line::Exit { pid, tid, time },
        Event::Sample(_) | Event::Left(_) | Event::Switch { .. } | Event::Lost(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::file;

    fn header() -> Header {
        let text = r#"{"szc_profile":1,"command":[],"pid":1,"period_ns":1,"jitter":0.0,"seed":1,
            "clocks":"processors","callers":false,"start":0,"date":""}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_sample_in_a_copy_is_written_where_the_original_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile");
        let mut recording = Recording::begin(&path, &header());
        let sample = event::Sample { ip: 0x7000, ..event::Sample::default() };
        let original = Original { address: 0x400, epoch: 3, image: 0 };
        recording.put(Report::Sample(sample.clone(), Some(original)));
        recording.put(Report::Sample(sample, None));
        recording.flush();
        let mut found = Vec::new();
        file::read(&path, |line| {
            let Line::Sample(sample) = line else { panic!("{line:?}") };
            found.push((sample.ip, sample.copy, sample.epoch));
        })
        .unwrap();
        assert_eq!(found, [(0x400, Some(0x7000), Some(3)), (0x7000, None, None)]);
        assert_eq!(recording.samples, 2);
    }

    #[test]
    fn a_full_disk_ends_the_recording_and_is_remembered() {
        let recording = Recording::begin(Path::new("/dev/full"), &header());
        assert!(!recording.goes_on() && recording.failure.is_some());
    }
}
