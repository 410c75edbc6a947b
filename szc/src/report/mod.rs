//! Reports: what was found, as text for people and as JSON for programs.
//!
//! `json` is the file that everything else is made from: `comparison` and `summary` fill in its
//! results, `sentence` puts them into words, `text` prints them, and `progress` shows the way there.
#![forbid(unsafe_code)]

pub mod comparison;
pub mod diagnostics;
pub mod groups;
pub mod json;
pub mod layouts;
pub mod number;
pub mod progress;
pub mod sentence;
pub mod suite;
pub mod summary;
pub mod text;
pub mod verdict;
