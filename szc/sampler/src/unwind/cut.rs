//! Why callers end too early.
#![forbid(unsafe_code)]

/// Why callers do not lead to where the thread began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// The next one lies beyond what there is of the stack.
    Stack,
    /// There are no unwind tables for the last one, or none that can be followed.
    Tables,
    /// The last one is in a copy of a process that was gone before it was looked at.
    Gone,
}
