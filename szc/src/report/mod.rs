//! Reports: what was found, as text for people and as JSON for programs.
//!
//! `json` is the file that everything else is made from: `comparison` and `summary` fill in its
//! results, `sentence` puts them into words, `text` prints them, and `progress` shows the way
//! there. `view` is what reports for people show of a file: `html` as a page with plots by `plot`,
//! `ci` for continuous integration. `export` gives the runs to other programs.
#![forbid(unsafe_code)]

pub mod ci;
pub mod comparison;
pub mod diagnostics;
pub mod export;
pub mod groups;
pub mod html;
pub mod json;
pub mod layouts;
pub mod machines;
pub mod number;
pub mod plot;
pub mod progress;
pub mod sentence;
pub mod suite;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod view;
