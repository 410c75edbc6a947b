//! The laboratory: subcommands that run programs under many layouts and draw conclusions.
//!
//! A `subcommand` reads its options and describes an `experiment`, which lets a `session` carry out
//! a design and keeps the samples; `conclusion` prints the report and saves them. What follows from
//! samples is computed by `results` and put into words by `report`. Exit codes (`exit`) are shared
//! by all.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod baseline;
pub mod bias;
pub mod build;
#[cfg(test)]
mod calibration;
pub mod compare;
pub mod conclusion;
pub mod config;
pub mod exit;
pub mod experiment;
pub mod export;
pub mod failure;
pub mod gate;
pub mod history;
pub mod import;
pub mod luck;
pub mod merge;
pub mod metric;
pub mod options;
pub mod output;
pub mod report;
mod resume;
pub mod run;
pub mod saved;
pub mod session;
pub mod subcommand;
pub mod sweep;
pub mod values;
pub mod versions;
