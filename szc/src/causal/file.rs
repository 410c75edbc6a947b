//! The file of a causal profile: one JSON object a line, written as experiments end. What was
//! written stays whatever happens afterwards; a last line that is cut off is left out.
//!
//! Lines of a type, and fields, that this version does not know are passed over, so that more can
//! be written without a new version. The form is described in `szc/docs/src/causal.md`.
#![forbid(unsafe_code)]

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::arrivals::{ArrivalCounts, Load};

/// The version that is written.
pub const VERSION: u32 = 1;

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// What was asked for. The first line; runs that are added later may repeat it.
    Header(Header),
    /// What one experiment measured.
    Experiment(Experiment),
    /// What one process measured over the whole of its run.
    Run(Run),
    /// What one run measured under a load.
    Load(LoadRun),
    /// How a process ended.
    End(End),
    /// Something that this version does not know.
    #[serde(other)]
    Other,
}

/// What was asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Header {
    /// Version of the form.
    pub version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What lines and speedups were drawn by.
    #[serde(default)]
    pub seed: u64,
    /// Mean interval between samples of a thread, in CPU time.
    #[serde(default)]
    pub period_ns: u64,
    /// Processors that the program could use; 0 if that is not known.
    #[serde(default)]
    pub processors: u32,
    /// Whether an experiment is a whole run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub end_to_end: bool,
    /// The load that there was instead of the own one, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Files, functions and objects that could be selected, in words; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
}

/// What can be sped up.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(untagged)]
pub enum Location {
    /// A line of a source.
    Line {
        /// The source, as the debug information names it.
        file: String,
        /// Counted from 1.
        line: u32,
    },
    /// A function.
    Function {
        /// Its name.
        function: String,
    },
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line } => write!(formatter, "{file}:{line}"),
            Self::Function { function } => formatter.write_str(function),
        }
    }
}

/// What one experiment measured.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Experiment {
    /// Run of the command, from 0.
    #[serde(default)]
    pub run: u32,
    /// The process.
    #[serde(default)]
    pub process: u32,
    /// What was sped up.
    pub selected: Location,
    /// By how much: a share of its time, 0 to 1.
    pub speedup: f64,
    /// When it began, by the monotonic clock.
    #[serde(default)]
    pub start_ns: u64,
    /// How long it took, delays included.
    pub duration_ns: u64,
    /// How much of that every thread was delayed.
    pub delay_ns: u64,
    /// Samples of all threads in its time.
    #[serde(default)]
    pub samples: u64,
    /// Those in what was selected.
    #[serde(default)]
    pub selected_samples: u64,
    /// Mean number of threads that ran or could have; 0 if that is not known.
    #[serde(default)]
    pub runnable_mean: f64,
    /// What progress points counted in its time.
    pub points: Vec<Point>,
}

impl Experiment {
    /// How long it would have taken without the delays.
    #[must_use]
    pub fn effective_ns(&self) -> u64 {
        self.duration_ns.saturating_sub(self.delay_ns)
    }
}

/// A progress point in an experiment.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Point {
    /// Its name.
    pub name: String,
    /// What was counted.
    #[serde(flatten)]
    pub progress: Progress,
}

/// What a progress point counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Progress {
    /// How often something was done. A run as a whole counts 1.
    Throughput {
        /// Visits.
        visits: u64,
    },
    /// How much began and ended.
    Latency {
        /// Visits of the point where it begins.
        arrivals: u64,
        /// Visits of the point where it ends.
        departures: u64,
        /// How much was under way, as a mean over the time of the experiment.
        mean_length: f64,
    },
}

/// What one process measured over the whole of its run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Run {
    /// Run of the command, from 0.
    #[serde(default)]
    pub run: u32,
    /// The process.
    #[serde(default)]
    pub process: u32,
    /// From its start to its end, delays included.
    pub elapsed_ns: u64,
    /// Samples of each place that could be selected.
    #[serde(default)]
    pub samples: Vec<LocationSamples>,
    /// Samples of code with a name that is out of scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_out_of_scope: Option<u64>,
    /// Samples of code for which there is no line, for want of debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_without_line: Option<u64>,
    /// Time in which nothing was sped up: experiments with a speedup of 0, and all between
    /// experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unaltered_ns: Option<u64>,
    /// What arrived, where experiments are made under a greater load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCounts>,
}

