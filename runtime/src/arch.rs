//! What differs between processors, of the crates below and of this one.

pub use szc_layout::arch::{TRAP, check, entry_jump, rules};
pub use szc_sys::arch::*;

/// How a copy is entered.
pub mod entry {
    pub use crate::exports::resolver::{resolver, stub_pattern};
    pub use szc_layout::arch::entry::*;
    pub use szc_sys::arch::has_shadow_stack;
}
