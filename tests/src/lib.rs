//! What the tests share: programs with directives, building them by szc and by a plain compiler,
//! running them under a setting of the runtime, and reading what the runtime writes about a run.

pub mod addresses;
pub mod browser;
pub mod build;
pub mod directives;
pub mod hyperfine;
pub mod laboratory;
pub mod nist;
pub mod records;
pub mod run;
pub mod statistics;
pub mod tools;
