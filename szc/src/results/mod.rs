//! Results: computed from the runs of a samples file, never from anything else.
//!
//! `comparison` judges programs against their references, `groups` those without common blocks,
//! `rows` finds what of a harness can be compared, `tolerance` says by how much each may differ,
//! `summary` looks at each program by itself, `suite` at levels over all programs, `machines` at
//! what several machines measured, and `bias` at what setups do to the answer. Sentences and tables
//! about them are the report's.
#![forbid(unsafe_code)]

mod analysis;
pub mod bias;
pub mod block_time;
pub mod comparison;
pub mod diagnostics;
pub mod groups;
pub mod luck;
pub mod machines;
pub mod rows;
pub mod slowest;
pub mod split;
pub mod suite;
pub mod summary;
pub mod tolerance;

pub use self::analysis::{analyse, complete};
