//! A lane: what one run needs for itself, so that several can be under way at once.
//!
//! It holds the folder for the logs of the run's runtime, the folder for files of instruments, and
//! the instruments. Whoever starts a run and its instruments is one thread (see `counters`).
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::child::{self, End, Invocation, Outcome};
use super::instrument::Instrument;
use super::randomization::RunLog;
use super::stop::Stop;

/// Variable that names the log of the runtime.
pub const LOG_VARIABLE: &str = "SZC_LOG";

/// Folders and instruments of one run at a time.
pub struct Lane {
    logs: TempDir,
    scratch: TempDir,
    instruments: Vec<Box<dyn Instrument>>,
}

/// A run that was started, and what its instruments and its runtime say of it.
pub struct Ran {
    /// Words that were executed.
    pub argv: Vec<String>,
    /// How it ended; or why it could not be started or watched.
    pub outcome: io::Result<Outcome>,
    /// Figures of the instruments, or why there are none; empty if it failed.
    pub figures: Result<BTreeMap<String, f64>, String>,
    /// What its runtime logged.
    pub log: RunLog,
    /// Whether it was killed because another one of its round failed.
    pub was_abandoned: bool,
}

impl Lane {
    /// A lane with these instruments.
    ///
    /// # Errors
    /// When its folders cannot be made.
    pub fn new(instruments: Vec<Box<dyn Instrument>>) -> io::Result<Self> {
        let temporary = |prefix| tempfile::Builder::new().prefix(prefix).tempdir();
        Ok(Self { logs: temporary("szc-log-")?, scratch: temporary("szc-run-")?, instruments })
    }

    /// As many lanes, all with instruments of the same kinds.
    ///
    /// # Errors
    /// When their folders cannot be made.
    pub fn several(count: usize, instruments: &[Box<dyn Instrument>]) -> io::Result<Vec<Self>> {
        let another = || instruments.iter().map(|instrument| instrument.another()).collect();
        (0..count).map(|_| Self::new(another())).collect()
    }

    /// Runs a program to its end, with its instruments, `variables` set over those of
    /// `invocation`.
    ///
    /// # Errors
    /// When an instrument does not work, or files of the run cannot be read and removed. A program
    /// that fails is a [`Ran`].
    pub fn run(
        &mut self,
        invocation: &Invocation<'_>,
        variables: &[(String, OsString)],
        stop: &Stop,
    ) -> io::Result<Ran> {
        let scratch = self.scratch.path();
        let mut argv = invocation.argv.to_vec();
        let log_file = self.logs.path().join("%p.json");
        let mut own = vec![(LOG_VARIABLE.to_owned(), log_file.into_os_string())];
        own.extend_from_slice(variables);
        for instrument in &self.instruments {
            argv = instrument.command(argv, scratch);
            own.extend(instrument.environment(scratch));
        }
        let own = own.iter().map(|(name, value)| (name.as_str(), value.as_os_str()));
        let environment: Vec<(&str, &OsStr)> =
            invocation.environment.iter().copied().chain(own).collect();
        for instrument in &mut self.instruments {
            instrument.start(scratch)?;
        }
        let invocation = Invocation { argv: &argv, environment: &environment, ..*invocation };
        let outcome = child::run(&invocation, stop);
        let log = RunLog::take(self.logs.path())?;
        let mut figures = Ok(BTreeMap::new());
        if let Ok(outcome) = &outcome
            && outcome.end == End::Exited(0)
        {
            figures = self.figures(outcome);
        }
        empty(self.scratch.path())?;
        Ok(Ran { argv, outcome, figures, log, was_abandoned: false })
    }

    fn figures(&mut self, outcome: &Outcome) -> Result<BTreeMap<String, f64>, String> {
        let mut all = BTreeMap::new();
        for instrument in &mut self.instruments {
            all.extend(instrument.figures(self.scratch.path(), outcome)?);
        }
        Ok(all)
    }
}

/// A run of a round: what to start, and the variables that are its own.
pub struct Start<'a> {
    /// What to start, and how.
    pub invocation: Invocation<'a>,
    /// Variables set over those of the invocation.
    pub variables: Vec<(String, OsString)>,
}

/// Carries out runs that are under way at once, each in a lane of its own, started in this order.
/// When one fails the others are killed.
///
/// # Errors
/// Those of [`Lane::run`].
pub fn round(lanes: &mut [Lane], starts: &[Start<'_>], stop: &Stop) -> io::Result<Vec<Ran>> {
    if let ([lane, ..], [start]) = (&mut *lanes, starts) {
        return Ok(vec![lane.run(&start.invocation, &start.variables, stop)?]);
    }
    let abandoned = AtomicBool::new(false);
    let carry_out = |lane: &mut Lane, start: &Start<'_>| {
        let invocation = Invocation { abandoned: Some(&abandoned), ..start.invocation };
        let mut ran = lane.run(&invocation, &start.variables, stop);
        let has_succeeded =
            |ran: &Ran| matches!(&ran.outcome, Ok(outcome) if outcome.end == End::Exited(0));
        if !ran.as_ref().is_ok_and(has_succeeded) {
            let was_abandoned = abandoned.swap(true, Ordering::Relaxed);
            ran = ran.map(|ran| Ran { was_abandoned, ..ran });
        }
        ran
    };
    std::thread::scope(|scope| {
        let carry_out = &carry_out;
        let threads: Vec<_> = lanes
            .iter_mut()
            .zip(starts)
            .map(|(lane, start)| scope.spawn(move || carry_out(lane, start)))
            .collect();
        threads
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(ran) => ran,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

/// Removes what an instrument left in its folder.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
