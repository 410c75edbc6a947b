//! What perf records of a program, and whether the stacks in it are true.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use szc_tests::tools::{Place, succeed};

/// The functions that call one another, innermost first.
pub(super) const CALLS: [&str; 5] = ["innermost", "inner", "outer", "outermost", "main"];

/// Whether the kernel lets this user sample programs by the clock; says so if not.
pub(super) fn may_sample() -> bool {
    let place = Place::new();
    let mut record = place.command("perf");
    record.args(["record", "-q", "-e", "cpu-clock", "-o", "perf.data", "true"]);
    let output = record.output().unwrap_or_else(|error| {
        panic!("perf does not start ({error}); spec-scripts/setup.sh --tests installs it")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    let forbidden = ["ermission", "not permitted", "perf_event_paranoid"];
    if !output.status.success() && forbidden.iter().any(|args| errors.contains(args)) {
        eprintln!("not checked: the kernel lets this user record no events: {errors}");
        return false;
    }
    assert!(output.status.success(), "{record:?}: {errors}");
    true
}

/// A recording of `./x`, whose files are gone with it.
pub(super) struct Recording<'a> {
    pub(super) place: &'a Place,
    pub(super) processes: Vec<String>,
}

impl<'a> Recording<'a> {
    /// Records `./x` with stacks by this method, under these settings.
    pub(super) fn of(place: &'a Place, stacks: &str, ms: &str, settings: &[(&str, &str)]) -> Self {
        let mut record = place.command("perf");
        record.args(["record", "-q", "-e", "cpu-clock", "-F", "500", "--call-graph", stacks]);
        record.args(["-o", "perf.data", "./x", ms]).envs(settings.iter().copied());
        let processes = succeed(&mut record).lines().map(str::to_owned).collect();
        Self { place, processes }
    }

    /// What `perf report` says of functions, without their callers.
    pub(super) fn report(&self, options: &[&str]) -> String {
        let mut report = self.place.command("perf");
        report.args(["report", "-i", "perf.data", "--stdio", "--no-children", "-g", "none"]);
        succeed(report.args(options))
    }

    /// Records until nothing is lost, as on a busy machine about every fifth time: with what is
    /// lost goes what says that other code lies at an address now. The samples that show any of
    /// [`CALLS`].
    pub(super) fn complete(record: impl Fn() -> Self) -> (Self, Vec<Sample>) {
        let try_it = |_| {
            let recording = record();
            let samples = recording.samples()?;
            Some((recording, samples))
        };
        // All eight lose something in fewer than one of 100,000 tests.
        (0..8).find_map(try_it).expect("perf loses events again and again: the machine is too busy")
    }

    /// Nothing if perf lost events.
    fn samples(&self) -> Option<Vec<Sample>> {
        let mut script = self.place.command("perf");
        script.args(["script", "-i", "perf.data", "--no-inline", "-F", "ip,sym,dso"]);
        let text = succeed(script.arg("--show-lost-events"));
        if text.contains("PERF_RECORD_LOST lost") {
            return None;
        }
        let samples = text.split("\n\n").filter_map(|sample| {
            let frame = |line: &str| {
                let (address, rest) = line.trim().split_once(' ')?;
                let (name, file) = rest.rsplit_once(" (")?;
                // C++ names come with arguments.
                let name = name.split('(').next().unwrap_or("").to_owned();
                let offset = u64::from_str_radix(address, 16).ok()?;
                Some((offset, file.trim_end_matches(')').to_owned(), name))
            };
            let frames: Vec<(u64, String, String)> = sample.lines().filter_map(frame).collect();
            let (offset, file, _) =
                frames.iter().find(|(_, _, name)| CALLS.contains(&name.as_str()))?.clone();
            let functions = frames.into_iter().map(|(_, _, name)| name).collect();
            Some(Sample { offset, file: self.place.path.join(file), functions })
        });
        Some(samples.collect())
    }
}

/// Where a sample was taken, and the functions that called one another there.
#[derive(Debug)]
pub(super) struct Sample {
    /// Offset in a file of the first instruction that belongs to any of [`CALLS`].
    offset: u64,
    pub(super) file: PathBuf,
    /// Innermost first.
    functions: Vec<String>,
}

impl Sample {
    pub(super) fn own(&self) -> Vec<&str> {
        self.functions.iter().map(String::as_str).filter(|name| CALLS.contains(name)).collect()
    }

    /// Whether the stack ends with the true callers of its innermost function of [`CALLS`], and
    /// goes on to where the program or a thread began.
    fn is_true(&self) -> bool {
        let own = self.own();
        let is_whole = match self.functions.last().map(String::as_str) {
            Some("_start") => CALLS.ends_with(&own),
            Some("clone3" | "__clone3" | "clone" | "__clone") => CALLS[..4].ends_with(&own),
            _ => false,
        };
        is_whole && !own.is_empty()
    }

    /// Whether the stack ends with the caller of a function that was about to return. clang's rules
    /// have no line for `pop %rbp`: at the `ret` behind it they say that the caller's `rbp` lies in
    /// memory, below the stack pointer by then, which no recording holds. So it is without szc,
    /// too.
    fn ends_at_the_caller(&self) -> bool {
        let own = self.own();
        let is_pair = own == self.functions && CALLS.windows(2).any(|calls| calls == own);
        let mut byte = [0];
        is_pair
            && fs::File::open(&self.file)
                .and_then(|file| file.read_exact_at(&mut byte, self.offset))
                .is_ok()
            && byte == [RETURN]
    }

    /// Whether the stack ends where an exception is caught, with the unwinder's own last
    /// instructions: they have put the handler in the place of their return address, and the stack
    /// pointer is not yet where the handler's frame begins. So it is without szc, too.
    fn ends_at_a_handler(&self) -> bool {
        let is_handler =
            |pair: &[String]| pair[0].starts_with("_Unwind_R") && CALLS.contains(&pair[1].as_str());
        !self.is_true() && self.functions.windows(2).any(is_handler)
    }
}

/// The instruction `ret` (Intel SDM volume 2).
const RETURN: u8 = 0xc3;

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        let begins: Vec<String> =
            self.processes.iter().map(|process| format!("szc-{process}-")).collect();
        for file in fs::read_dir("/tmp").into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if begins.iter().any(|begin| name.starts_with(begin)) {
                let _ = fs::remove_file(file.path());
            }
        }
        for process in &self.processes {
            let _ = fs::remove_file(format!("/tmp/perf-{process}.map"));
        }
    }
}

/// Asserts that there are samples, that all stacks are true, and how many layouts they saw at
/// least. Four may end at the caller or at a handler: one of 8,600 did, and even if one in 2,000
/// did, five of 600 would in fewer than one of 10,000 recordings.
pub(super) fn assert_true(samples: &[Sample], least: usize, layouts: usize) {
    assert!(samples.len() >= least, "{} samples", samples.len());
    let (cut, whole): (Vec<_>, Vec<_>) = samples
        .iter()
        .partition(|sample| sample.ends_at_the_caller() || sample.ends_at_a_handler());
    assert!(cut.len() <= 4, "{cut:?} of {}", samples.len());
    for sample in whole {
        assert!(sample.is_true(), "{sample:?}");
    }
    let innermost = samples.iter().filter(|sample| sample.own().contains(&"innermost"));
    // A function of less than a page lies on two of them at most.
    let pages: HashSet<u64> = innermost.map(|sample| sample.offset >> 12).collect();
    let seen = pages.len().div_ceil(2);
    assert!(seen >= layouts, "{seen} layouts");
}
