//! What differs between processors, of the crates below.

pub use szc_layout::arch::entry;
pub use szc_sys::arch::*;
