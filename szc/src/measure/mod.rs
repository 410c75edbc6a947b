//! Measuring: runs one program once, and says what it cost and on what machine.
//!
//! `program` turns a command string into an argument vector, `child` runs it,
//! `randomization` reads what its runtime logged, `sample` is the record of one
//! run and `machine` that of the computer. Nothing here compares anything.

pub mod child;
pub mod machine;
mod pipe;
pub mod program;
pub mod randomization;
pub mod sample;
