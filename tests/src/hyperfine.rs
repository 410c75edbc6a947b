//! Files of hyperfine's `--export-json`, with which the laboratory is compared.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// An experiment on two commands.
#[derive(Deserialize)]
pub struct Export {
    /// The commands, in their order.
    pub results: [Benchmark; 2],
}

/// One command.
#[derive(Deserialize)]
pub struct Benchmark {
    /// Wall seconds of each run.
    pub times: Vec<f64>,
}

impl Export {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not one of two commands.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).with_context(|| path.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| path.display().to_string())
    }
}
