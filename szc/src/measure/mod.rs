//! Measuring: runs one program once, and says what it cost and on what machine.
//!
//! `program` turns a command string into an argument vector, `child` runs it,
//! `randomization` reads what its runtime logged, `sample` is the record of one
//! run, `metric` what is taken from it, and `machine` that of the computer. Figures beyond what the
//! kernel accounts come from instruments: `counters` (hardware), `valgrind` (simulation) and
//! `user_figure` (what the program prints). Nothing here compares anything.

pub mod child;
pub mod counters;
mod descendants;
pub mod instrument;
pub mod machine;
pub mod metric;
mod pipe;
pub mod program;
pub mod randomization;
pub mod rsf;
pub mod sample;
pub mod user_figure;
pub mod valgrind;
