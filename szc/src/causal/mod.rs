//! Causal profiles: what a program would gain if a line of it were faster.
//!
//! `file` is the form in which experiments are kept; all that is shown is computed from it alone.
//! `coz` reads and writes the form of coz. `analysis` says what follows from experiments, with
//! `phase` for programs that run in phases, and `diagnosis` what a reader has to know of them.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod coz;
pub mod file;
mod phase;
