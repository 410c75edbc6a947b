//! A computation in front of a function, where its original was: the FDE there is of other
//! instructions. While it runs nothing of the function has, so the rules are those of its entry.
#![forbid(unsafe_code)]

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// Notes its addresses, while the program has one thread.
pub fn set(addresses: Range<usize>) {
    START.store(addresses.start, Ordering::Relaxed);
    END.store(addresses.end, Ordering::Relaxed);
}

/// The function's entry, if an address lies in the computation.
pub(super) fn entry(address: usize) -> Option<usize> {
    let start = START.load(Ordering::Relaxed);
    (start..END.load(Ordering::Relaxed)).contains(&address).then_some(start)
}
