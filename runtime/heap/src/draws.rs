//! Draws of size classes apart from each other, so that what one class has can be known, and held
//! while the others stay.
//!
//! Usually the classes of a thread share a generator, and what one draws depends on what others
//! did. Here each class, and the blocks that are mapped on their own, has a generator by itself,
//! and starts it at one of a few draws, which the seed of the heap chooses. The quick ways know one
//! generator only: they are shut, so that nothing is added to them ([`super::shuffle`]).
#![forbid(unsafe_code)]

use super::random::Random;
use super::size_class::{CLASSES, SMALL_MAX_BYTES, block_bytes, class_of};
use szc_layout::rng::{Purpose, Stream};

/// What has draws: the classes, and the blocks that are mapped on their own.
pub const UNITS: usize = CLASSES + 1;
/// Those.
pub const LARGE_UNIT: usize = CLASSES;

/// How draws are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// What all draws are made from.
    pub seed: u64,
    /// How many a class has.
    pub count: u32,
    /// Bytes of a block, and the draw of all blocks of its class.
    pub held: Option<(usize, u32)>,
}

impl Draws {
    /// The draw of a unit where the heap has this seed.
    pub fn of(&self, heap_seed: u64, unit: usize) -> u32 {
        match self.held {
            Some((bytes, draw)) if unit_of(bytes) == unit => draw,
            _ => Stream::of(Purpose::Blocks, heap_seed, unit as u64).below(self.count),
        }
    }

    /// The generator of a unit of a thread, by its number.
    pub fn random(&self, heap_seed: u64, unit: usize, thread: u64) -> Random {
        let draw = u64::from(self.of(heap_seed, unit));
        let number = (unit as u64 + 1) << 32 | draw;
        let seed = Stream::of(Purpose::Blocks, self.seed, number).bits();
        Random::new(Stream::of(Purpose::Heap, seed, thread).bits())
    }
}

/// The unit of blocks of this size.
pub fn unit_of(bytes: usize) -> usize {
    if bytes > SMALL_MAX_BYTES { LARGE_UNIT } else { class_of(bytes) }
}

/// The least and the greatest size of a unit's blocks; large ones may have any.
pub fn bytes_of(unit: usize) -> (usize, Option<usize>) {
    let least = if unit == 0 { 0 } else { block_bytes(unit - 1).min(SMALL_MAX_BYTES) + 1 };
    let most = (unit < CLASSES).then(|| block_bytes(unit).min(SMALL_MAX_BYTES));
    (least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_of_the_unit_whose_sizes_it_is_among() {
        for bytes in (0..=SMALL_MAX_BYTES).chain([SMALL_MAX_BYTES + 1, 1 << 30]) {
            let (least, most) = bytes_of(unit_of(bytes));
            assert!(least <= bytes && most.is_none_or(|most| bytes <= most), "{bytes}");
        }
        assert_eq!((bytes_of(1), bytes_of(LARGE_UNIT)), ((33, Some(64)), (16385, None)));
    }

    #[test]
    fn a_draw_depends_on_its_unit_and_the_seed_and_not_on_what_is_held() {
        let free = Draws { seed: 7, count: 16, held: None };
        let held = Draws { held: Some((40, 5)), ..free };
        let mut seen = [0u32; 16];
        for heap_seed in 0..320 {
            assert_eq!(held.of(heap_seed, 1), 5);
            assert_eq!(held.of(heap_seed, 2), free.of(heap_seed, 2));
            seen[free.of(heap_seed, 1) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (5..=40).contains(&count)), "{seen:?}");
        let numbers = |draws: &Draws, heap_seed, unit| draws.random(heap_seed, unit, 0).bits();
        // Whatever the heap's seed, one draw is one draw.
        assert_eq!(numbers(&held, 1, 1), numbers(&held, 2, 1));
        let other = Draws { held: Some((40, 6)), ..free };
        assert_ne!(numbers(&held, 1, 1), numbers(&other, 1, 1));
        assert_eq!(numbers(&held, 1, 2), numbers(&other, 1, 2));
    }
}
