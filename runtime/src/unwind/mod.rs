//! Stacks with moved frames, for those who look at them from inside the program: unwinders, and
//! programs that take their own backtraces.

pub mod answer;
pub mod backtrace;
mod fde;
pub mod find_fde;
pub mod find_object;
mod header;
pub mod injected;
pub mod names;
mod of_unwinder;

pub use find_fde::{is_loaded, obstacle};
pub use find_object::side_memory;

/// Finds the unwinder's functions, if it is loaded: at the start, and with libraries, which may
/// have brought it. Whoever throws may not be able to wait for the loader.
pub fn find_unwinder() {
    if find_fde::find() {
        backtrace::find();
    }
}
