//! Reports: what was found, as text for people and as JSON for programs.
//!
//! `comparison` puts samples and statistics into the terms of a report; `text`
//! and `json` write it; `progress` shows the way there.
#![forbid(unsafe_code)]

pub mod comparison;
pub mod json;
pub mod plot;
pub mod progress;
pub mod text;
