//! The samples file: versioned JSON with everything a later analysis needs.
//!
//! Version 1. Fields may be added without a new version, and readers skip those
//! they do not know; a change of meaning takes a new version, and a reader
//! refuses a version newer than its own instead of guessing.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::comparison::{Comparison, MetricResult, Verdict};
use super::text::verdict_sentence;
use crate::measure::machine::Machine;
use crate::measure::program::Executable;
use crate::measure::randomization::RuntimeLog;
use crate::measure::sample::{Metric, Sample, Side};
use crate::stats::fixed::{CONFIDENCE, Interval};

/// Value of the field `format`.
pub const FORMAT: &str = "szc-samples";
/// Newest version this reader knows, and the one that is written.
pub const VERSION: u64 = 1;

/// A samples file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplesFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// Start of the experiment, ISO 8601, UTC.
    pub created: String,
    /// Version of szc.
    pub szc_version: String,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// Seed of the experiment.
    pub seed: u64,
    /// Plan of the experiment.
    pub design: DesignRecord,
    /// The machine at the start.
    pub machine: Machine,
    /// A and B.
    pub programs: Vec<ProgramRecord>,
    /// Measured runs in the order of time.
    pub runs: Vec<Sample>,
    /// How the experiment ended.
    pub ended: EndedRecord,
    /// The comparison; absent when there were too few blocks.
    pub result: Option<ResultRecord>,
}

/// Plan of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DesignRecord {
    /// Blocks planned.
    pub blocks: u32,
    /// Blocks that were completed; later runs belong to none.
    pub complete_blocks: u32,
    /// Runs of a program in each of its two positions of a block.
    pub runs_per_position: u32,
    /// Runs of each program that were not recorded.
    pub warmup: u32,
    /// Whether stdout had to be identical.
    pub check_output: bool,
    /// Longest time for a run.
    pub timeout_s: Option<f64>,
}

/// One of the programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// A or B, as in `runs`.
    pub label: Side,
    /// Name given by the user.
    pub name: Option<String>,
    /// Command as given.
    pub command: String,
    /// Whether it was run by a shell.
    pub via_shell: bool,
    /// The file that ran, unless a shell decided.
    pub executable: Option<Executable>,
    /// Whether every run had a random layout.
    pub randomized: bool,
    /// Why not.
    pub not_randomized_reason: Option<String>,
    /// The last log object of its runtime.
    pub randomization: Option<RuntimeLog>,
}

/// How an experiment ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "how")]
pub enum EndedRecord {
    /// All blocks were measured.
    Complete,
    /// A signal asked to stop.
    Interrupted {
        /// Number of the signal.
        signal: i32,
    },
    /// A program was unfit.
    Refused {
        /// The message that was printed.
        reason: String,
    },
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Statistical rule.
    pub rule: String,
    /// The metric that decides.
    pub metric: Metric,
    /// The verdict on it.
    pub verdict: Verdict,
    /// The verdict in words.
    pub sentence: String,
    /// All metrics that could be compared.
    pub metrics: Vec<MetricRecord>,
}

/// One metric compared. Ratios are B/A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricRecord {
    /// The metric.
    pub metric: Metric,
    /// Unit of the medians: "s" or "bytes".
    pub unit: String,
    /// Median of A over all runs.
    pub median_a: f64,
    /// Median of B over all runs.
    pub median_b: f64,
    /// Number of blocks.
    pub blocks: usize,
    /// Geometric mean ratio.
    pub ratio: f64,
    /// Interval of `ratio`: lower and upper end.
    pub interval: [f64; 2],
    /// Probability with which `interval` covers.
    pub confidence: f64,
    /// Mean log ratio of the blocks.
    pub mean_log_ratio: f64,
    /// Standard deviation of the log ratio over blocks.
    pub sd_log_ratio: f64,
    /// Median ratio of the blocks.
    pub median_ratio: f64,
    /// Sign interval of `median_ratio`.
    pub median_interval: [f64; 2],
    /// Exact probability with which `median_interval` covers.
    pub median_coverage: f64,
    /// Whether mean and median disagree: the tail of the layouts moved.
    pub mean_and_median_disagree: bool,
    /// Verdict by `interval`.
    pub verdict: Verdict,
    /// Blocks it would take to resolve 1 % with a power of 80 %.
    pub blocks_to_resolve_one_percent: u64,
}

