//! The setups of an experiment on bias: what differs around programs that stay the same.
//!
//! A block has one setup, drawn or each in its turn in a random order, for all of its programs; or,
//! to find a cause, two sizes of the environment under several conditions. Everything follows from
//! seed and block. After Mytkowicz, Diwan, Hauswirth and Sweeney, "Producing wrong data without
//! doing anything obviously wrong!" (ASPLOS 2009), sections 4, 7.1 and 7.2.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::draw::{below, run_index, shuffled, splitmix64_at};

/// Environments grow by less than this: then the stack's position within pages repeats.
pub const PAGE_BYTES: u32 = 4096;

/// Stacks begin at multiples of this many bytes (System V ABI, AMD64 supplement, 3.4.1).
pub const STACK_ALIGNMENT: u32 = 16;

/// Variable that makes up for the length of the one that pads the environment.
pub const FILLING_VARIABLE: &str = "SZC_FILLING";

/// Most sizes of the environment.
const MAX_SETUPS: u32 = 256;

/// Most blocks of a setup.
pub const MAX_REPEATS: u32 = 1000;

/// Which setups there are, and which block has which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setups {
    /// Sizes of the environment; 0 where it does not differ.
    pub sizes: u32,
    /// By how much each is larger than the one before.
    pub step_bytes: u32,
    /// Whether each block draws its setup; otherwise each setup has as many blocks.
    pub drawn: bool,
    /// Blocks of a setup that is not drawn.
    pub repeats: u32,
    /// Orders in which objects were linked; 0 where it does not differ.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub orders: u32,
    /// Layouts of code, of frames and of the heap that szc made; 0 where they do not differ.
    #[serde(default, skip_serializing_if = "are_zero")]
    pub layouts: [u32; 3],
    /// What is done behind the blocks of setups to find a cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contrast: Option<Contrast>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn are_zero(numbers: &[u32; 3]) -> bool {
    numbers.iter().all(|number| *number == 0)
}

/// Two sizes of the environment that are held against each other under several conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contrast {
    /// By how much the environment is larger than its least size: where the programs seemed best,
    /// and where worst. Equal until they are chosen.
    pub sizes_bytes: [u32; 2],
    /// Whether the start of the stack is held, and moved by itself.
    pub stack: bool,
    /// Whether the start of the heap is held.
    pub heap: bool,
}

/// What is held while the size of the environment differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// Nothing.
    Plain,
    /// The start of the stack.
    Stack,
    /// The size of all variables together, and so the place of what follows copies of them on the
    /// heap; the stack moves all the same.
    Heap,
    /// All variables; the stack moves all the same.
    Contents,
}

/// The setup of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// By how much the environment is larger than its least size.
    pub size_bytes: u32,
    /// What is held.
    pub condition: Condition,
    /// The order in which objects were linked, the build's own being the first.
    pub order: u32,
    /// Which layout of code, of frames and of the heap.
    pub layouts: [u32; 3],
}

impl Setup {
    /// As a program was built, in the least environment.
    pub const FIRST: Self =
        Self { size_bytes: 0, condition: Condition::Plain, order: 0, layouts: [0; 3] };

    /// Lengths of the variable that pads the environment and of the one that makes up for it.
    #[must_use]
    pub fn variables_bytes(self) -> [u32; 2] {
        let rest = PAGE_BYTES.saturating_sub(self.size_bytes);
        match self.condition {
            Condition::Plain | Condition::Stack => [self.size_bytes, 0],
            Condition::Heap => [self.size_bytes, rest],
            Condition::Contents => [0, 0],
        }
    }

    /// By how much the stack begins lower than its environment puts it. Where it is held it begins
    /// at the same address at all sizes; otherwise at the same position within a page as if nothing
    /// were held.
    #[must_use]
    pub fn lowered_bytes(self) -> u32 {
        match self.condition {
            Condition::Plain => 0,
            Condition::Stack => PAGE_BYTES.saturating_sub(self.size_bytes),
            Condition::Heap | Condition::Contents => self.size_bytes,
        }
    }
}

impl Contrast {
    /// The conditions, the plain one first.
    #[must_use]
    pub fn conditions(self) -> Vec<Condition> {
        let mut conditions = vec![Condition::Plain];
        if self.stack {
            conditions.extend([Condition::Stack, Condition::Contents]);
        }
        if self.heap {
            conditions.push(Condition::Heap);
        }
        conditions
    }

    /// The setups of a block: each size under each condition.
    #[must_use]
    pub fn setups(self) -> Vec<Setup> {
        let under = |condition| {
            self.sizes_bytes.map(|size_bytes| Setup { size_bytes, condition, ..Setup::FIRST })
        };
        self.conditions().into_iter().flat_map(under).collect()
    }
}

