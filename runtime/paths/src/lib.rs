//! Which sequences of basic blocks a thread executes most often, found while it runs.
//!
//! A *subpath* is a sequence of 2, 4, 8, … blocks that are executed one after the other, wherever
//! they begin. The profile is a random sample of them: at random blocks a subpath of a random
//! length begins, and a list of bounded memory counts the equal ones. When the list is full, each
//! subpath in it is kept with probability ½, and from then on half as many begin.
//!
//! Sources: Oren, Matias and Sagiv, "Online Subpath Profiling" (CC 2002); Gibbons and Matias, "New
//! Sampling-Based Summary Statistics for Improving Approximate Query Answers" (SIGMOD 1998),
//! concise samples.
//!
//! A profile is an array of words, so that who runs the program can read it from outside. Nothing
//! here allocates, and nothing reads memory that it was not given.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
// Words of 32 bits: block numbers, counts, offsets in the profile.
#![allow(clippy::cast_possible_truncation)]

mod file;
mod hot_list;
mod identity;
pub mod live;
mod profile;
mod random;
mod shape;
mod view;

pub use file::{FileHeader, HEADER_WORDS, MAX_PATH_BYTES};
pub use profile::{begin, block, check, has_begun};
pub use shape::{
    MAX_LENGTH, MIN_SPACING, Mode, STARTS, Shape, TooSmall, inverse_probability, words_of,
};
pub use view::{Subpath, View};

#[cfg(test)]
mod tests;
