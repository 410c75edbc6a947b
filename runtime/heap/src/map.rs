//! Which megabytes of the address space are chunks of this heap.
//!
//! Asked before any byte near a freed pointer is read. Two levels, one byte a chunk: a root that
//! lies in the program's zeroed data (only used pages of it take memory), and leaves of 16 GiB
//! each.

use super::chunk::CHUNK_SHIFT;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use szc_sys::os;

/// Bits of a user-space address.
const ADDRESS_BITS: u32 = 47;
/// Bits that a leaf covers.
const LEAF_BITS: u32 = 14;
const LEAF_CHUNKS: usize = 1 << LEAF_BITS;
const ROOT_SHIFT: u32 = CHUNK_SHIFT + LEAF_BITS;
const ROOT_LEAVES: usize = 1 << (ADDRESS_BITS - ROOT_SHIFT);

struct Leaf([AtomicU8; LEAF_CHUNKS]);

static ROOT: [AtomicPtr<Leaf>; ROOT_LEAVES] = [const { AtomicPtr::new(os::null()) }; ROOT_LEAVES];

/// Whether an address lies in a chunk.
#[inline]
pub fn is_chunk(address: usize) -> bool {
    let Some(root) = ROOT.get(address >> ROOT_SHIFT) else { return false };
    // Acquire: pairs with the release in `leaf`; the leaf is zeroed memory. A chunk's own byte
    // needs no order: whoever owns a block of it was handed the block by the thread that set the
    // byte.
    let leaf = root.load(Ordering::Acquire);
    if leaf.is_null() {
        return false;
    }
    // SAFETY: leaves are never unmapped; the index is masked to the leaf's length.
    unsafe { (*leaf).0[(address >> CHUNK_SHIFT) & (LEAF_CHUNKS - 1)].load(Ordering::Relaxed) != 0 }
}

/// Enters a chunk, or takes it out. False if there is no memory for a leaf.
pub fn set_chunk(address: usize, present: bool) -> bool {
    let Some(root) = ROOT.get(address >> ROOT_SHIFT) else { return false };
    let Some(leaf) = leaf(root) else { return false };
    leaf.0[(address >> CHUNK_SHIFT) & (LEAF_CHUNKS - 1)]
        .store(u8::from(present), Ordering::Relaxed);
    true
}

fn leaf(root: &AtomicPtr<Leaf>) -> Option<&'static Leaf> {
    let mut leaf = root.load(Ordering::Acquire);
    if leaf.is_null() {
        let fresh = os::map_anonymous(size_of::<Leaf>()).ok()?.cast::<Leaf>();
        // Release: pairs with the acquire in `is_chunk`.
        match root.compare_exchange(os::null(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => leaf = fresh,
            Err(other) => {
                // SAFETY: nobody else has seen this mapping.
                unsafe { os::unmap(fresh.cast(), size_of::<Leaf>()) };
                leaf = other;
            }
        }
    }
    // SAFETY: a mapping of zeros, which is a leaf, and is never unmapped.
    Some(unsafe { &*leaf })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_entered_is_a_chunk() {
        let address = 0x1234_5670_0000;
        assert!(!is_chunk(address) && !is_chunk(0) && !is_chunk(usize::MAX));
        assert!(set_chunk(address, true));
        assert!(is_chunk(address) && is_chunk(address | 0xf_ffff));
        assert!(!is_chunk(address + (1 << CHUNK_SHIFT)) && !is_chunk(address - 1));
        assert!(set_chunk(address, false));
        assert!(!is_chunk(address));
    }
}