impl Setups {
    /// Whether an experiment can have these, as a file says.
    #[must_use]
    pub fn is_valid(self) -> bool {
        let chosen = self.contrast.map_or([0; 2], |contrast| contrast.sizes_bytes);
        let [sizes, orders] = [self.sizes, self.orders];
        let most_layouts = self.layouts.into_iter().max().unwrap_or(0);
        (1..=MAX_SETUPS).contains(&sizes.max(orders).max(most_layouts))
            && !self.layouts.contains(&1)
            && (sizes > 0 || self.contrast.is_none())
            && orders != 1
            && (1..=MAX_REPEATS).contains(&self.repeats)
            && self.step_bytes <= PAGE_BYTES
            && chosen.iter().all(|size| *size < PAGE_BYTES && size.is_multiple_of(STACK_ALIGNMENT))
    }

    fn plain(self, size: u32, order: u32, layouts: [u32; 3]) -> Setup {
        let size_bytes = size * self.step_bytes;
        Setup { size_bytes, condition: Condition::Plain, order, layouts }
    }

    /// Whether anything differs that szc lays out.
    #[must_use]
    pub fn has_layouts(self) -> bool {
        !are_zero(&self.layouts)
    }

    /// Setups that are gone through if none is drawn: each size with all else as it was built, and
    /// then each order and each layout of a part.
    #[must_use]
    pub fn count(self) -> u32 {
        self.sizes + self.orders + self.layouts.iter().sum::<u32>()
    }

    /// Blocks of setups that are not drawn; behind them are those of the contrast.
    #[must_use]
    pub fn blocks(self) -> u32 {
        self.count().saturating_mul(self.repeats)
    }

    /// The contrast, once its sizes are chosen.
    #[must_use]
    pub fn chosen_contrast(self) -> Option<Contrast> {
        self.contrast.filter(|contrast| {
            let [low, high] = contrast.sizes_bytes;
            !self.drawn && low != high
        })
    }

    /// The contrast, in its blocks.
    #[must_use]
    pub fn contrast_at(self, block: u32) -> Option<Contrast> {
        self.chosen_contrast().filter(|_| block >= self.blocks())
    }

    /// The setup of a block that is none of the contrast's.
    #[must_use]
    pub fn at(self, seed: u64, block: u32) -> Setup {
        if self.drawn {
            let drawn = |place, count: u32| {
                let random = splitmix64_at(seed, run_index(5, block, place));
                u32::try_from(below(random, u64::from(count.max(1)))).unwrap_or(0)
            };
            let [code, stack, heap] = self.layouts;
            let layouts = [drawn(2, code), drawn(3, stack), drawn(4, heap)];
            return self.plain(drawn(0, self.sizes), drawn(1, self.orders), layouts);
        }
        let count = self.count().max(1);
        let places = shuffled(seed, 5, (block / count, 0), count as usize);
        let mut place = u32::try_from(places[(block % count) as usize]).unwrap_or(0);
        let mut levels = [0; 5];
        let [code, stack, heap] = self.layouts;
        for (level, of) in levels.iter_mut().zip([self.sizes, self.orders, code, stack, heap]) {
            if place < of {
                *level = place;
                break;
            }
            place -= of;
        }
        let [size, order, code, stack, heap] = levels;
        self.plain(size, order, [code, stack, heap])
    }

