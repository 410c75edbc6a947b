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
    /// The FDE of copies, if it depends on the frame's size.
    pub fde: Option<FdeTemplate>,
}

/// The FDE of a copy, before the size of its frame and its address are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FdeTemplate {
    /// Link address of its CIE.
    pub cie: u64,
    /// Offset of the pointer to the LSDA, and the link address it means; none if its bytes are
    /// right everywhere.
    pub lsda: Option<(u32, u64)>,
    /// Where in `bytes` an offset lies that grows with the frame, ascending.
    pub offsets: Vec<u32>,
    /// The FDE: a multiple of 4 bytes.
    pub bytes: Vec<u8>,
}
