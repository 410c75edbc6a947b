//! The record of one program, as samples files hold it.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::runtime_log::RuntimeLog;
use super::schedule::ScheduleRecord;

/// One of the programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// How tables call it: A, B, C …, or the level of a sweep.
    pub label: String,
    /// Name given by the user.
    pub name: Option<String>,
    /// The program of a suite that this is a variant of; its blocks are counted for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The level of the parameter that a sweep varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The machine that measured it, if the file is of several: its place in their list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<usize>,
    /// Command as given.
    pub command: String,
    /// Whether it was run by a shell.
    pub via_shell: bool,
    /// Where it ran, if it was built by szc in a folder of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The file that ran, unless a shell decided.
    pub executable: Option<Executable>,
    /// The same program with its objects linked in other orders, the build's own being the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<OrderRecord>,
    /// Whether every run had a random layout.
    pub randomized: bool,
    /// Why not.
    pub not_randomized_reason: Option<String>,
    /// The last log object of its runtime.
    pub randomization: Option<RuntimeLog>,
    /// How its runs were scheduled; none in files from before, whose runs came one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleRecord>,
    /// What it has in common with the first program, where that makes layouts alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedRecord>,
}

/// How many functions of a program have the same canonical name in the first program: under the
/// same seed these lie alike in both, but for what their sizes change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRecord {
    /// Movable functions of the program.
    pub movable: u64,
    /// Those of them that are movable functions of the first program, too.
    pub shared: u64,
}

impl ProgramRecord {
    /// "B (new)", or "B" without a name; without control characters, whoever wrote the file.
    #[must_use]
    pub fn title(&self) -> String {
        let title = match &self.name {
            Some(name) => format!("{} ({name})", self.label),
            None => self.label.clone(),
        };
        printable(&title)
    }

    /// What of it does not move although it was built for it, and why, by the last log of its
    /// runtime.
    #[must_use]
    pub fn pinned(&self) -> Option<String> {
        self.randomization.as_ref().and_then(RuntimeLog::pinned)
    }

    /// Whether it shared a processor with the others of its blocks by turns.
    #[must_use]
    pub fn was_by_turns(&self) -> bool {
        self.schedule.as_ref().is_some_and(|schedule| schedule.by_turns)
    }

    /// The label alone, for narrow columns.
    #[must_use]
    pub fn title_label(&self) -> String {
        printable(&self.label)
    }
}

/// A program whose objects were linked in some order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// The order: "given", "alphabetical", or the seed of a random one.
    pub name: String,
    /// Command that was run.
    pub command: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The file that ran.
    pub executable: Option<Executable>,
}

/// `text` with a replacement character for each control character: names in files come from
/// elsewhere, and a terminal obeys escape sequences.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_control() { '\u{fffd}' } else { character })
        .collect()
}

/// The file behind a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executable {
    /// Absolute path.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
    /// Length of the file.
    pub size_bytes: u64,
    /// Strings of the ELF section `.comment`: the compilers and linkers involved.
    pub compiler: Vec<String>,
}
