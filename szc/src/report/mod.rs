//! Reports: what was found, as text for people and as data for other programs. Nothing here
//! computes a result.
//!
//! `sentence`, `layouts` and `suite_sentences` put results into words, `text` and `suite` print
//! them as tables, and `progress` shows the way there. `view` is what reports for people show of a
//! file: `html` as a page with plots by `plot`, `ci` for continuous integration. `export` gives the
//! runs to other programs.
#![forbid(unsafe_code)]

pub mod bias;
pub mod ci;
pub mod export;
pub mod html;
pub mod layouts;
pub mod luck;
pub mod number;
pub mod plot;
pub mod price;
pub mod progress;
pub mod remarks;
pub mod rows;
pub mod sentence;
pub mod split;
pub mod suite;
pub mod suite_sentences;
pub mod tail;
pub mod text;
pub mod view;
