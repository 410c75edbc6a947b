//! Frames that may have another size in copies, as they are found.

use std::collections::HashMap;
use szc_abi::FixedFrame;

/// The frames that the compiler pass has prepared, by address of the function: as copies may have
/// them, or why they keep their size.
pub type PreparedFrames = HashMap<u64, Result<Resizable, FixedFrame>>;

/// A frame that may have another size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resizable {
    /// Offsets in the function of the constants of 4 bytes that grow with the frame, ascending.
    pub sites: Vec<u32>,
    /// The unwind rules that depend on the frame's size, if any do.
    pub rules: Option<CopiedRules>,
}

/// The unwind rules of a copy, before the size of its frame and its place are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedRules {
    /// Link address of what they have in common with others.
    pub common: u64,
    /// Where the pointer to what handlers know of the function lies, and the link address it means;
    /// none if its bytes are right everywhere.
    pub handlers: Option<(u32, u64)>,
    /// Where an offset lies that grows with the frame, ascending.
    pub offsets: Vec<u32>,
    /// The rules: a multiple of 4 bytes.
    pub bytes: Vec<u8>,
}
