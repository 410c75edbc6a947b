//! Harnesses that write JSON.
#![forbid(unsafe_code)]

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::row::{Row, seconds_in};

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("its JSON cannot be read: {error}"))
}

#[derive(Deserialize)]
struct GoogleBenchmarks {
    benchmarks: Vec<GoogleBenchmark>,
}

#[derive(Deserialize)]
struct GoogleBenchmark {
    name: String,
    /// Without the suffixes of aggregates; absent in old versions.
    run_name: Option<String>,
    run_type: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
}

/// Google Benchmark: CPU time, and elapsed time where the benchmark asks for it by its name.
/// Aggregates are left out, since single repetitions are there.
pub(super) fn google_benchmark(text: &str) -> Result<Vec<Row>, String> {
    let found: GoogleBenchmarks = read(text)?;
    let row = |benchmark: GoogleBenchmark| {
        let is_run = benchmark.run_type.as_deref().unwrap_or("iteration") == "iteration";
        if !is_run || benchmark.error_occurred {
            return None;
        }
        let name = benchmark.run_name.unwrap_or(benchmark.name);
        let by_clock = name.contains("/real_time") || name.contains("/manual_time");
        let time = if by_clock { benchmark.real_time } else { benchmark.cpu_time };
        let unit = seconds_in(benchmark.time_unit.as_deref().unwrap_or("ns"))?;
        Some(Row { name, seconds: time? * unit })
    };
    Ok(found.benchmarks.into_iter().filter_map(row).collect())
}

#[derive(Deserialize)]
struct CriterionName {
    full_id: String,
}

#[derive(Deserialize)]
struct CriterionEstimates {
    mean: CriterionEstimate,
    slope: Option<CriterionEstimate>,
}

#[derive(Deserialize)]
struct CriterionEstimate {
    point_estimate: f64,
}

/// Criterion: the slope where there is one, as it prints itself, else the mean; in nanoseconds.
pub(super) fn criterion(benchmark: &str, estimates: &str) -> Option<Row> {
    let name: CriterionName = serde_json::from_str(benchmark).ok()?;
    let found: CriterionEstimates = serde_json::from_str(estimates).ok()?;
    let time = found.slope.unwrap_or(found.mean).point_estimate;
    Some(Row { name: name.full_id, seconds: time * 1e-9 })
}

#[derive(Deserialize)]
struct PytestBenchmarks {
    benchmarks: Vec<PytestBenchmark>,
}

#[derive(Deserialize)]
struct PytestBenchmark {
    fullname: String,
    stats: PytestStats,
}

#[derive(Deserialize)]
struct PytestStats {
    median: f64,
}

/// pytest-benchmark: the median of its rounds, of which some hold collections of garbage.
pub(super) fn pytest(text: &str) -> Result<Vec<Row>, String> {
    let found: PytestBenchmarks = read(text)?;
    let row = |one: PytestBenchmark| Row { name: one.fullname, seconds: one.stats.median };
    Ok(found.benchmarks.into_iter().map(row).collect())
}

#[derive(Deserialize)]
struct HyperfineResults {
    results: Vec<HyperfineResult>,
}

#[derive(Deserialize)]
struct HyperfineResult {
    command: String,
    mean: f64,
}

/// hyperfine: the mean elapsed time of each command.
pub(super) fn hyperfine(text: &str) -> Result<Vec<Row>, String> {
    let found: HyperfineResults = read(text)?;
    let row = |one: HyperfineResult| Row { name: one.command, seconds: one.mean };
    Ok(found.results.into_iter().map(row).collect())
}