/// Samples of one place.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct LocationSamples {
    /// The place.
    pub location: Location,
    /// Samples in the whole run.
    pub count: u64,
    /// Those of the time in which nothing was sped up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unaltered: Option<u64>,
}

/// What one run measured, with a greater load or without.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct LoadRun {
    /// Run of the command, from 0.
    pub run: u32,
    /// The process.
    pub process: u32,
    /// Whether the load was greater than it is.
    pub is_amplified: bool,
    /// When it began, by the monotonic clock.
    pub start_ns: u64,
    /// How long it took, delays included.
    pub duration_ns: u64,
    /// How much of that every thread was delayed.
    pub delay_ns: u64,
    /// Mean number of threads that ran or could have.
    pub runnable_mean: f64,
    /// What arrived.
    pub arrivals: ArrivalCounts,
    /// What progress points counted.
    pub points: Vec<Point>,
}

/// How a process ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct End {
    /// "exit 0", "signal 11" and the like.
    pub reason: String,
    /// Run of the command, from 0.
    #[serde(default)]
    pub run: u32,
    /// The process.
    #[serde(default)]
    pub process: u32,
}

// serde passes a reference.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// All that a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CausalProfile {
    /// What was asked for.
    pub header: Header,
    /// Experiments in the order in which they ended.
    pub experiments: Vec<Experiment>,
    /// Whole runs of processes.
    pub runs: Vec<Run>,
    /// Runs under a load and without.
    pub loads: Vec<LoadRun>,
    /// Ends of processes.
    pub ends: Vec<End>,
}

impl CausalProfile {
    /// The lines of its file.
    pub fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        std::iter::once(Line::Header(self.header.clone()))
            .chain(self.experiments.iter().cloned().map(Line::Experiment))
            .chain(self.runs.iter().cloned().map(Line::Run))
            .chain(self.loads.iter().cloned().map(Line::Load))
            .chain(self.ends.iter().cloned().map(Line::End))
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Experiment(experiment) => self.experiments.push(experiment),
            Line::Run(run) => self.runs.push(run),
            Line::Load(load) => self.loads.push(load),
            Line::End(end) => self.ends.push(end),
            Line::Header(_) | Line::Other => {}
        }
    }
}

/// Writes a causal profile.
pub struct Writer {
    out: BufWriter<File>,
}

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let mut writer = Self { out: BufWriter::new(File::create(path)?) };
        writer.add(&Line::Header(header.clone()))?;
        Ok(writer)
    }

    /// Goes on with a file, to which others may add lines as well.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(path: &Path) -> io::Result<Self> {
        Ok(Self { out: BufWriter::new(OpenOptions::new().append(true).open(path)?) })
    }

    /// Adds a line, and hands it to the kernel by one call if it is not very long.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.out.write_all(&text)?;
        self.out.flush()
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read, or is none of this version.
pub fn read(path: &Path) -> Result<CausalProfile> {
    let shown = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    read_from(BufReader::new(file), &shown)
}

/// Reads what a file holds; `shown` is what it is called in errors.
///
/// # Errors
/// It cannot be read, or is none of this version.
pub fn read_from(mut reader: impl BufRead, shown: &str) -> Result<CausalProfile> {
    let mut profile = CausalProfile::default();
    let mut text = Vec::new();
    for number in 1_u64.. {
        text.clear();
        reader.read_until(b'\n', &mut text).with_context(|| format!("cannot read {shown}"))?;
        if !text.ends_with(b"\n") && number > 1 {
            // The end, or a line that was cut off.
            break;
        }
        let line = serde_json::from_slice::<Line>(&text);
        if number == 1 {
            let Ok(Line::Header(header)) = line else {
                bail!("{shown} is no causal profile; `szc causal -- COMMAND` writes one");
            };
            check_version(&header, shown)?;
            profile.header = header;
            continue;
        }
        let line = line.with_context(|| format!("line {number} of {shown} is damaged"))?;
        if let Line::Header(header) = &line {
            check_version(header, shown)?;
        }
        profile.add(line);
    }
    Ok(profile)
}

fn check_version(header: &Header, shown: &str) -> Result<()> {
    if header.version > VERSION {
        bail!("{shown} is of version {}, and this szc reads up to {VERSION}", header.version);
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
