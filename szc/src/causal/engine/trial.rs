//! One experiment: what it measures, from its beginning to its end.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use szc_abi::causal::{BEGIN, END, Memory, NAMED, Point as MemoryPoint, Record, THROUGHPUT};
use szc_sampler::clock::now;

use super::breakpoints::Breakpoints;
use super::spaces::Found;
use crate::causal::file::{Experiment, Location, Point, Progress};

/// An experiment that runs.
pub struct Trial {
    /// What is sped up.
    pub found: Found,
    /// By how much of its time.
    pub speedup: f64,
    record: &'static Record,
    begin: Snapshot,
    lengths: Vec<Length>,
}

/// What there is at one time.
struct Snapshot {
    time_ns: u64,
    delay_ns: u64,
    /// By point.
    visits: Vec<u64>,
    /// By breakpoint.
    hits: Vec<u64>,
    /// Time in which threads ran, or waited for a processor.
    runnable_ns: u64,
}

/// How much is under way between two points, as a mean over time: it is looked at now and then.
struct Length {
    area: f64,
    last: f64,
    last_ns: u64,
}

impl Snapshot {
    fn take(memory: &Memory, breakpoints: &Breakpoints, processes: &BTreeSet<u32>) -> Self {
        let runnable_ns = processes.iter().map(|&pid| runnable_ns(pid)).sum();
        // Close to each other: this is one moment.
        let hits = breakpoints.counts();
        let visits = memory.points.iter().map(|point| point.visits.load(Relaxed)).collect();
        let delay_ns = memory.delay_ns.load(Relaxed);
        Self { time_ns: now(), delay_ns, visits, hits, runnable_ns }
    }
}

impl Trial {
    /// An experiment that programs have just been told of by `record`.
    pub fn begin(
        (found, speedup): (Found, f64),
        record: &'static Record,
        memory: &Memory,
        breakpoints: &Breakpoints,
        processes: &BTreeSet<u32>,
    ) -> Self {
        let begin = Snapshot::take(memory, breakpoints, processes);
        let mut trial = Self { found, speedup, record, begin, lengths: Vec::new() };
        trial.look(memory);
        trial
    }

    /// Looks how much is under way. The means are good if this comes at random times.
    pub fn look(&mut self, memory: &Memory) {
        let time = now();
        for (index, (begin, end)) in queues(memory).into_iter().enumerate() {
            let length = under_way(begin, end);
            match self.lengths.get_mut(index) {
                None => self.lengths.push(Length { area: 0.0, last: length, last_ns: time }),
                Some(known) => {
                    let passed = time.saturating_sub(known.last_ns) as f64;
                    known.area += passed * f64::midpoint(known.last, length);
                    (known.last, known.last_ns) = (length, time);
                }
            }
        }
    }

    /// What was measured up to `end_ns`, now if there is none.
    pub fn end(
        mut self,
        (memory, breakpoints): (&Memory, &Breakpoints),
        processes: &BTreeSet<u32>,
        selected: Location,
        end_ns: Option<u64>,
    ) -> Experiment {
        self.look(memory);
        let end = Snapshot::take(memory, breakpoints, processes);
        let begin = &self.begin;
        let duration_ns = end_ns.unwrap_or(end.time_ns).saturating_sub(begin.time_ns);
        let since = |at: usize| end.visits[at] - begin.visits[at];
        let mut points = Vec::new();
        for (at, point) in memory.points.iter().enumerate() {
            if point.state.load(Acquire) == NAMED && point.kind.load(Relaxed) == THROUGHPUT {
                let progress = Progress::Throughput { visits: since(at) };
                points.push(Point { name: name(point), progress });
            }
        }
        let hits =
            end.hits.iter().enumerate().map(|(at, hits)| {
                hits.saturating_sub(begin.hits.get(at).copied().unwrap_or_default())
            });
        for (name, visits) in breakpoints.names().zip(hits) {
            let progress = Progress::Throughput { visits };
            points.push(Point { name: name.to_owned(), progress });
        }
        for ((begin, end), length) in queues(memory).into_iter().zip(&self.lengths) {
            let progress = Progress::Latency {
                arrivals: since(begin.0),
                departures: since(end.0),
                mean_length: length.area / duration_ns.max(1) as f64,
            };
            points.push(Point { name: name(begin.1), progress });
        }
        let runnable = end.runnable_ns.saturating_sub(begin.runnable_ns) as f64;
        Experiment {
            run: 0,
            process: 0,
            selected,
            speedup: self.speedup,
            start_ns: begin.time_ns,
            duration_ns,
            delay_ns: end.delay_ns - begin.delay_ns,
            samples: self.record.samples.load(Relaxed),
            selected_samples: self.record.selected_samples.load(Relaxed),
            runnable_mean: runnable / duration_ns.max(1) as f64,
            points,
        }
    }
}

/// A point and its number.
type Numbered<'a> = (usize, &'a MemoryPoint);

/// Points of which one begins what the other ends, in an order that stays.
fn queues(memory: &Memory) -> Vec<(Numbered<'_>, Numbered<'_>)> {
    let of_kind = |kind| {
        let named = |(_, point): &Numbered<'_>| {
            // Pairs with the program's release, behind kind and name.
            point.state.load(Acquire) == NAMED && point.kind.load(Relaxed) == kind
        };
        memory.points.iter().enumerate().filter(named).collect::<Vec<_>>()
    };
    let ends = of_kind(END);
    let pair = |begin: Numbered<'_>| {
        let end = ends.iter().find(|end| name(end.1) == name(begin.1))?;
        Some((begin.0, end.0))
    };
    let pairs = of_kind(BEGIN).into_iter().filter_map(pair);
    pairs.map(|(begin, end)| ((begin, &memory.points[begin]), (end, &memory.points[end]))).collect()
}

fn under_way(begin: Numbered<'_>, end: Numbered<'_>) -> f64 {
    // The end first: what ends meanwhile is not subtracted from what had not begun.
    let ended = end.1.visits.load(Relaxed);
    begin.1.visits.load(Relaxed).saturating_sub(ended) as f64
}

/// Whether anything has a beginning and an end.
pub fn has_queues(memory: &Memory) -> bool {
    !queues(memory).is_empty()
}

fn name(point: &MemoryPoint) -> String {
    let bytes: Vec<u8> =
        point.name.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// For how long the threads of a process have run, or waited for a processor.
fn runnable_ns(pid: u32) -> u64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let of_task = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse::<u64>);
        Some(numbers.next()?.ok()? + numbers.next()?.ok()?)
    };
    tasks.flatten().filter_map(of_task).sum()
}
