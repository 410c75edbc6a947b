//! What `suite.toml` says: programs, where their sources are, how they are built and run.
#![forbid(unsafe_code)]

mod read;
mod records;
mod select;
#[cfg(test)]
mod tests;

pub use self::read::load;
pub use self::records::{Archive, Language, Program, Size, Suite, Trait, Workload};
