//! What is known of the stack pointer: at one instruction, and in the function as a whole.

/// Bytes of a pointer.
pub(super) const WORD: i64 = 8;

/// What is known of the stack pointer in front of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Bytes that it lies below its value at the entry, at the size that the frame was compiled
    /// with.
    pub depth: i64,
    /// The part that can grow is taken.
    pub resized: bool,
    /// `depth` when the frame pointer was set to the stack pointer; none if it is an ordinary
    /// register.
    pub frame_pointer: Option<i64>,
}

/// What is known of the function as a whole.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// Depth above the part that can grow, and its bytes.
    pub part: Option<(i64, i64)>,
    /// `Point::frame_pointer` where that part is taken.
    pub frame_pointer: Option<i64>,
    /// Depth of the end, towards the entry, of what nothing uses.
    pub slack: Option<i64>,
    /// Largest depth that is reached by the frame pointer.
    pub deepest_by_frame_pointer: i64,
    /// Least depth that is reached by the stack pointer where there is a frame pointer.
    pub highest_argument: i64,
    pub uses_frame_pointer: bool,
    /// The frame pointer goes elsewhere, so that not all that is reached by it is known.
    pub frame_pointer_leaks: bool,
}
