//! The laboratory: subcommands that run programs under many layouts and draw conclusions.
//!
//! A subcommand parses its arguments, lets a session measure, and hands samples
//! to `stats` and the result to `report`. Exit codes are shared by all of them.
#![forbid(unsafe_code)]

pub mod build;
pub mod compare;
pub mod config;
pub mod design;
pub mod session;

/// A verdict was reached, "unresolved" included.
pub const EXIT_VERDICT: u8 = 0;
/// szc itself could not do its work, such as writing a file.
pub const EXIT_INTERNAL: u8 = 1;
/// The command line makes no sense.
pub const EXIT_USAGE: u8 = 2;
/// The measured program failed, or cannot be compared.
pub const EXIT_PROGRAM: u8 = 4;
/// Added to the number of the signal that ended the experiment, as shells do.
pub const EXIT_SIGNAL_BASE: u8 = 128;
