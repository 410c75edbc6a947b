//! Statistics as pure functions of numbers: no clocks, no files, no processes.
//!
//! The unit of replication is the layout. Every function that takes
//! `differences` takes one number per block, the log ratio between two programs
//! that were each given fresh layouts in that block, so its length is the n of
//! every formula. Reference values in the tests come from `reference.py`.
#![forbid(unsafe_code)]

pub mod describe;
pub mod fixed;

#[cfg(test)]
mod calibration;
