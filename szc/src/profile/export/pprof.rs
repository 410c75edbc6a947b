//! pprof's form, uncompressed, which its tools read as well.
//!
//! Source: profile.proto of github.com/google/pprof.

use std::collections::{BTreeMap, HashMap};

use super::protobuf::Message;
use crate::profile::model::{FrameIndex, Profile};

/// The profile: samples, and nanoseconds of CPU time.
#[must_use]
pub fn pprof(profile: &Profile) -> Vec<u8> {
    let mut strings = Strings::default();
    strings.index("");
    let mut out = Message::default();
    let value_type = |strings: &mut Strings, kind: &str, unit: &str| {
        let mut message = Message::default();
        message.number(1, strings.index(kind));
        message.number(2, strings.index(unit));
        message
    };
    let kinds = [("samples", "count"), ("cpu", "nanoseconds")];
    for (kind, unit) in kinds {
        out.message(1, value_type(&mut strings, kind, unit));
    }
    let period = value_type(&mut strings, "cpu", "nanoseconds");
    // Nanoseconds between samples are a small positive number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let interval_ns = profile.interval_ns() as u64;
    let mut locations = Locations::default();
    let mut counts: BTreeMap<(Vec<u64>, u64), u64> = BTreeMap::new();
    for sample in &profile.samples {
        let stack = locations.of(profile, &sample.stack);
        let thread = profile.threads.get(&sample.thread).map_or("", String::as_str);
        *counts.entry((stack, strings.index(thread))).or_default() += 1;
    }
    let label = strings.index("thread");
    for ((stack, thread), count) in counts {
        let mut sample = Message::default();
        sample.numbers(1, stack);
        sample.numbers(2, [count, count * interval_ns]);
        let mut of_thread = Message::default();
        of_thread.number(1, label);
        of_thread.number(2, thread);
        sample.message(3, of_thread);
        out.message(2, sample);
    }
    locations.write(profile, &mut strings, &mut out);
    for string in &strings.all {
        out.bytes(6, string.as_bytes());
    }
    if let Some(end) = &profile.end {
        out.number(10, end.time.saturating_sub(profile.header.start));
    }
    out.message(11, period);
    out.number(12, interval_ns);
    out.into_bytes()
}

/// Texts, each once.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    indices: HashMap<String, u64>,
}

impl Strings {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(&index) = self.indices.get(text) {
            return index;
        }
        let index = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.indices.insert(text.to_owned(), index);
        index
    }
}

/// A location is a function with what was inlined there; its number is its index and 1.
#[derive(Default)]
struct Locations {
    all: Vec<Vec<FrameIndex>>,
    numbers: HashMap<Vec<FrameIndex>, u64>,
}

impl Locations {
    fn of(&mut self, profile: &Profile, stack: &[FrameIndex]) -> Vec<u64> {
        let groups = stack.split_inclusive(|&frame| !profile.frames[frame].is_inlined);
        groups.map(|group| self.number(group)).collect()
    }

    fn number(&mut self, frames: &[FrameIndex]) -> u64 {
        if let Some(&number) = self.numbers.get(frames) {
            return number;
        }
        self.all.push(frames.to_vec());
        let number = self.all.len() as u64;
        self.numbers.insert(frames.to_vec(), number);
        number
    }

    fn write(&self, profile: &Profile, strings: &mut Strings, out: &mut Message) {
        for (index, frames) in self.all.iter().enumerate() {
            let mut location = Message::default();
            location.number(1, index as u64 + 1);
            for &frame in frames {
                let mut line = Message::default();
                line.number(1, frame as u64 + 1);
                line.number(2, u64::from(profile.frames[frame].line.unwrap_or(0)));
                location.message(4, line);
            }
            out.message(4, location);
        }
        for (index, frame) in profile.frames.iter().enumerate() {
            let mut function = Message::default();
            let name = strings.index(&frame.function);
            function.number(1, index as u64 + 1);
            function.number(2, name);
            function.number(3, name);
            function.number(4, strings.index(frame.file.as_deref().unwrap_or(&frame.library)));
            out.message(5, function);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;

    #[test]
    fn equal_stacks_are_one_sample_with_its_number_and_time() {
        let found = profile(&[
            (0, None, &["b", "a"]),
            (1_000_000, None, &["b", "a"]),
            (2_000_000, None, &["a"]),
        ]);
        let bytes = pprof(&found);
        let contains = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        // Locations 1 and 2, two samples, 2,000,000 ns.
        assert!(contains(&[0x0a, 2, 1, 2, 0x12, 4, 2, 0x80, 0x89, 0x7a]), "{bytes:02x?}");
        // Location 2 alone, one sample, 1,000,000 ns.
        assert!(contains(&[0x0a, 1, 2, 0x12, 4, 1, 0xc0, 0x84, 0x3d]), "{bytes:02x?}");
        assert!(contains(b"nanoseconds"));
    }
}
