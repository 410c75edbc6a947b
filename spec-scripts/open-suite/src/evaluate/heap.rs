//! NIST's tests on addresses of the heap, by the program `heap-randomness`.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use szc::measure::machine;
use szc::samples::machine::Machine;

use super::ended::Done;
use super::record::{Archive, compress, decompressed};
use super::setting::Setting;
use super::step::Step;
use crate::say::say;
use crate::suite::Size;

/// Addresses from each source at the short size: two sequences.
const FEW_ADDRESSES: &str = "16667";

/// The file of results.
#[derive(Debug, Serialize, Deserialize)]
pub struct HeapRandomness {
    /// Where.
    pub machine: Machine,
    /// The version of the sources that evaluate.
    pub commit: Option<String>,
    /// The arguments behind `heap-randomness`.
    pub options: Vec<String>,
    /// Its results.
    pub lines: Vec<Line>,
}

/// A source of addresses, as `heap-randomness --json` writes it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Line {
    /// What the program does.
    pub pattern: String,
    /// What returns the addresses.
    pub source: String,
    /// Entries of a shuffle array.
    pub n: Option<u32>,
    /// The tests.
    pub tests: Vec<Test>,
    /// Whether the paper's six tests pass on the first sequence.
    pub passes_one: bool,
    /// Whether they pass by NIST's limit on all sequences.
    pub passes_all: bool,
}

/// Results of one test.
#[derive(Debug, Serialize, Deserialize)]
pub struct Test {
    /// NIST's name.
    pub test: String,
    /// Sequences.
    pub sequences: usize,
    /// P-value of the first sequence.
    pub first: f64,
    /// Sequences that pass at 0.01.
    pub passed: usize,
}

/// The results that are there.
///
/// # Errors
/// When they cannot be read.
pub fn results(archive: &Archive) -> Result<Option<HeapRandomness>> {
    let path = archive.place(Step::HeapRandomness, "heap.json.gz");
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = decompressed(&path)?;
    let results = serde_json::from_slice(&bytes);
    results.map(Some).with_context(|| format!("cannot use {}", path.display()))
}

/// Runs the tests, unless their results are there.
///
/// # Errors
/// When the program cannot be run or fails.
pub fn carry_out(setting: &Setting<'_>, step: Step) -> Result<Done> {
    say!("== {}", step.name());
    let is_there = results(&setting.archive)?.is_some();
    if is_there && !setting.options.again {
        return Ok(Done::Well);
    }
    if setting.options.plan {
        say!("about 10 min (at size test: some seconds)");
        return Ok(Done::Well);
    }
    let scratch = setting.cache.scratch()?;
    let json = scratch.path().join("heap.json");
    let mut options = vec!["--seed".to_owned(), setting.options.seed.to_string()];
    if setting.options.size == Size::Test {
        options.extend(["--n", "1,256", "--addresses", FEW_ADDRESSES].map(str::to_owned));
    }
    let tool = &setting.options.heap_tool;
    let status =
        Command::new(tool).args(&options).arg("--json").arg(&json).status().with_context(|| {
            format!("cannot run {}: cargo build --release -p szc-tests makes it", tool.display())
        })?;
    if !status.success() {
        bail!("{} failed ({status})", tool.display());
    }
    let lines = fs::read(&json).context("cannot read what heap-randomness wrote")?;
    let mut record = serde_json::to_value(HeapRandomness {
        machine: machine::current(),
        commit: setting.commit.clone(),
        options,
        lines: serde_json::from_slice(&lines).context("heap-randomness wrote something else")?,
    })?;
    setting.private.remove_from(&mut record);
    compress(&setting.archive.place(step, "heap.json.gz"), &serde_json::to_vec(&record)?)?;
    Ok(Done::Well)
}
