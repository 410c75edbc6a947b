//! The Firefox profiler's "processed profile" form, by the crate of samply's author.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, ProcessHandle,
    Profile as FirefoxProfile, SamplingInterval, ThreadHandle, Timestamp,
};

use crate::profile::model::{Profile, Sample, Thread};

/// The profile as JSON.
///
/// # Errors
/// It cannot be written as JSON.
pub fn firefox(profile: &Profile) -> Result<Vec<u8>> {
    let header = &profile.header;
    let product = header.command.first().map_or("a process", String::as_str);
    let interval = SamplingInterval::from_nanos(header.period_ns);
    let mut out = FirefoxProfile::new(product, date(&header.date).into(), interval);
    let mut processes: BTreeMap<u32, ProcessHandle> = BTreeMap::new();
    let mut threads: BTreeMap<Thread, ThreadHandle> = BTreeMap::new();
    for sample in &profile.samples {
        let time = time(profile, sample);
        let (pid, tid) = sample.thread;
        let name = |thread| profile.threads.get(&thread).map_or("", String::as_str);
        let process =
            *processes.entry(pid).or_insert_with(|| out.add_process(name((pid, pid)), pid, time));
        let thread = *threads.entry(sample.thread).or_insert_with(|| {
            let thread = out.add_thread(process, tid, time, pid == tid);
            out.set_thread_name(thread, name(sample.thread));
            thread
        });
        add(&mut out, thread, profile, sample, time);
    }
    out.set_symbolicated(true);
    serde_json::to_vec(&out).context("cannot write the profile as JSON")
}

fn add(
    out: &mut FirefoxProfile,
    thread: ThreadHandle,
    profile: &Profile,
    sample: &Sample,
    time: Timestamp,
) {
    let mut frames = Vec::new();
    for &frame in sample.stack.iter().rev() {
        let name = out.intern_string(&profile.frames[frame].function);
        frames.push(FrameInfo {
            frame: Frame::Label(name),
            category_pair: CategoryHandle::OTHER.into(),
            flags: FrameFlags::empty(),
        });
    }
    let stack = out.intern_stack_frames(thread, frames.into_iter());
    let cpu = CpuDelta::from(Duration::from_nanos(profile.header.period_ns));
    out.add_sample(thread, time, stack, cpu, 1);
}

fn time(profile: &Profile, sample: &Sample) -> Timestamp {
    Timestamp::from_nanos_since_reference(sample.time.saturating_sub(profile.header.start))
}

fn date(text: &str) -> SystemTime {
    let date = text.parse::<jiff::Timestamp>().ok();
    let since = date.and_then(|date| u64::try_from(date.as_millisecond()).ok()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_millis(since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;
    use serde_json::Value;

    #[test]
    fn samples_have_their_stacks_and_times_since_the_beginning() {
        let found = profile(&[(1_000_000, None, &["b", "a"]), (3_000_000, None, &["a"])]);
        let json: Value = serde_json::from_slice(&firefox(&found).unwrap()).unwrap();
        assert_eq!(json["meta"]["product"], "./a");
        assert_eq!(json["meta"]["interval"], 1.0);
        let samples = &json["threads"][0]["samples"];
        assert_eq!(samples["length"], 2);
        // Inner stacks have outer ones as their prefix.
        assert_eq!(samples["stack"], serde_json::json!([1, 0]));
        assert_eq!(json["threads"][0]["stackTable"]["prefix"], serde_json::json!([null, 0]));
        let strings = json["threads"][0]["stringArray"].to_string();
        assert!(strings.contains("\"a\"") && strings.contains("\"b\""), "{strings}");
    }
}
