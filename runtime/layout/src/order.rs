//! The order of functions in a layout: where every movable function lies in its arena place.
//!
//! The functions follow one another in a random order with small random gaps, so that placement is
//! uniform yet about as dense as ordinary code. Everything is drawn before anything is copied: the
//! layout depends on the seed, the epoch and the table, and not on which functions run when.

use crate::rng::Stream;
use crate::slot::{FunctionSlot, Held};
use szc_abi::{PATCHABLE_ENTRY_BYTES, PLACEMENT_GRAIN_BYTES};

/// The gap before the first function spreads the whole layout over this many bytes, so that every
/// function's address is uniform in the bits that index caches, however few functions there are.
const FIRST_GAP_BYTES: u32 = 4096;

/// Up to so many functions gaps may have any size, so that two functions of a small program are
/// placed independently of one another. With more of them two are hardly ever neighbours: the order
/// alone makes them independent, and gaps would only spread over more pages what runs.
const FEW_FUNCTIONS: u64 = 64;

/// Bytes of a cache line.
const LINE_BYTES: u32 = 64;

/// Bounds of one gap, in grains.
const MIN_GAP_GRAINS: u32 = LINE_BYTES / PLACEMENT_GRAIN_BYTES;
const MAX_GAP_GRAINS: u32 = FIRST_GAP_BYTES / PLACEMENT_GRAIN_BYTES;

/// Number of values that the gap before each function can take, in grains.
#[must_use]
pub fn gap_choices(functions: u32) -> u32 {
    let functions = u64::from(functions).max(FEW_FUNCTIONS);
    let choices = u64::from(MAX_GAP_GRAINS) * FEW_FUNCTIONS.pow(2) / functions.pow(2);
    (choices as u32).max(MIN_GAP_GRAINS)
}

/// Bytes that the largest layout of these functions takes; nothing if that exceeds 2 GiB.
#[must_use]
pub fn max_bytes(slots: impl Iterator<Item = FunctionSlot>) -> Option<u32> {
    let mut functions = 0u32;
    let mut total = FIRST_GAP_BYTES;
    for slot in slots {
        functions += 1;
        // A body begins on a grain.
        total = total
            .checked_add(PATCHABLE_ENTRY_BYTES + PLACEMENT_GRAIN_BYTES)?
            .checked_add(slot.bytes)?;
    }
    let gaps = functions.checked_mul(gap_choices(functions))?.checked_mul(PLACEMENT_GRAIN_BYTES)?;
    total.checked_add(gaps).filter(|&bytes| bytes < 1 << 31)
}

/// Draws a layout.
///
/// `order` receives the functions by position, `offsets` the offset of each function's origin in
/// the place; its body begins on the grain. `held` is a function with an offset that its body has
/// in a line or page; where all others lie does not depend on that offset. Returns the bytes used.
pub fn draw(
    stream: &mut Stream,
    slot: impl Fn(u32) -> FunctionSlot,
    held: Option<(u32, Held)>,
    order: &mut [u32],
    offsets: &mut [u32],
) -> u32 {
    let count = order.len().min(offsets.len()) as u32;
    // Inside-out Fisher-Yates shuffle (Durstenfeld 1964; Knuth volume 2, algorithm P).
    for index in 0..count {
        let other = stream.below(index + 1);
        order[index as usize] = order[other as usize];
        order[other as usize] = index;
    }
    let choices = gap_choices(count);
    let mut end = PLACEMENT_GRAIN_BYTES * stream.below(FIRST_GAP_BYTES / PLACEMENT_GRAIN_BYTES);
    for &function in order.iter() {
        let gap = PLACEMENT_GRAIN_BYTES * stream.below(choices);
        (offsets[function as usize], end) = match held {
            Some((index, at)) if index == function => place_at(slot(function), end + gap, at),
            _ => place(slot(function), end + gap),
        };
    }
    end
}

/// As [`place`], with the body at an offset, and the same end at each.
fn place_at(slot: FunctionSlot, end: u32, held: Held) -> (u32, u32) {
    let (start, _) = place(slot, end);
    let first = (start + slot.body).next_multiple_of(held.modulus) - slot.body;
    (first + held.offset, first + held.modulus - PLACEMENT_GRAIN_BYTES + slot.bytes)
}

/// The first place for a slot behind `end`: where its origin is, and where all of it ends.
fn place(slot: FunctionSlot, end: u32) -> (u32, u32) {
    let body = (end + PATCHABLE_ENTRY_BYTES + slot.body).next_multiple_of(PLACEMENT_GRAIN_BYTES);
    let start = body - slot.body;
    (start, start + slot.bytes)
}

