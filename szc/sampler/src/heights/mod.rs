//! Call paths from two registers: the instruction pointer says which function a thread is in, the
//! stack pointer how high its stack is, and of all paths that are known to lead into the function
//! mostly one has frames of that height.
//!
//! A *path map* is made once from stacks that unwind tables were followed through ([`training`]).
//! It has the frame of each call without its pad. The pads of a process are those of its layouts
//! ([`crate::copies`]), so one map serves all of them: each layout gives the same paths other
//! heights.
//!
//! Source: Mytkowicz, Coughlin and Diwan, "Inferred call path profiling" (2009).
#![forbid(unsafe_code)]

mod base;
pub mod index;
pub mod map;
pub mod process;
pub mod search;
pub mod training;

pub use self::base::{base, pad_state, padded};

/// A place in the code of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// The file.
    pub file: std::sync::Arc<str>,
    /// The address, as linked.
    pub address: u64,
    /// The first one of the function.
    pub function: u64,
}

/// What two registers say of the callers of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// How many paths have this height: one is precise, several are ambiguous.
    pub paths: u32,
    /// Behind how many of the callers lies what the paths do not have in common.
    pub gap: Option<u32>,
    /// Why none was found.
    pub missing: Option<Missing>,
    /// Whether the path by unwind tables is among those found, if that is known.
    pub is_right: Option<bool>,
}

impl Inferred {
    /// None was found.
    #[must_use]
    pub fn none(missing: Missing) -> Self {
        Self { gap: Some(0), missing: Some(missing), ..Self::default() }
    }
}

/// Why no path was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// No known path into the function has this height.
    Path,
    /// The function was not seen before.
    Function,
    /// How far the stack pointer lies below the frame is not known at this instruction.
    Depth,
    /// It is not known where the thread's stack begins.
    Base,
    /// Too many layouts are in use.
    Layouts,
}
