//! The `szc` program; the library decides what a call means.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    szc::cli::main(std::env::args_os())
}
