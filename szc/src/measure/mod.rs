//! Measuring: runs one program once, and says what it cost and on what machine.
//!
//! `program` turns a command string into an argument vector, `child` runs it,
//! `randomization` reads what its runtime logged, `sample` is the record of one
//! run, `metric` what is taken from it, and `machine` that of the computer. Nothing here compares anything.

pub mod child;
pub mod instrument;
pub mod machine;
pub mod metric;
mod pipe;
pub mod program;
pub mod randomization;
pub mod sample;
