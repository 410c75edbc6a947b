//! Hardware counters of a run, where the machine has them: perf_event_open(2).
//!
//! A counter is opened on the calling thread, switched off, inherited, and told to start at the
//! next `execve`. So it counts from the first instruction of the program that this thread starts
//! next, in it and in all its descendants that end before it is read, and nothing of szc. Only user
//! mode is counted, which is what most systems allow everybody. Where there are more counters than
//! the processor can count at once the kernel takes turns; figures are then scaled by time enabled
//! over time running, as perf-stat(1) does.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

use super::child::Outcome;
use super::instrument::Instrument;

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Cycles of the processor in user mode.
    Cycles,
    /// Instructions retired in user mode.
    Instructions,
    /// Misses of the last level of cache.
    CacheMisses,
    /// Mispredicted branches.
    BranchMisses,
}

impl Event {
    /// All, in the order of tables.
    pub const ALL: [Self; 4] =
        [Self::Cycles, Self::Instructions, Self::CacheMisses, Self::BranchMisses];

    /// The name of its figure.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "retired-instructions",
            Self::CacheMisses => "cache-misses",
            Self::BranchMisses => "branch-misses",
        }
    }

    fn builder(self) -> Builder<'static> {
        Builder::new(match self {
            Self::Cycles => Hardware::CPU_CYCLES,
            Self::Instructions => Hardware::INSTRUCTIONS,
            Self::CacheMisses => Hardware::CACHE_MISSES,
            Self::BranchMisses => Hardware::BRANCH_MISSES,
        })
    }
}

/// Counters that wait for the next program that this thread starts.
pub struct Counters {
    open: Vec<(&'static str, Counter)>,
}

impl Counters {
    /// Opens those of [`Event::ALL`] that this machine has. To be called for each run anew, by the
    /// thread that will start the program.
    ///
    /// # Errors
    /// The reason, and what would help, if it has none of them.
    pub fn open() -> Result<Self, String> {
        Self::open_all(Event::ALL.map(|event| (event.name(), event.builder())).into())
    }

    fn open_all(builders: Vec<(&'static str, Builder<'_>)>) -> Result<Self, String> {
        let mut open = Vec::new();
        let mut failure = None;
        for (name, mut builder) in builders {
            match builder.inherit(true).enable_on_exec(true).build() {
                Ok(counter) => open.push((name, counter)),
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        match failure {
            Some(error) if open.is_empty() => Err(why_unavailable(&error, paranoid_level())),
            _ => Ok(Self { open }),
        }
    }

    /// Names of the figures.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.open.iter().map(|(name, _)| *name).collect()
    }

    /// The counts since the program started; those that never got a turn on the processor are
    /// left out.
    ///
    /// # Errors
    /// What read(2) reports.
    pub fn read(&mut self) -> io::Result<Vec<(&'static str, f64)>> {
        let mut figures = Vec::new();
        for (name, counter) in &mut self.open {
            let found = counter.read_full()?;
            let times = found.time_enabled().zip(found.time_running());
            let scaled = times.and_then(|(enabled, running)| {
                scaled(found.count(), enabled.as_nanos() as f64, running.as_nanos() as f64)
            });
            figures.extend(scaled.map(|value| (*name, value)));
        }
        Ok(figures)
    }
}

/// The instrument of every run on a machine that has counters.
pub struct HardwareCounters {
    open: Option<Counters>,
    /// The figure that a run must have.
    needed: Option<String>,
}

impl HardwareCounters {
    /// Counters for every run; a run without the figure `needed` has failed.
    ///
    /// # Errors
    /// The reason, and what would help, if this machine has none of them, or not that one.
    pub fn new(needed: Option<String>) -> Result<Self, String> {
        let found = Counters::open()?;
        if let Some(name) = &needed
            && !found.open.iter().any(|(known, _)| known == name)
        {
            return Err(format!("this machine has hardware counters, but none for {name}"));
        }
        Ok(Self { open: None, needed })
    }
}

impl Instrument for HardwareCounters {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(Self { open: None, needed: self.needed.clone() })
    }

    fn start(&mut self, _scratch: &Path) -> io::Result<()> {
        self.open = Some(Counters::open().map_err(io::Error::other)?);
        Ok(())
    }

