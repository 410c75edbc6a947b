//! Causal profiles: what a program would gain if a line of it were faster.
//!
//! `file` is the form in which experiments are kept; all that is shown is computed from it alone.
#![forbid(unsafe_code)]

pub mod file;
