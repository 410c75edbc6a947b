//! The life of a process: forks, the task that begins new epochs, and system call filters.
//!
//! Each file uses those above it alone:
//!
//! ```text
//! children      forked children that share copies with this process
//! requests      what programs ask of the task
//! suspension    the task goes for calls during which the process must have no other
//! late          when a child gets its task that will probably end soon
//! footprint     pages are let go that only who copies functions looks at
//! maintenance   the task; round: one epoch of each image; pace: when it begins
//! asked         a program asks for a layout, or for a time without new ones
//! fork          what a child becomes; announced: children that libc's `fork` does not make
//! filters       code freezes before a filter
//! ```

pub mod announced;
pub mod asked;
mod children;
pub mod filters;
mod footprint;
pub mod fork;
mod late;
pub mod maintenance;
mod pace;
mod requests;
mod round;
mod suspension;
