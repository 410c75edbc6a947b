//! The life of a process: forks, the task that begins new epochs, and system call filters.
//!
//! Each file uses those above it alone:
//!
//! ```text
//! children      forked children that share copies with this process
//! suspension    the task goes for calls during which the process must have no other
//! maintenance   the task; round: one epoch of each image; pace: when it begins
//! fork          what a child becomes; announced: children that libc's `fork` does not make
//! filters       code freezes before a filter
//! ```

pub mod announced;
mod children;
pub mod filters;
pub mod fork;
pub mod maintenance;
mod pace;
mod round;
mod suspension;
