//! Which subpaths are the same: those with the same blocks in the same order; and of those that
//! are a loop, behind which their first block comes again, all rotations.
//!
//! (The thesis' number, length and exclusive or of the blocks, takes \[a b b c\] for \[a d d c\],
//! and sorted blocks forget their order.)

/// A subpath in its canonical form.
#[derive(Clone, Copy)]
pub(crate) struct Canonical<'a> {
    blocks: &'a [u32],
    /// Where the canonical form begins.
    start: usize,
    pub is_loop: bool,
}

impl<'a> Canonical<'a> {
    pub fn of(blocks: &'a [u32], is_loop: bool) -> Self {
        Self { blocks, start: if is_loop { least_rotation(blocks) } else { 0 }, is_loop }
    }

    pub fn length(&self) -> usize {
        self.blocks.len()
    }

    pub fn blocks(&self) -> impl Iterator<Item = u32> {
        self.blocks[self.start..].iter().chain(&self.blocks[..self.start]).copied()
    }

    pub fn hash(&self) -> u64 {
        let mut hash = self.blocks.len() as u64 * 2 + u64::from(self.is_loop);
        for block in self.blocks() {
            hash = (hash ^ u64::from(block)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        }
        hash
    }
}

/// Where the rotation begins that is the first in order, in linear time (Shiloach, "Fast
/// Canonization of Circular Strings", 1981).
fn least_rotation(blocks: &[u32]) -> usize {
    let n = blocks.len();
    let at = |index: usize| blocks[if index < n { index } else { index - n }];
    let (mut best, mut other, mut same) = (0, 1, 0);
    while best < n && other < n && same < n {
        let (a, b) = (at(best + same), at(other + same));
        if a == b {
            same += 1;
            continue;
        }
        if a > b {
            best += same + 1;
        } else {
            other += same + 1;
        }
        if best == other {
            other += 1;
        }
        same = 0;
    }
    best.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_rotation_is_that_found_by_trying_all() {
        let mut state = 3;
        for length in [1, 2, 4, 8, 16] {
            for _ in 0..200 {
                let blocks: Vec<u32> =
                    (0..length).map(|_| (crate::random::next(&mut state) % 3) as u32).collect();
                let rotated = |start: usize| [&blocks[start..], &blocks[..start]].concat();
                let least = (0..length).map(rotated).min().unwrap();
                assert_eq!(rotated(least_rotation(&blocks)), least);
            }
        }
    }

    #[test]
    fn order_and_blocks_that_occur_twice_tell_subpaths_apart() {
        let hash = |blocks: &[u32], is_loop| Canonical::of(blocks, is_loop).hash();
        assert_ne!(hash(&[1, 2, 2, 3], false), hash(&[1, 4, 4, 3], false));
        assert_ne!(hash(&[1, 2, 3, 4], false), hash(&[2, 1, 3, 4], false));
        assert_ne!(hash(&[1, 2, 3, 4], false), hash(&[2, 3, 4, 1], false));
        assert_eq!(hash(&[1, 2, 3, 4], true), hash(&[3, 4, 1, 2], true));
        assert_ne!(hash(&[1, 2, 3, 4], true), hash(&[3, 2, 1, 4], true));
        assert_ne!(hash(&[1, 2], true), hash(&[1, 2, 1, 2], true));
    }
}
