//! The compiler driver, the relocation tables and the laboratory, as a library: `main.rs` is its
//! command line.
pub mod cargo;
pub mod causal;
pub mod cli;
pub mod doctor;
pub mod drive;
pub mod error;
#[cfg(test)]
mod examples;
pub mod inspect;
pub mod lab;
pub mod measure;
pub mod paths;
pub mod perturb;
pub mod profile;
pub mod report;
pub mod results;
pub mod samples;
pub mod version;
