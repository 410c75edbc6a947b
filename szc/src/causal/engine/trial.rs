//! One experiment: what it measures, from its beginning to its end.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use szc_abi::causal::{Memory, NAMED, Record, THROUGHPUT};
use szc_sampler::clock::now;

use super::breakpoints::Breakpoints;
use super::lengths::{Looks, Visits, name, queues};
use super::runnable::runnable_ns;
use super::spaces::Found;
use crate::causal::file::{Experiment, Location, Point, Progress};

/// What measures.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Memory of the programs.
    pub memory: &'a Memory,
    /// Points that these have not.
    pub breakpoints: &'a Breakpoints,
    /// The programs.
    pub processes: &'a BTreeSet<u32>,
}

/// An experiment that runs.
pub struct Trial {
    /// What is sped up.
    pub found: Found,
    /// By how much of its time.
    pub speedup: f64,
    record: &'static Record,
    measurement: Measurement,
}

/// A time in which is measured what comes of it.
pub struct Measurement {
    begin: Snapshot,
    looks: Looks,
}

/// What came of it.
pub struct Measured {
    /// When it began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// How much of that every thread was delayed.
    pub delay_ns: u64,
    /// Mean number of threads that ran or could have.
    pub runnable_mean: f64,
    /// What was counted.
    pub points: Vec<Point>,
}

/// What there is at one time.
struct Snapshot {
    time_ns: u64,
    delay_ns: u64,
    visits: Visits,
    /// By breakpoint.
    hits: Vec<u64>,
    runnable_ns: u64,
}

impl Snapshot {
    fn take(sources: Sources<'_>) -> Self {
        let Sources { memory, breakpoints, processes } = sources;
        let runnable_ns = runnable_ns(memory, processes);
        // Close to each other: this is one moment.
        let hits = breakpoints.counts();
        let visits = Visits::count(memory);
        let delay_ns = memory.delay_ns.load(Relaxed);
        Self { time_ns: now(), delay_ns, visits, hits, runnable_ns }
    }
}

impl Measurement {
    /// Begins.
    pub fn begin(sources: Sources<'_>) -> Self {
        let mut looks = Looks::default();
        looks.look(sources.memory);
        Self { begin: Snapshot::take(sources), looks }
    }

    /// Looks how much is under way. The means are good if this comes at random times.
    pub fn look(&mut self, memory: &Memory) {
        self.looks.look(memory);
    }

    /// What was measured up to `end_ns`, now if there is none.
    pub fn end(mut self, sources: Sources<'_>, end_ns: Option<u64>) -> Measured {
        let Sources { memory, breakpoints, .. } = sources;
        self.looks.look(memory);
        let end = Snapshot::take(sources);
        let begin = &self.begin;
        let end_ns = end_ns.unwrap_or(end.time_ns);
        let duration_ns = end_ns.saturating_sub(begin.time_ns);
        let since = |at: usize| end.visits.of(at) - begin.visits.of(at);
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
        for (first, last) in queues(memory) {
            let counts = (&begin.visits, &end.visits);
            let progress = Progress::Latency {
                arrivals: since(first.0),
                departures: since(last.0),
                mean_length: self.looks.mean((first.0, last.0), counts, end_ns - end.delay_ns),
            };
            points.push(Point { name: name(first.1), progress });
        }
        let runnable = end.runnable_ns.saturating_sub(begin.runnable_ns) as f64;
        Measured {
            start_ns: begin.time_ns,
            duration_ns,
            delay_ns: end.delay_ns - begin.delay_ns,
            runnable_mean: runnable / duration_ns.max(1) as f64,
            points,
        }
    }
}

impl Trial {
    /// An experiment that programs have just been told of by `record`.
    pub fn begin(found: Found, speedup: f64, record: &'static Record, from: Sources<'_>) -> Self {
        Self { found, speedup, record, measurement: Measurement::begin(from) }
    }

    /// Looks how much is under way. The means are good if this comes at random times.
    pub fn look(&mut self, memory: &Memory) {
        self.measurement.look(memory);
    }

    /// What was measured up to `end_ns`, now if there is none.
    pub fn end(self, from: Sources<'_>, selected: Location, end_ns: Option<u64>) -> Experiment {
        let measured = self.measurement.end(from, end_ns);
        Experiment {
            run: 0,
            process: 0,
            selected,
            speedup: self.speedup,
            start_ns: measured.start_ns,
            duration_ns: measured.duration_ns,
            delay_ns: measured.delay_ns,
            samples: self.record.samples.load(Relaxed),
            selected_samples: self.record.selected_samples.load(Relaxed),
            runnable_mean: measured.runnable_mean,
            points: measured.points,
        }
    }
}
