//! Refusal of pointers that are not the program's to free: a message and SIGABRT, not
//! corruption.
//!
//! Nothing here is on a fast path: the state of a block ([`super::chunk`]) has already told.

use super::chunk::{self, STATE_ALIGNED_FREED};
use super::config::HeapBase;
use super::size_class::GRAIN_BYTES;
use super::{base, map};
use core::sync::atomic::{AtomicU8, Ordering};
use szc_abi::text::Buffer;
use szc_sys::os;

/// The base of the heap, for messages and checks; set once at start.
static BASE: AtomicU8 = AtomicU8::new(0);
/// Where blocks begin in a grain.
static PHASE: AtomicU8 = AtomicU8::new(0);

/// Says which base the heap has.
pub fn set_base(kind: HeapBase) {
    BASE.store(kind as u8, Ordering::Relaxed);
    PHASE.store(base::block_phase(kind) as u8, Ordering::Relaxed);
}

/// Where blocks begin in a grain, in bytes.
#[inline]
pub fn block_phase() -> usize {
    usize::from(PHASE.load(Ordering::Relaxed))
}

/// Ends the program: it frees, or asks about, a pointer that it does not hold.
pub fn refuse(pointer: *mut u8) -> ! {
    let kind = HeapBase::ALL
        .into_iter()
        .find(|&kind| kind as u8 == BASE.load(Ordering::Relaxed))
        .unwrap_or(HeapBase::Segregated);
    // SAFETY: the address lies in a chunk of the heap, whose base this is.
    let block = map::is_chunk(pointer.addr())
        && unsafe {
            let aligned = pointer.addr().is_multiple_of(GRAIN_BYTES)
                && chunk::state(pointer).load(Ordering::Relaxed) == STATE_ALIGNED_FREED;
            aligned || base::is_block_start(kind, pointer)
        };
    let what = if block { "double free of 0x" } else { NOT_OURS };
    stop(what, pointer)
}

const NOT_OURS: &str = "free of a pointer that malloc did not return: 0x";

/// Ends the program: the pointer is in no chunk and no mapping of the heap's.
pub fn refuse_foreign(pointer: *mut u8) -> ! {
    stop(NOT_OURS, pointer)
}

/// Ends the program: the pointer was that of a large block that was freed.
pub fn refuse_freed(pointer: *mut u8) -> ! {
    stop("double free of 0x", pointer)
}

fn stop(what: &str, pointer: *mut u8) -> ! {
    let mut text = Buffer::<128>::new();
    text.text("szc: ").text(what).hexadecimal(pointer.addr() as u64).text("\n");
    os::write_error(text.bytes());
    // As abort(3): a handler of the program's may run, and may not prevent the end.
    let _ = os::signal_mask(os::UNBLOCK, Some(1 << (os::SIGABRT - 1)));
    os::raise(os::SIGABRT);
    os::abort()
}
