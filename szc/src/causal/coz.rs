//! The form of coz's profiles, so that its viewer shows ours and we read those that people have.
//!
//! A line is a type and fields, `key=value` behind tabs, or a JSON object. Names of types differ
//! between versions of coz: `throughput-point`, `throughput_point` and `progress-point` are one.
//! Durations are without delays; the delays are not told.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::file::{CausalProfile, Experiment, LocationSamples, Point, Progress, Run, VERSION};
use super::file::{Header, Location};

/// coz's own sampling period.
const PERIOD_NS: u64 = 1_000_000;

/// By how much mean lengths are multiplied, because the viewer cuts off their decimals. What it
/// shows are ratios, in which that cancels.
const LENGTH_UNIT: f64 = 1_000.0;

/// Whether a text begins as a profile of coz does.
#[must_use]
pub fn is_coz(text: &str) -> bool {
    let first = text.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let types = ["startup", "experiment", "samples", "runtime"];
    fields(first).is_ok_and(|(kind, _)| types.contains(&kind.as_str()) && !is_ours(first))
}

/// Lines of our own form have the same types.
fn is_ours(line: &str) -> bool {
    line.contains("\"duration_ns\"")
}

/// Reads a profile; `shown` is what it is called in errors. A last line that is cut off is left
/// out.
///
/// # Errors
/// A line is none of coz's.
pub fn read(text: &str, shown: &str) -> Result<CausalProfile> {
    let header = Header { version: VERSION, period_ns: PERIOD_NS, ..Header::default() };
    let mut reader = Reader {
        profile: CausalProfile { header, ..CausalProfile::default() },
        samples: BTreeMap::new(),
        run: 0,
    };
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else { break };
        if line.is_empty() {
            continue;
        }
        reader
            .line(line)
            .with_context(|| format!("line {} of {shown} is none of coz's", at + 1))?;
    }
    reader.end_run();
    Ok(reader.profile)
}

struct Reader {
    profile: CausalProfile,
    /// Counts are told again and again, each time from the start of the run.
    samples: BTreeMap<Location, u64>,
    run: u32,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<()> {
        let (kind, fields) = fields(line)?;
        match kind.as_str() {
            "startup" => self.end_run(),
            "experiment" => {
                self.profile.experiments.push(Experiment {
                    run: self.run,
                    process: 0,
                    selected: location(fields.text("selected")?),
                    speedup: fields.number("speedup")?,
                    start_ns: 0,
                    duration_ns: fields.count("duration")?,
                    delay_ns: 0,
                    samples: 0,
                    selected_samples: fields
                        .count("selected-samples")
                        .or_else(|_| fields.count("selected_samples"))
                        .unwrap_or(0),
                    runnable_mean: 0.0,
                    points: Vec::new(),
                });
            }
            "throughput-point" | "throughput_point" | "progress-point" => {
                let visits = fields.count("delta")?;
                self.point(&fields, Progress::Throughput { visits })?;
            }
            "latency-point" | "latency_point" => {
                let progress = Progress::Latency {
                    arrivals: fields.count("arrivals")?,
                    departures: fields.count("departures")?,
                    mean_length: fields.number("difference")?,
                };
                self.point(&fields, progress)?;
            }
            "samples" => {
                let place = location(fields.text("location")?);
                self.samples.insert(place, fields.count("count")?);
            }
            "runtime" | "shutdown" => {}
            other => bail!("there is no type {other:?}"),
        }
        Ok(())
    }

    fn point(&mut self, fields: &Fields, progress: Progress) -> Result<()> {
        let experiment =
            self.profile.experiments.last_mut().context("a point without experiment")?;
        experiment.points.push(Point { name: fields.text("name")?.to_owned(), progress });
        Ok(())
    }

