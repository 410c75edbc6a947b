//! Layouts as numbers: what is drawn from a seed, in which order places are used, and which bytes
//! lead calls from one copy to another.
//!
//! Numbers go in and numbers come out. Nothing here reads or writes memory that it was not given,
//! so all of it can be tested without a process to change, and two runs with one seed agree.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
// Fields of machine code are parts of words.
#![allow(clippy::cast_possible_truncation)]

pub mod arch;
pub mod body;
pub mod epoch;
mod grid;
pub mod held;
pub mod order;
pub mod pads;
pub mod placement;
pub mod rng;
pub mod slot;
