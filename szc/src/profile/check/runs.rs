//! Runs of the program: plain, under a profiler, with longer calls of a function.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use nix::sys::personality::{self, Persona};

use super::record::Computation;
use crate::lab::failure::Failure;
use crate::measure::child::{self, End, Invocation};
use crate::measure::program::Program;
use crate::measure::stop::Stop;
use crate::profile::profilers::{Hotness, Profiler};

/// The program, in one layout.
pub struct Subjected<'a> {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Its file.
    pub path: PathBuf,
    /// Seed of its layout.
    pub seed: u64,
    /// Asks to stop.
    pub stop: &'a Stop,
}

/// Name of the log of a run.
const LOG_FILE: &str = "log";

/// What is computed at each call of a function, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Longer<'a> {
    pub symbol: &'a str,
    pub computation: Computation,
    pub rounds: u32,
}

/// The log of a process; other fields are not of interest.
#[derive(serde::Deserialize)]
struct Log {
    pid: u32,
    cpu_ns: u64,
    code_refused: Option<String>,
}

impl<'a> Subjected<'a> {
    /// A program that is to run in the layout of a seed, and always at the same addresses.
    pub fn new(command: &[String], seed: u64, stop: &'a Stop) -> Result<Self, Failure> {
        let command = command.to_vec();
        let named = Program::new(0, None, "program").map_err(Failure::Usage)?;
        let path = Program { argv: command.clone(), ..named }
            .executable_path()
            .ok_or_else(|| Failure::Usage(anyhow!("cannot run {}", command[0])))?;
        if let Ok(own) = personality::get() {
            // Inherited by all that szc runs from here on. Without it layouts are the same, and
            // stack and heap are not.
            let _ = personality::set(own | Persona::ADDR_NO_RANDOMIZE);
        }
        Ok(Self { command, path, seed, stop })
    }

    /// Runs it: the CPU time that it took by its own clock, in seconds, and what the profiler says.
    ///
    /// # Errors
    /// It cannot be run, or fails, or says nothing of itself.
    pub fn run(
        &self,
        profiler: Option<&Profiler>,
        longer: Option<Longer<'_>>,
    ) -> Result<(f64, Option<Hotness>), Failure> {
        let scratch = folder()?;
        let inject = longer.map(|Longer { symbol, computation, rounds }| {
            ("SZC_INJECT", OsString::from(format!("{symbol}:{}:{rounds}", computation.name())))
        });
        let environment: Vec<(&str, OsString)> = inject.into_iter().collect();
        let hotness = self.execute(profiler, scratch.path(), &environment)?;
        let seconds = cpu_seconds(&scratch.path().join(LOG_FILE))
            .with_context(|| format!("{} says nothing of itself", self.command.join(" ")))
            .map_err(Failure::Usage)?;
        Ok((seconds, hotness))
    }

    /// Runs it as any program, in its layout if it has one; `environment` is added to that which
    /// the profiler needs.
    pub fn execute(
        &self,
        profiler: Option<&Profiler>,
        scratch: &Path,
        environment: &[(&str, OsString)],
    ) -> Result<Option<Hotness>, Failure> {
        let words = match profiler {
            Some(profiler) => profiler.command(scratch, &self.command)?,
            None => self.command.clone(),
        };
        let own = profiler.map(|profiler| profiler.environment(scratch)).unwrap_or_default();
        let layout: [(&str, OsString); 3] = [
            ("SZC_SEED", self.seed.to_string().into()),
            ("SZC_INTERVAL_MS", "0".into()),
            ("SZC_LOG", scratch.join(LOG_FILE).into()),
        ];
        let environment: Vec<(&str, &OsStr)> = layout
            .iter()
            .chain(&own)
            .chain(environment)
            .map(|(name, value)| (*name, value.as_os_str()))
            .collect();
        let invocation = Invocation { environment: &environment, ..Invocation::new(&words) };
        let outcome = child::run(&invocation, self.stop)
            .with_context(|| format!("cannot run {}", words[0]))
            .map_err(Failure::Usage)?;
        if let Some(signal) = self.stop.signal() {
            return Err(Failure::Interrupted(signal));
        }
        if outcome.end != End::Exited(0) {
            return Err(Failure::Build(format!(
                "{} failed ({:?}): {}",
                words.join(" "),
                outcome.end,
                String::from_utf8_lossy(&outcome.stderr_tail).trim()
            )));
        }
        let read = profiler.map(|profiler| profiler.read(scratch, &self.path));
        remove_symbols(&scratch.join(LOG_FILE));
        read.transpose().map_err(Failure::Usage)
    }
}

/// A folder for the files of a run.
pub fn folder() -> anyhow::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("szc-check-").tempdir().context("no folder for the run's files")
}

/// Removes what processes have left for profilers that read names of copies (`SZC_SYMBOLS`): the
/// profile has been read.
fn remove_symbols(log: &Path) {
    let text = fs::read_to_string(log).unwrap_or_default();
    for log in text.lines().filter_map(|line| serde_json::from_str::<Log>(line).ok()) {
        let own = [format!("szc-{}-", log.pid), format!("perf-{}.map", log.pid)];
        for entry in fs::read_dir("/tmp").into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if own.iter().any(|own| name.starts_with(own)) {
                // Whoever else has removed it has done this work.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The CPU time of all processes that wrote to a log.
fn cpu_seconds(path: &Path) -> anyhow::Result<f64> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut sum = 0.0;
    for line in text.lines() {
        let log: Log = serde_json::from_str(line).context("its log (SZC_LOG) is damaged")?;
        if let Some(reason) = log.code_refused {
            bail!("its functions do not move: {reason}");
        }
        sum += log.cpu_ns as f64 / 1e9;
    }
    if sum <= 0.0 {
        bail!("it has left no log (SZC_LOG): build it with szc");
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_program_is_that_of_all_its_processes() {
        let folder = folder().unwrap();
        let path = folder.path().join("log");
        let seconds = |text: &str| {
            fs::write(&path, text).unwrap();
            cpu_seconds(&path).map_err(|error| error.to_string())
        };
        let two = "{\"pid\":1,\"cpu_ns\":1500000000}\n{\"pid\":2,\"cpu_ns\":500000000}\n";
        assert_eq!(seconds(two), Ok(2.0));
        assert!(seconds("").unwrap_err().contains("no log"));
        let refused = "{\"pid\":1,\"cpu_ns\":1,\"code_refused\":\"why\"}\n";
        assert!(seconds(refused).unwrap_err().ends_with("why"));
    }
}