/// Lays the functions out as the linker did, one behind the other, with bodies at the same grains
/// of cache lines as the originals: the layout of programs whose code is not to be randomized,
/// although their frames are. `original` has the address of each function's original. Otherwise as
/// [`draw`].
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

    fn drawn(seed: u64, epoch: u64) -> ([u32; 5], [u32; 5], u32) {
        let (mut order, mut offsets) = ([0; 5], [0; 5]);
        let end = draw(&mut Stream::new(seed, epoch), slot, None, &mut order, &mut offsets);
        (order, offsets, end)
    }

    #[test]
    fn functions_do_not_overlap_and_stay_in_bounds() {
        let max = max_bytes((0..5).map(slot)).unwrap();
        for epoch in 0..500 {
            let (order, offsets, end) = drawn(3, epoch);
            assert!(end <= max);
            let mut previous_end = 0;
            for function in order {
                let start = offsets[function as usize];
                assert_eq!((start + slot(function).body) % PLACEMENT_GRAIN_BYTES, 0);
                assert!(start - PATCHABLE_ENTRY_BYTES >= previous_end);
                previous_end = start + slot(function).bytes;
            }
            assert_eq!(previous_end, end);
        }
    }

    #[test]
    fn a_function_that_is_held_moves_alone() {
        let room = max_bytes((0..5).map(slot)).unwrap();
        for (epoch, modulus) in (0..200).flat_map(|epoch| [(epoch, 64), (epoch, 4096)]) {
            let at = |offset| {
                let (mut order, mut offsets) = ([0; 5], [0; 5]);
                let held = Held { offset, modulus };
                let stream = &mut Stream::new(3, epoch);
                let end = draw(stream, slot, Some((1, held)), &mut order, &mut offsets);
                assert!(end <= room + held.room_bytes());
                assert_eq!((offsets[1] + slot(1).body) % modulus, offset);
                for pair in order.windows(2) {
                    let [one, next] = [pair[0] as usize, pair[1] as usize];
                    let free = offsets[next] - PATCHABLE_ENTRY_BYTES;
                    assert!(offsets[one] + slot(pair[0]).bytes <= free);
                }
                (order, [0, 2, 3, 4].map(|other| offsets[other]), end)
            };
            assert_eq!(at(0), at(16));
            assert_eq!(at(0), at(modulus - 16));
        }
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
    fn a_layout_depends_on_seed_and_epoch_alone() {
        assert_eq!(drawn(1, 7), drawn(1, 7));
        assert_ne!(drawn(1, 7), drawn(1, 8));
        assert_ne!(drawn(1, 7), drawn(2, 7));
    }

    #[test]
    fn every_byte_of_a_slot_leads_back_to_its_function() {
        let (order, offsets, end) = drawn(9, 9);
        for function in 0..5 {
            let (start, slot_of) = (offsets[function as usize], slot(function));
            for offset in [start - PATCHABLE_ENTRY_BYTES, start, start + slot_of.bytes - 1] {
                assert_eq!(function_at(offset, slot, &order, &offsets), Some(function));
            }
        }
        assert_eq!(function_at(end, slot, &order, &offsets), None);
        assert_eq!(
            function_at(0, slot, &order, &offsets).filter(|_| offsets.iter().all(|&o| o > 16)),
            None
        );
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::HashMap::new();
        let trials = 24_000;
        for epoch in 0..trials {
            let (mut order, mut offsets) = ([0; 4], [0; 4]);
            draw(&mut Stream::new(5, epoch), |_| slot(1), None, &mut order, &mut offsets);
            *counts.entry(order).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let expected = trials as f64 / 24.0;
        let chi: f64 = counts.values().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // 23 degrees of freedom: 49.73 is the 0.999 quantile.
        assert!(chi < 49.73, "chi-square {chi}");
    }

    #[test]
    fn the_cache_index_bits_of_an_address_are_uniform_and_independent() {
        let mut counts = [0u32; 256];
        let mut pairs = [[0u32; 16]; 16];
        let trials = 25_600u32;
        for epoch in 0..u64::from(trials) {
            let (_, offsets, _) = drawn(11, epoch);
            counts[(offsets[1] >> 4 & 0xff) as usize] += 1;
            pairs[(offsets[0] >> 8 & 0xf) as usize][(offsets[3] >> 8 & 0xf) as usize] += 1;
        }
        let chi = |counts: &mut dyn Iterator<Item = u32>| -> f64 {
            let expected = f64::from(trials) / 256.0;
            counts.map(|n| (f64::from(n) - expected).powi(2) / expected).sum()
        };
        // 255 degrees of freedom: 330.5 is the 0.999 quantile.
        assert!(chi(&mut counts.into_iter()) < 330.5);
        assert!(chi(&mut pairs.into_iter().flatten()) < 330.5);
    }

    #[test]
    fn narrow_gaps_leave_two_of_many_functions_independent() {
        for functions in [64, 128, 256, 512] {
            let (mut order, mut offsets) = (vec![0; functions], vec![0; functions]);
            let mut pairs = [[0u32; 16]; 16];
            let trials = 25_600u32;
            for epoch in 0..u64::from(trials) {
                draw(&mut Stream::new(13, epoch), |_| slot(1), None, &mut order, &mut offsets);
                pairs[(offsets[0] >> 8 & 0xf) as usize][(offsets[3] >> 8 & 0xf) as usize] += 1;
            }
            let expected = f64::from(trials) / 256.0;
            let square = |&n: &u32| (f64::from(n) - expected).powi(2) / expected;
            let chi: f64 = pairs.iter().flatten().map(square).sum();
            // 255 degrees of freedom: 330.5 is the 0.999 quantile.
            assert!(chi < 330.5, "{functions} functions: chi-square {chi}");
        }
    }
}
