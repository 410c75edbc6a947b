//! The laboratory: subcommands that run programs under many layouts and draw conclusions.
//!
//! A subcommand parses its arguments and describes an `experiment`, which lets a `session` carry
//! out a `design` and hands the samples to `report` and `stats`. Exit codes are shared by all.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod build;
pub mod compare;
pub mod config;
pub mod design;
pub mod experiment;
pub mod export;
pub mod gate;
pub mod history;
pub mod import;
pub mod merge;
pub mod metric;
pub mod options;
pub mod output;
pub mod report;
mod resume;
pub mod run;
pub mod saved;
pub mod session;
pub mod shard;
pub mod sweep;
pub mod versions;

/// A verdict was reached, "unresolved" included; a gate passed.
pub const EXIT_VERDICT: u8 = 0;
/// szc itself could not do its work, such as writing a file; a gate failed.
pub const EXIT_INTERNAL: u8 = 1;
/// A gate failed: the same code as any failed check.
pub const EXIT_FAIL: u8 = 1;
/// The command line makes no sense, or a file it names cannot be used.
pub const EXIT_USAGE: u8 = 2;
/// A gate is inconclusive.
pub const EXIT_INCONCLUSIVE: u8 = 3;
/// The measured program failed, or cannot be compared.
pub const EXIT_PROGRAM: u8 = 4;
/// Added to the number of the signal that ended the experiment, as shells do.
pub const EXIT_SIGNAL_BASE: u8 = 128;
