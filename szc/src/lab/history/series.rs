//! Values over time, one for each experiment, and where they change.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use serde::{Serialize, Serializer};
use szc_stats::change_points::{Search, change_points};
use szc_stats::fixed::Interval;

use crate::report::number::{decimals_for, quantities, range};
use crate::report::text::align;
use crate::samples::{Command, Metric, ResultRecord, SamplesFile, SummaryRecord, printable};

/// The same thing measured again and again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Series {
    /// "B / A" with the commands, or the program alone.
    pub(super) name: String,
    pub(super) metric: Metric,
    /// Whether the values are ratios to a reference.
    pub(super) is_ratio: bool,
    pub(super) machine: String,
    /// In the order of time.
    pub(super) points: Vec<Point>,
    pub(super) changes: Vec<Change>,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Point {
    /// Start of the experiment.
    pub(super) created: String,
    #[serde(serialize_with = "lossy")]
    pub(super) file: PathBuf,
    /// Ratio, or mean in the unit of the metric.
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
    /// The verdict at the time, in a word.
    pub(super) verdict: Option<String>,
    pub(super) n: usize,
}

/// A place where the values change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Change {
    /// The first point of the new state.
    pub(super) point: usize,
    pub(super) p: f64,
    /// Geometric mean of the values before, back to the change in front.
    pub(super) before: f64,
    /// Geometric mean of the values from here to the next change.
    pub(super) after: f64,
}

/// The series of all files, in the order of their first appearance; `metric` by name, or that of
/// each file's verdict.
pub(super) fn series_of(
    files: &[(PathBuf, SamplesFile)],
    metric: Option<&str>,
    search: &Search,
) -> Result<Vec<Series>> {
    let mut all: Vec<Series> = Vec::new();
    for (path, file) in files {
        let wanted = |found: &Metric| match metric {
            Some(name) => found.name() == name,
            None => *found == file.design.metric,
        };
        let mut add = |program: usize, name: String, metric: &Metric, is_ratio, point: Point| {
            let machine = file.machine_of(program).identity();
            if !(point.value > 0.0 && point.value.is_finite()) {
                return;
            }
            let same = |series: &&mut Series| {
                series.name == name
                    && series.metric == *metric
                    && series.is_ratio == is_ratio
                    && series.machine == machine
            };
            match all.iter_mut().find(same) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    name,
                    metric: metric.clone(),
                    is_ratio,
                    machine,
                    points: vec![point],
                    changes: Vec::new(),
                }),
            }
        };
        // A comparison that was cut off says nothing about what it compares.
        if file.results.is_empty() && file.command == Command::Run {
            for summary in file.summaries.iter().filter(|summary| wanted(&summary.metric)) {
                let name = program_name(file, summary.program);
                let point = point_of_summary(path, file, summary);
                add(summary.program, name, &summary.metric, false, point);
            }
        }
        for result in file.results.iter().filter(|result| wanted(&result.metric)) {
            let point = point_of_result(path, file, result);
            add(result.program, pair_name(file, result), &result.metric, true, point);
        }
    }
    for series in &mut all {
        series.find_changes(search)?;
    }
    Ok(all)
}

fn point_of_result(path: &Path, file: &SamplesFile, result: &ResultRecord) -> Point {
    Point {
        created: file.created.clone(),
        file: path.to_owned(),
        value: result.ratio,
        interval: Some(result.interval),
        verdict: Some(result.verdict.word().to_owned()),
        n: result.n,
    }
}

fn point_of_summary(path: &Path, file: &SamplesFile, summary: &SummaryRecord) -> Point {
    Point {
        created: file.created.clone(),
        file: path.to_owned(),
        value: summary.mean,
        interval: summary.interval,
        verdict: None,
        n: summary.layouts,
    }
}

/// JSON has text only, and file names may be anything.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// What stays the same when the program is measured again: not the name, which may hold a commit.
fn program_name(file: &SamplesFile, program: usize) -> String {
    let Some(record) = file.programs.get(program) else {
        return format!("program {}", program + 1);
    };
    match &record.workload {
        Some(workload) => format!("{workload} {}", record.label),
        None if file.programs.len() == 1 => {
            record.name.clone().unwrap_or_else(|| record.command.clone())
        }
        None => record.label.clone(),
    }
}

