//! Frames that may have another size in copies: which constants of a function grow with its frame,
//! and which FDEs describe it.
//!
//! The compiler pass says of which functions no address above the frame is computed
//! ([`FunctionRecord::FLAG_RESIZABLE`](szc_abi::stack::FunctionRecord::FLAG_RESIZABLE)). Whether
//! the stack pointer moves by constants alone, and in which instructions, is decoded here (`flow`);
//! the FDE must say the same (`fde`), and no other code may run with the frame (`self_contained`).
//! Anything else, and the frame keeps its size.
//!
//! So that the constants take 4 bytes, the pass adds slack to frames: bytes that nothing uses. It
//! has served its purpose when the program is compiled, and is taken out of the linked image
//! (`fit`): frames there are as large as without szc.

mod fde;
mod fit;
mod flow;
mod growth;
mod marker;
mod resizable;
mod self_contained;

pub use fit::NewBytes;
pub(crate) use fit::{Change, Fitted, fit};
pub use resizable::{FdeTemplate, PreparedFrames, Resizable};