impl From<&MetricResult> for MetricRecord {
    fn from(result: &MetricResult) -> Self {
        let ends = |interval: Interval| [interval.lower, interval.upper];
        let analysis = &result.analysis;
        Self {
            metric: result.metric,
            unit: match result.metric {
                Metric::Cpu | Metric::Wall => "s",
                Metric::Rss => "bytes",
            }
            .to_owned(),
            median_a: result.medians[0],
            median_b: result.medians[1],
            blocks: analysis.blocks,
            ratio: result.ratio(),
            interval: ends(result.ratio_interval()),
            confidence: CONFIDENCE,
            mean_log_ratio: analysis.mean,
            sd_log_ratio: analysis.standard_deviation,
            median_ratio: analysis.median.exp(),
            median_interval: ends(result.median_ratio_interval()),
            median_coverage: analysis.median_check.coverage,
            mean_and_median_disagree: analysis.mean_and_median_disagree(),
            verdict: result.verdict(),
            blocks_to_resolve_one_percent: result.blocks_to_resolve_named_ratio(),
        }
    }
}

impl ResultRecord {
    /// The record of a comparison; `None` without a result on the deciding metric.
    #[must_use]
    pub fn new(comparison: &Comparison) -> Option<Self> {
        let deciding = comparison.deciding_result()?;
        Some(Self {
            rule: "fixed n: t interval of the mean log ratio of blocks, sign interval of the median as check"
                .to_owned(),
            metric: comparison.deciding,
            verdict: deciding.verdict(),
            sentence: verdict_sentence(comparison),
            metrics: comparison.results.iter().map(MetricRecord::from).collect(),
        })
    }
}

/// Fails early when a samples file could not be written at the end.
///
/// # Errors
/// When the folder of `path` cannot be written to, or `path` is a folder.
pub fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!(
            "cannot write samples to {}: it is a folder; give the name of a file in it",
            path.display()
        );
    }
    temporary_beside(path).map(drop)
}

/// Writes a samples file; readers see the old file or the new one, never a half.
///
/// # Errors
/// When the folder of `path` cannot be written to or the disk is full.
pub fn write(path: &Path, file: &SamplesFile) -> Result<()> {
    let mut temporary = temporary_beside(path)?;
    let context = || format!("cannot write samples to {}", path.display());
    serde_json::to_writer_pretty(&mut temporary, file).with_context(context)?;
    temporary.write_all(b"\n").with_context(context)?;
    temporary.as_file().sync_all().with_context(context)?;
    temporary.persist(path).with_context(context)?;
    Ok(())
}

/// A temporary file in the folder of `path`, where a rename is atomic, with the
/// permissions of an ordinary new file.
fn temporary_beside(path: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let ordinary = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new()
        .prefix(".szc-samples-")
        .permissions(ordinary)
        .tempfile_in(&folder)
        .with_context(|| {
            format!(
                "cannot write samples to {}: the folder {} must exist and be writable",
                path.display(),
                folder.display()
            )
        })
}

/// Reads a samples file.
///
/// # Errors
/// When the file cannot be read, is no samples file, or is of a newer version.
pub fn read(path: &Path) -> Result<SamplesFile> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&bytes).with_context(|| format!("cannot use {} as a samples file", path.display()))
}

fn parse(bytes: &[u8]) -> Result<SamplesFile> {
    /// What every version has.
    #[derive(Deserialize)]
    struct Head {
        format: String,
        version: u64,
    }
    let head: Head = serde_json::from_slice(bytes).context(
        "it is not JSON with the fields `format` and `version`: give a file written by szc compare --json",
    )?;
    if head.format != FORMAT {
        bail!(
            "its format is {:?}, and {FORMAT:?} is needed: give a file written by szc compare --json",
            head.format
        );
    }
    if head.version > VERSION {
        bail!(
            "it is of version {}, and this szc {} reads versions up to {VERSION}: use a newer szc",
            head.version,
            env!("CARGO_PKG_VERSION")
        );
    }
    serde_json::from_slice(bytes)
        .with_context(|| format!("it says version {}, but a field is wrong", head.version))
}

/// `time` as ISO 8601 in UTC with seconds, such as `2024-02-29T23:59:59Z`.
///
/// Days become a date by the algorithm of Howard Hinnant ("chrono-compatible
/// low-level date algorithms", `civil_from_days`). Times before 1970 count as 1970.
#[must_use]
pub fn iso_8601(time: SystemTime) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = since_epoch.as_secs();
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests;
