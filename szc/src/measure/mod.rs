//! Measuring: runs one program once, and says what it cost and on what machine.
//!
//! `program` turns a command string into an argument vector, `child` runs it, `lane` runs several
//! at once, of which `turns` says when that is fair; `randomization` reads what a runtime logged,
//! `shared` what two programs have in common, `hottest` which
//! functions take the time, and `machine` describes the computer; the records are
//! those of `samples`. Figures beyond what the kernel accounts come from instruments: `counters`
//! (hardware), `valgrind` (simulation) and `user_figure` (what the program prints). Nothing here
//! compares anything.

pub mod child;
pub mod counters;
pub mod descendants;
pub mod harness;
pub mod hottest;
pub mod instrument;
pub mod lane;
pub mod machine;
pub mod names;
mod pipe;
pub mod places;
pub mod program;
pub mod randomization;
pub mod rsf;
pub mod shared;
pub mod stack_start;
pub mod stop;
pub mod turns;
pub mod user_figure;
pub mod valgrind;
