//! What profilers said of a program, as JSON.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::analysis::{Pair, Profiled};

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the form.
    pub szc_disagree: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What the order of runs was drawn by.
    pub seed: u64,
    /// Runs under each profiler.
    pub runs: u16,
    /// What each says.
    pub profilers: Vec<Profiled>,
    /// `Union_n`, for n from 1 on.
    pub unions: Vec<usize>,
    /// All pairs.
    pub pairs: Vec<Pair>,
    /// Whether anybody has seen calls.
    pub has_calls: bool,
    /// The observer effect of each profiler.
    pub observed: Vec<Observed>,
}

/// What szc sees of the hottest function while a profiler is at work, and without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// The function.
    pub function: String,
    /// Its share without the profiler.
    pub without: f64,
    /// Its share with it; nothing if the function was not seen.
    pub with: Option<f64>,
}
