//! Functions by position: the linker's order, for layouts that are not drawn
//! ([`crate::placement`]), and the function at an offset, in any layout.

use crate::slot::FunctionSlot;
use szc_abi::{PATCHABLE_ENTRY_BYTES, PLACEMENT_GRAIN_BYTES};

/// Bytes of a cache line.
const LINE_BYTES: u32 = 64;

/// Most grains that lie between two functions in the linker's order.
pub(crate) const MAX_GAP_GRAINS: u32 = LINE_BYTES / PLACEMENT_GRAIN_BYTES + 1;

/// The first place for a slot behind `end`: where its origin is, and where all of it ends.
fn place(slot: FunctionSlot, end: u32) -> (u32, u32) {
    let body = (end + PATCHABLE_ENTRY_BYTES + slot.body).next_multiple_of(PLACEMENT_GRAIN_BYTES);
    let start = body - slot.body;
    (start, start + slot.bytes)
}

/// Lays the functions out as the linker did, one behind the other, with bodies at the same grains
/// of cache lines as the originals: the layout of programs whose code is not to be randomized,
/// although their frames are. `original` has the address of each function's original. `order`
/// receives the functions by position, `offsets` the offset of each function's origin in the place.
/// Returns the bytes used.
pub fn in_order(
    slot: impl Fn(u32) -> FunctionSlot,
    original: impl Fn(u32) -> usize,
    order: &mut [u32],
    offsets: &mut [u32],
) -> u32 {
    let mut end = 0;
    for (index, (position, offset)) in order.iter_mut().zip(offsets).enumerate() {
        let index = index as u32;
        *position = index;
        let slot = slot(index);
        let (start, _) = place(slot, end);
        let grain = original(index) as u32 & !(PLACEMENT_GRAIN_BYTES - 1);
        let gap = grain.wrapping_sub(start + slot.body) % LINE_BYTES;
        (*offset, end) = (start + gap, start + gap + slot.bytes);
    }
    end
}

/// The function whose slot contains `offset`, which may lie in front of its body, in it or in its
/// tables.
#[must_use]
pub fn function_at(
    offset: u32,
    slot: impl Fn(u32) -> FunctionSlot,
    order: &[u32],
    offsets: &[u32],
) -> Option<u32> {
    let start = |function| offsets[function as usize] - PATCHABLE_ENTRY_BYTES;
    let behind = order.partition_point(|&function| start(function) <= offset);
    let function = *order.get(behind.checked_sub(1)?)?;
    (offset < offsets[function as usize] + slot(function).bytes).then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::{Frames, Patching};
    use szc_abi::Movable;

    const SIZES: [u32; 5] = [6, 100, 16, 1000, 33];

    /// Every other function has a check in front of its body, and every third an undo trampoline.
    fn slot(function: u32) -> FunctionSlot {
        let frame = [0, Movable::FLAG_FRAME | Movable::FLAG_INNER_ENTRY][function as usize % 2];
        let point = [Movable::hot_patch_flags(1), 0, 0][function as usize % 3];
        let function =
            Movable { size: SIZES[function as usize], flags: frame | point, ..Movable::default() };
        FunctionSlot::of(&function, Frames::Padded, Patching::Bodies)
    }

    #[test]
    fn functions_in_order_lie_as_they_were_linked() {
        let (mut order, mut offsets) = ([9; 5], [0; 5]);
        let original = |function| 0x40_1010 + 0x50 * function as usize;
        let end = in_order(slot, original, &mut order, &mut offsets);
        assert_eq!(order, [0, 1, 2, 3, 4]);
        for function in 0..4 {
            let this = slot(function as u32);
            let body = offsets[function] + this.body;
            assert_eq!(body % LINE_BYTES, original(function as u32) as u32 % LINE_BYTES);
            let gap = offsets[function + 1] - (offsets[function] + this.bytes);
            assert!(
                (PATCHABLE_ENTRY_BYTES..PATCHABLE_ENTRY_BYTES + LINE_BYTES).contains(&gap),
                "{gap}"
            );
        }
        assert_eq!(end, offsets[4] + slot(4).bytes);
    }

    #[test]
    fn every_byte_of_a_slot_leads_back_to_its_function() {
        let (mut order, mut offsets) = ([0; 5], [0; 5]);
        let end = in_order(slot, |function| function as usize * 40, &mut order, &mut offsets);
        for function in 0..5 {
            let (start, slot_of) = (offsets[function as usize], slot(function));
            for offset in [start - PATCHABLE_ENTRY_BYTES, start, start + slot_of.bytes - 1] {
                assert_eq!(function_at(offset, slot, &order, &offsets), Some(function));
            }
        }
        assert_eq!(function_at(end, slot, &order, &offsets), None);
        assert_eq!(function_at(0, slot, &order, &offsets), None);
    }
}