    fn figures(
        &mut self,
        _scratch: &Path,
        _outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        let mut counters = self.open.take().ok_or("the hardware counters were not started")?;
        let read = counters.read().map_err(|error| format!("hardware counters: {error}"))?;
        let figures: BTreeMap<String, f64> =
            read.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        match &self.needed {
            Some(name) if !figures.contains_key(name) => Err(format!(
                "the counter of {name} got no turn on the processor\n  needed: a free counter\n  \
                 next: end other profilers, or make the runs longer"
            )),
            _ => Ok(figures),
        }
    }
}

/// `count` over the whole time, if it was taken only while `running` of `enabled` (one unit).
fn scaled(count: u64, enabled: f64, running: f64) -> Option<f64> {
    (running > 0.0).then(|| count as f64 * (enabled / running).max(1.0))
}

fn paranoid_level() -> Option<i32> {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

fn why_unavailable(error: &io::Error, paranoid: Option<i32>) -> String {
    let reason = match (error.kind(), paranoid) {
        (io::ErrorKind::PermissionDenied, Some(level)) if level > 2 => format!(
            "the kernel forbids them (kernel.perf_event_paranoid is {level}): as root, `sysctl \
             kernel.perf_event_paranoid=2`"
        ),
        (io::ErrorKind::PermissionDenied, _) => {
            "something forbids perf_event_open, such as a container's seccomp filter".to_owned()
        }
        (io::ErrorKind::NotFound | io::ErrorKind::Unsupported, _) => {
            "this machine shows none, as most virtual machines do".to_owned()
        }
        _ => format!("perf_event_open: {error}"),
    };
    format!("no hardware counters: {reason}")
}

/// Counters of the kernel's own, which every machine has: the same road without the hardware.
#[cfg(test)]
fn software_counters() -> Result<Counters, String> {
    use perf_event::events::Software;
    Counters::open_all(vec![
        ("task-clock", Builder::new(Software::TASK_CLOCK)),
        ("page-faults", Builder::new(Software::PAGE_FAULTS)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn figure(figures: &[(&str, f64)], name: &str) -> f64 {
        figures.iter().find(|(found, _)| *found == name).expect("the counter was opened").1
    }

    fn run(script: &str) {
        assert!(Command::new("/bin/sh").args(["-c", script]).status().unwrap().success());
    }

    #[test]
    fn only_the_program_started_next_is_counted_with_its_children() {
        let mut counters = software_counters().expect("software counters need no hardware");
        let before = counters.read().unwrap();
        assert!(before.iter().all(|(_, value)| *value == 0.0), "{before:?}");
        run("true");
        let short = counters.read().unwrap();
        assert!(figure(&short, "page-faults") > 0.0, "{short:?}");
        assert!(figure(&short, "task-clock") > 0.0, "{short:?}");

        let mut counters = software_counters().unwrap();
        run("(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); true");
        let long = counters.read().unwrap();
        let (long, short) = (figure(&long, "task-clock"), figure(&short, "task-clock"));
        assert!(long > 5.0 * short, "the loop in a subshell: {long}, nothing: {short}");
    }

    #[test]
    fn a_machine_without_counters_says_so_and_one_with_them_counts() {
        match Counters::open() {
            Err(reason) => assert!(reason.starts_with("no hardware counters: "), "{reason}"),
            Ok(mut counters) => {
                run("true");
                let figures = counters.read().unwrap();
                assert!(figures.iter().all(|(_, value)| *value >= 0.0), "{figures:?}");
            }
        }
    }

    #[test]
    fn the_reason_names_what_would_help() {
        let reason = |kind, level| why_unavailable(&io::Error::from(kind), level);
        let denied = io::ErrorKind::PermissionDenied;
        assert!(reason(denied, Some(4)).contains("sysctl kernel.perf_event_paranoid=2"));
        assert!(reason(denied, Some(2)).contains("seccomp"));
        assert!(reason(io::ErrorKind::NotFound, Some(2)).contains("virtual machines"));
    }

    #[test]
    fn counts_are_scaled_to_the_whole_time() {
        assert_eq!(scaled(100, 10.0, 10.0), Some(100.0));
        assert_eq!(scaled(100, 10.0, 5.0), Some(200.0));
        assert_eq!(scaled(0, 10.0, 0.0), None);
    }
}
