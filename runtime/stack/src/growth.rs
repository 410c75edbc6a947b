//! How much larger than without szc frames without pads may be: of the program, and of the
//! libraries that have come since.

use core::sync::atomic::{AtomicU8, Ordering};
use szc_abi::stack::Growth;

/// The largest [`Growth`] of a frame, of the program and of libraries so far. It only grows.
static GROWTH: AtomicU8 = AtomicU8::new(0);

/// How much larger than without szc a frame may be that gets no pad.
pub fn growth() -> Growth {
    match GROWTH.load(Ordering::Relaxed) {
        0 => Growth::Half,
        1 => Growth::Twice,
        _ => Growth::Tenfold,
    }
}

/// Frames may grow by so much. Whether that is more than before.
pub fn raise_to(growth: Growth) -> bool {
    GROWTH.fetch_max(growth as u8, Ordering::Relaxed) < growth as u8
}