    /// The setups of a block of the contrast in random order.
    #[must_use]
    pub fn shuffled_contrast(self, seed: u64, block: u32, contrast: Contrast) -> Vec<Setup> {
        let setups = contrast.setups();
        shuffled(seed, 6, (block, 0), setups.len()).into_iter().map(|place| setups[place]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SWEEP: Setups = Setups {
        sizes: 256,
        step_bytes: 16,
        drawn: false,
        repeats: 2,
        orders: 0,
        layouts: [0; 3],
        contrast: None,
    };

    #[test]
    fn every_setup_comes_once_in_each_repetition_in_another_order() {
        let sizes = |blocks: std::ops::Range<u32>| -> Vec<u32> {
            blocks.map(|block| SWEEP.at(7, block).size_bytes).collect()
        };
        let (first, second) = (sizes(0..256), sizes(256..512));
        assert_eq!(SWEEP.blocks(), 512);
        assert_ne!(first, second);
        for sizes in [first, second] {
            assert_eq!(sizes.into_iter().collect::<BTreeSet<_>>().len(), 256);
        }
    }

    #[test]
    fn orders_of_objects_come_beside_sizes_and_are_crossed_with_them_when_drawn() {
        let both = Setups { sizes: 16, orders: 5, ..SWEEP };
        assert_eq!(both.blocks(), 42);
        let seen: BTreeSet<_> = (0..21).map(|block| both.at(7, block)).map(key).collect();
        assert_eq!(seen.len(), 20, "the first order at the least size stands for both");
        assert!(seen.iter().all(|(size, order)| *size == 0 || *order == 0));
        let alone = Setups { sizes: 0, orders: 3, ..SWEEP };
        let seen: BTreeSet<_> = (0..3).map(|block| key(alone.at(7, block))).collect();
        assert_eq!(seen, BTreeSet::from([(0, 0), (0, 1), (0, 2)]));
        let drawn = Setups { drawn: true, ..both };
        let seen: BTreeSet<_> = (0..2000).map(|block| key(drawn.at(7, block))).collect();
        assert_eq!(seen.len(), 80);
    }

    #[test]
    fn layouts_of_parts_are_gone_through_one_part_at_a_time_and_crossed_when_drawn() {
        let parts = Setups { sizes: 4, layouts: [3, 0, 2], ..SWEEP };
        assert_eq!(parts.count(), 9);
        let seen: BTreeSet<_> = (0..9).map(|block| all(parts.at(7, block))).collect();
        let expected = [
            (0, [0; 3]),
            (16, [0; 3]),
            (32, [0; 3]),
            (48, [0; 3]),
            (0, [1, 0, 0]),
            (0, [2, 0, 0]),
            (0, [0, 0, 1]),
        ];
        assert_eq!(seen, BTreeSet::from(expected));
        let drawn = Setups { drawn: true, ..parts };
        let seen: BTreeSet<_> = (0..2000).map(|block| all(drawn.at(7, block))).collect();
        assert_eq!(seen.len(), 4 * 3 * 2);
    }

    fn all(setup: Setup) -> (u32, [u32; 3]) {
        (setup.size_bytes, setup.layouts)
    }

    fn key(setup: Setup) -> (u32, u32) {
        (setup.size_bytes, setup.order)
    }

    #[test]
    fn drawn_setups_are_of_all_sizes_and_repeat() {
        let drawn = Setups { drawn: true, ..SWEEP };
        let seen: Vec<u32> = (0..2000).map(|block| drawn.at(3, block).size_bytes).collect();
        assert!(seen.iter().all(|size| *size < 4096 && size.is_multiple_of(16)));
        assert!(seen.into_iter().collect::<BTreeSet<_>>().len() > 250);
    }

    #[test]
    fn what_no_experiment_has_is_not_valid() {
        assert!(SWEEP.is_valid());
        let at = |size| Contrast { sizes_bytes: [0, size], stack: true, heap: true };
        for wrong in [
            Setups { sizes: 0, ..SWEEP },
            Setups { sizes: 257, ..SWEEP },
            Setups { orders: 257, ..SWEEP },
            Setups { orders: 1, ..SWEEP },
            Setups { layouts: [0, 1, 0], ..SWEEP },
            Setups { layouts: [257, 0, 0], ..SWEEP },
            Setups { sizes: 0, orders: 2, contrast: Some(at(16)), ..SWEEP },
            Setups { repeats: 0, ..SWEEP },
            Setups { step_bytes: u32::MAX, ..SWEEP },
            Setups { contrast: Some(at(4096)), ..SWEEP },
            Setups { contrast: Some(at(24)), ..SWEEP },
        ] {
            assert!(!wrong.is_valid(), "{wrong:?}");
        }
    }

    #[test]
    fn conditions_hold_what_they_say() {
        for size_bytes in (0..PAGE_BYTES).step_by(16) {
            // Where the stack begins, and how long all variables are.
            let seen = |condition| {
                let setup = Setup { size_bytes, condition, ..Setup::FIRST };
                let length: u32 = setup.variables_bytes().iter().sum();
                (length + setup.lowered_bytes(), length)
            };
            assert_eq!(seen(Condition::Plain), (size_bytes, size_bytes));
            assert_eq!(seen(Condition::Stack), (PAGE_BYTES, size_bytes));
            assert_eq!(seen(Condition::Heap), (PAGE_BYTES + size_bytes, PAGE_BYTES));
            assert_eq!(seen(Condition::Contents), (size_bytes, 0));
        }
    }

    #[test]
    fn a_contrast_has_each_size_under_each_condition() {
        let contrast = Contrast { sizes_bytes: [16, 32], stack: true, heap: true };
        let setups = SWEEP.shuffled_contrast(1, 600, contrast);
        assert_eq!(setups.len(), 8);
        for setup in contrast.setups() {
            assert_eq!(setups.iter().filter(|one| **one == setup).count(), 1);
        }
    }
}
