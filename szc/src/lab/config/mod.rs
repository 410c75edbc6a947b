//! `szc.toml`: what a project measures, so that commands need not be told.
//!
//! ```toml
//! tolerance = "1%"                    # --delta of compare, --max-slowdown of gate
//! metrics = ["cpu", "wall"]           # the first one decides
//!
//! [[rows]]                            # of a harness: --row-tolerance
//! name = "parse/*"
//! tolerance = "2%"
//!
//! [[programs]]                        # without --, these are measured
//! name = "parser"
//! command = "./parse big.json"
//!
//! [build]                             # the versions that are compared
//! command = "make CC=szc CFLAGS={flags}"
//! flags = ["-O2", "-O3"]              # or revisions = ["main", "HEAD"], or [build.parameters]
//!
//! [runs]
//! budget = 200                        # blocks; or fixed = 30
//! timeout = 60                        # seconds
//! ```
//!
//! Everything in it is the default of an option: what the user writes
//! on the command line wins.
#![forbid(unsafe_code)]

mod defaults;
mod file;
mod problems;
mod reader;

pub use self::defaults::{ConfigOptions, Subject, parse};
pub use self::file::{BuildTable, Config, FILE, ProgramEntry, RunsTable, load, read};
pub use self::problems::{Problem, Problems, nearest};

#[cfg(test)]
mod tests;
