//! A profile in the forms of other tools.

pub mod firefox;
pub mod folded;
pub mod pprof;
mod protobuf;
pub mod script;