/// A pair is the same if labels and commands are: "B / A" alone is any two programs.
fn pair_name(file: &SamplesFile, result: &ResultRecord) -> String {
    let [one, other] = [result.program, result.reference];
    let labels = format!("{} / {}", program_name(file, one), program_name(file, other));
    let record = |program: usize| file.programs.get(program);
    match (record(one), record(other)) {
        (Some(one), Some(other)) if one.workload.is_none() => {
            let (one, other) = (without_folder(&one.command), without_folder(&other.command));
            if one == other {
                format!("{labels} of {one}")
            } else {
                format!("{labels} of {one} / {other}")
            }
        }
        _ => labels,
    }
}

/// A command without the folder of its program, which is another one for each build.
fn without_folder(command: &str) -> &str {
    let end = command.find(char::is_whitespace).unwrap_or(command.len());
    let start = command[..end].rfind('/').map_or(0, |slash| slash + 1);
    &command[start..]
}

impl Series {
    fn find_changes(&mut self, search: &Search) -> Result<()> {
        self.points
            .sort_by(|one, other| (&one.created, &one.file).cmp(&(&other.created, &other.file)));
        let logarithms: Vec<f64> = self.points.iter().map(|point| point.value.ln()).collect();
        let found = change_points(&logarithms, search)
            .map_err(|error| anyhow!("{}: {error}", printable(&self.name)))?;
        self.changes = found
            .into_iter()
            .map(|change| Change {
                point: change.index,
                p: change.p,
                before: change.before.exp(),
                after: change.after.exp(),
            })
            .collect();
        Ok(())
    }

    /// What the series is of.
    pub(super) fn title(&self) -> String {
        format!(
            "{} by {}, {} experiments on {}",
            printable(&self.name),
            self.metric.title(),
            self.points.len(),
            printable(&self.machine)
        )
    }

    /// One line for each experiment; `>` in front of those where something changed.
    pub(super) fn table(&self) -> String {
        let value = if self.is_ratio { "ratio" } else { "mean" };
        let mut rows = vec![
            ["  created", value, "95 % interval", "verdict", "n", "file"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (index, point) in self.points.iter().enumerate() {
            let mark =
                if self.changes.iter().any(|change| change.point == index) { ">" } else { " " };
            let [lower, upper] = point.interval.unwrap_or([point.value; 2]);
            let (value, interval) = self.shown(point.value, Interval { lower, upper });
            rows.push(vec![
                format!("{mark} {}", printable(&point.created)),
                value,
                if point.interval.is_some() { interval } else { "~".to_owned() },
                point.verdict.clone().unwrap_or_default(),
                point.n.to_string(),
                printable(&point.file.display().to_string()),
            ]);
        }
        align(&rows)
    }

    fn shown(&self, value: f64, interval: Interval) -> (String, String) {
        if self.is_ratio {
            let decimals = decimals_for(value, interval);
            return (format!("{value:.decimals$}"), range(interval, decimals));
        }
        let [value, lower, upper] =
            quantities(&self.metric, [value, interval.lower, interval.upper]);
        let lower = lower.split(' ').next().unwrap_or_default().to_owned();
        (value, format!("{lower} to {upper}"))
    }

    /// Each change in a sentence, or that there is none.
    pub(super) fn sentences(&self, least: u32) -> Vec<String> {
        let needed = 2 * least as usize;
        if self.points.len() < needed {
            return vec![format!(
                "No change point can be found: {} experiments, and {needed} are needed (--least \
                 {least}).",
                self.points.len()
            )];
        }
        if self.changes.is_empty() {
            return vec![
                "No change point was found; this does not show that nothing changed.".to_owned(),
            ];
        }
        self.changes
            .iter()
            .map(|change| {
                let point = &self.points[change.point];
                let share = 100.0 * (change.after / change.before - 1.0);
                let values = if self.is_ratio {
                    format!("ratio {:.4} to {:.4}", change.before, change.after)
                } else {
                    let [before, after] = quantities(&self.metric, [change.before, change.after]);
                    format!("{before} to {after}")
                };
                let p = if change.p < 1e-4 {
                    "less than 0.0001".to_owned()
                } else {
                    format!("{:.4}", change.p)
                };
                format!(
                    "Since {} ({}): {share:+.2} % {}, {values}, p = {p}.",
                    printable(&point.created),
                    printable(&point.file.display().to_string()),
                    self.metric.title(),
                )
            })
            .collect()
    }
}
