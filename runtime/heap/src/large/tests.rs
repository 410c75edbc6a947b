//! Blocks of a table of the tests' own: they are apart from all others, and hold what was written
//! to them wherever they move.

use super::{Freed, Large, Mapping};
use crate::random::Random;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Step {
    Allocate { bytes: usize },
    Resize { which: usize, bytes: usize },
    Free { which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || (17usize << 10)..(700 << 10);
    let step = prop_oneof![
        3 => bytes().prop_map(|bytes| Step::Allocate { bytes }),
        6 => (any::<usize>(), bytes()).prop_map(|(which, bytes)| Step::Resize { which, bytes }),
        2 => any::<usize>().prop_map(|which| Step::Free { which }),
    ];
    proptest::collection::vec(step, 1..120)
}

/// A live block, filled to the last byte that the program may use with bytes that follow from its
/// number.
struct Block {
    at: *mut u8,
    usable: usize,
    number: u8,
}

impl Block {
    fn filled(large: &Large, at: *mut u8, asked: usize, number: u8) -> Self {
        let usable = large.usable(at).expect("a block");
        assert!(usable >= asked, "{usable} of {asked} bytes");
        let block = Self { at, usable, number };
        for index in 0..usable {
            // SAFETY: the block has so many bytes.
            unsafe { at.add(index).write(block.byte(index)) };
        }
        block
    }

    fn byte(&self, index: usize) -> u8 {
        (index as u8) ^ (index >> 8) as u8 ^ self.number
    }

    /// Whether its first bytes are there.
    fn holds(&self, at: *mut u8, bytes: usize) -> bool {
        // SAFETY: the block has so many bytes.
        let found = unsafe { core::slice::from_raw_parts(at, bytes) };
        found.iter().enumerate().all(|(index, &byte)| byte == self.byte(index))
    }

    fn is_apart_from(&self, other: &Self) -> bool {
        self.at.addr() + self.usable <= other.at.addr()
            || other.at.addr() + other.usable <= self.at.addr()
    }
}

fn run(seed: u64, steps: &[Step]) -> Result<(), TestCaseError> {
    let (large, mut random) = (Large::new(), Random::new(seed));
    let mut blocks: Vec<Block> = Vec::new();
    let mut number = 0u8;
    for step in steps {
        number = number.wrapping_add(1);
        let index = |which: usize| which % blocks.len();
        let (at, bytes) = match *step {
            Step::Resize { .. } | Step::Free { .. } if blocks.is_empty() => continue,
            Step::Free { which } => {
                let block = blocks.swap_remove(index(which));
                prop_assert!(block.holds(block.at, block.usable));
                prop_assert_eq!(large.free(block.at), Freed::Now);
                continue;
            }
            Step::Resize { which, bytes } => {
                let block = blocks.swap_remove(index(which));
                let at = large.resize(block.at, bytes, &mut random).expect("memory");
                prop_assert!(block.holds(at, block.usable.min(bytes)));
                prop_assert!(at == block.at || large.usable(block.at).is_none());
                (at, bytes)
            }
            Step::Allocate { bytes } => {
                let (at, zeros) = large.allocate(bytes, 16, &mut random).expect("memory");
                if zeros {
                    // SAFETY: the block has so many bytes.
                    let found = unsafe { core::slice::from_raw_parts(at, bytes) };
                    prop_assert!(found.iter().all(|&byte| byte == 0));
                }
                (at, bytes)
            }
        };
        let block = Block::filled(&large, at, bytes, number);
        prop_assert!(at.addr() % 16 == 0 && blocks.iter().all(|other| block.is_apart_from(other)));
        blocks.push(block);
    }
    for block in blocks {
        prop_assert!(block.holds(block.at, block.usable));
        prop_assert_eq!(large.free(block.at), Freed::Now);
    }
    prop_assert!(large.with(|blocks| blocks.has_none_in_use()));
    large.drop_cached();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn blocks_hold_what_was_written_to_them_wherever_they_move(
        seed in any::<u64>(),
        steps in steps(),
    ) {
        run(seed, &steps)?;
    }
}

/// Lets a block grow from 20 KiB by half, over and over, to so many bytes or more.
fn grown(large: &Large, bytes: usize, random: &mut Random) -> Mapping {
    let mut size = 20 << 10;
    let (mut block, _) = large.allocate(size, 16, random).expect("memory");
    while size < bytes {
        size += size / 2;
        block = large.resize(block, size, random).expect("memory");
    }
    large.with(|blocks| blocks.at(blocks.find(block.addr()).expect("a block")))
}

fn freed(large: &Large, entry: Mapping) {
    let block = core::ptr::with_exposed_provenance_mut(entry.block);
    assert_eq!(large.free(block), Freed::Now);
}

#[test]
fn a_block_that_grows_step_by_step_finds_the_memory_of_one_that_was_freed() {
    let (large, mut random) = (Large::new(), Random::new(3));
    let mut places = BTreeSet::new();
    let first = grown(&large, 250 << 10, &mut random);
    // What the next one begins in.
    let (small, _) = large.allocate(20 << 10, 16, &mut random).expect("memory");
    freed(&large, first);
    assert_eq!(large.free(small), Freed::Now);
    for _ in 0..200 {
        let next = grown(&large, 250 << 10, &mut random);
        assert_eq!((next.length, next.bytes), (first.length, first.bytes));
        places.insert(next.start);
        freed(&large, next);
    }
    // Some have moved since, so that the bits of their pages' addresses are others.
    assert!((10..60).contains(&places.len()), "{}", places.len());
    large.drop_cached();
}

#[test]
fn a_block_stays_where_it_is_rather_than_be_copied_for_little() {
    let (large, mut random) = (Large::new(), Random::new(4));
    let mut allocate = |bytes| large.allocate(bytes, 16, &mut random).expect("memory").0;
    let (block, other) = (allocate(100_000), allocate(240_000));
    assert_eq!(large.free(other), Freed::Now);
    assert_eq!(large.resize(block, 110_000, &mut random), Some(block));
    let moved = large.resize(block, 200_000, &mut random).expect("memory");
    assert_ne!(moved, block);
    // It has the memory of the other, all of which it may need yet.
    assert_eq!(large.resize(moved, 201_000, &mut random), Some(moved));
    assert_eq!(large.free(moved), Freed::Now);
    large.drop_cached();
}
