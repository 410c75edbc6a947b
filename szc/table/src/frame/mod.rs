//! Frames that may have another size in copies: which constants of a function grow with its frame,
//! and how unwinders are told.
//!
//! The compiler pass says of which functions no address above the frame is computed
//! ([`FunctionRecord::FLAG_RESIZABLE`](szc_abi::stack::FunctionRecord::FLAG_RESIZABLE)). Whether
//! the stack pointer moves by constants alone, and in which instructions, is decoded here (`flow`);
//! the unwind rules must say the same (`rules`), and no other code may run with the frame
//! (`closed`). Anything else, and the frame keeps its size.
//!
//! So that the constants take 4 bytes, the pass adds room to frames that nothing uses. It has
//! served its purpose when the program is compiled, and is taken out of the linked image (`fit`):
//! frames there are as large as without szc.

mod closed;
mod fit;
mod flow;
mod growth;
mod marker;
mod resizable;
mod rules;

pub use fit::{Change, Fitted, NewBytes, fit};
pub use flow::StackFlow;
pub use resizable::{CopiedRules, PreparedFrames, Resizable};
