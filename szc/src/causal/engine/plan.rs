//! What all runs of a recording have in common.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::causal::file::Header;

/// What all runs have in common.
pub struct Plan {
    /// What is asked for, as the profile says it.
    pub header: Header,
    /// The library that is preloaded.
    pub library: PathBuf,
    /// Progress points that the program has not.
    pub progress: Vec<String>,
    /// Where something arrives, if it is at no progress point.
    pub arrival: Option<String>,
    /// Whether nothing but the load differs between runs.
    pub is_load_alone: bool,
    /// What is sped up, if that was asked for.
    pub fixed: Option<String>,
    /// Whether a run is an experiment.
    pub end_to_end: bool,
}
