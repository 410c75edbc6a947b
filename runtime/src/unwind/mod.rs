//! Stacks with moved frames, for those who look at them from inside the program: unwinders, and
//! programs that take their own backtraces.

mod header;
mod names;
mod objects;
mod relocated;
mod rules;
mod walk;

pub use header::{HEADER_BYTES, MAX_ENTRIES, OPENING};
pub use objects::{room, wants_relocated_rules};
pub use relocated::{COMMON_AT, START_AT};
pub use rules::{is_loaded, obstacle};

use crate::next::{next_symbol, symbol_in};
use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Finds the unwinder's functions, if it is loaded: at the start, and with libraries, which may
/// have brought it. Whoever throws may not be able to wait for the loader.
pub fn find_unwinder() {
    if rules::find() {
        walk::find();
    }
}

/// A function of the shared unwinder, found once. (The search makes the program depend on the
/// library, so that it stays.)
struct OfUnwinder {
    name: &'static CStr,
    /// 0 as long as it is not found: libc loads the unwinder itself when a thread of a C program is
    /// cancelled or ends early.
    address: AtomicUsize,
}

impl OfUnwinder {
    const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// Its address, if there is an unwinder.
    fn get(&self) -> Option<usize> {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return Some(known);
        }
        let mut address = next_symbol(self.name);
        if address == 0 {
            address = symbol_in(c"libgcc_s.so.1", self.name);
        }
        self.address.store(address, Ordering::Relaxed);
        (address != 0).then_some(address)
    }
}
