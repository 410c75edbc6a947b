//! The open suite: real programs of the kinds that SPEC CPU has, which anyone can fetch, build with
//! any compiler, check and measure. `suite.toml` describes the programs, this tool knows no names.
//!
//! Phases, each a file that borrows what the one before made: [`suite`] (what the file says),
//! [`fetch`] (sources), [`toolchain`] and [`build`], [`workload`] (inputs and commands), and then
//! [`check`] or [`measure`].
#![forbid(unsafe_code)]

mod build;
mod check;
mod cli;
mod evaluate;
mod fetch;
mod files;
mod group;
mod hash;
mod measure;
mod pool;
mod run;
mod say;
mod suite;
mod toolchain;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