    /// Puts together what was sampled. The time of a run holds delays that are not told, so it is
    /// left at 0, and no phases are corrected for.
    fn end_run(&mut self) {
        if self.samples.is_empty() && self.profile.experiments.is_empty() {
            return;
        }
        let samples = std::mem::take(&mut self.samples)
            .into_iter()
            .map(|(location, count)| LocationSamples { location, count, unaltered: None })
            .collect();
        self.profile.runs.push(Run { run: self.run, samples, ..Run::default() });
        self.run += 1;
    }
}

/// `FILE:NUMBER`, or the name of something else.
fn location(text: &str) -> Location {
    match text.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
        Some((file, Ok(line))) => Location::Line { file: file.to_owned(), line },
        _ => Location::Function { function: text.to_owned() },
    }
}

struct Fields(BTreeMap<String, String>);

impl Fields {
    fn text(&self, key: &str) -> Result<&str> {
        self.0.get(key).map(String::as_str).with_context(|| format!("{key} is missing"))
    }

    fn number(&self, key: &str) -> Result<f64> {
        let text = self.text(key)?;
        text.parse().with_context(|| format!("{key} is {text:?} and no number"))
    }

    /// A whole number. Below 0, as durations are with more delay than time, it is 0; coz writes
    /// such ones without their sign, as a number near 2⁶⁴.
    fn count(&self, key: &str) -> Result<u64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let count = self.number(key)? as u64;
        Ok(if count > i64::MAX.unsigned_abs() { 0 } else { count })
    }
}

/// The type of a line and its fields.
fn fields(line: &str) -> Result<(String, Fields)> {
    if line.starts_with('{') {
        let object: BTreeMap<String, Value> = serde_json::from_str(line)?;
        let plain = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let mut fields: BTreeMap<String, String> =
            object.into_iter().map(|(key, value)| (key, plain(value))).collect();
        let kind = fields.remove("type").context("type is missing")?;
        return Ok((kind, Fields(fields)));
    }
    let mut parts = line.split('\t');
    let kind = parts.next().unwrap_or_default().to_owned();
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.to_owned(), value.to_owned()))
    };
    Ok((kind, Fields(parts.filter_map(pair).collect())))
}

/// The profile in the form with tabs, which all versions of the viewer open.
#[must_use]
pub fn text(profile: &CausalProfile) -> String {
    let mut text = String::new();
    let mut runs: Vec<u32> = profile.experiments.iter().map(|one| one.run).collect();
    runs.extend(profile.runs.iter().map(|run| run.run));
    runs.sort_unstable();
    runs.dedup();
    for run in runs {
        let experiments = || profile.experiments.iter().filter(|one| one.run == run);
        let start = experiments().map(|one| one.start_ns).min().unwrap_or(0);
        text.push_str(&format!("startup\ttime={start}\n"));
        experiments().for_each(|experiment| text.push_str(&experiment_lines(experiment)));
        for process in profile.runs.iter().filter(|one| one.run == run) {
            text.push_str(&format!("runtime\ttime={}\n", process.elapsed_ns));
            for place in &process.samples {
                let name = field(&place.location.to_string());
                text.push_str(&format!("samples\tlocation={name}\tcount={}\n", place.count));
            }
        }
    }
    text
}

fn experiment_lines(experiment: &Experiment) -> String {
    let mut text = format!(
        "experiment\tselected={}\tspeedup={}\tduration={}\tselected-samples={}\n",
        field(&experiment.selected.to_string()),
        experiment.speedup,
        experiment.effective_ns(),
        experiment.selected_samples
    );
    for point in &experiment.points {
        let name = field(&point.name);
        text.push_str(&match point.progress {
            Progress::Throughput { visits } => {
                format!("throughput-point\tname={name}\tdelta={visits}\n")
            }
            Progress::Latency { arrivals, departures, mean_length } => format!(
                "latency-point\tname={name}\tarrivals={arrivals}\tdepartures={departures}\t\
                 difference={:.0}\n",
                mean_length * LENGTH_UNIT
            ),
        });
    }
    text
}

/// A field ends at a tab, a line at its end.
fn field(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

#[cfg(test)]
mod tests;
